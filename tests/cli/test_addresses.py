"""However a study is addressed, its media are found and what is suggested to type can be typed."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from PIL import Image

from ordinate.cli import COMMANDS
from ordinate.cli.media import study_folder


@pytest.mark.parametrize("form", ["{file}", "sqlite:///{file}", "{link}"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_paths_of_media_start_at_the_study_itself(form, elsewhere, tmp_path, monkeypatch):
    home = tmp_path / "proj"
    home.mkdir()
    (home / "u.db").touch()
    os.symlink(home / "u.db", tmp_path / "link.db")
    monkeypatch.chdir(home if elsewhere else tmp_path)
    names = {"file": os.path.relpath(home / "u.db"), "link": os.path.relpath(tmp_path / "link.db")}
    assert study_folder(form.format(**names)) == home.resolve()


def test_suggested_commands_can_be_typed_where_paths_have_spaces(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my folder").mkdir()
    Image.new("RGB", (4, 4)).save("my folder/a.png")
    Path("my folder/items.csv").write_text("id,image\na,a.png\nb,a.png\n")
    made = run("create", "my folder/s 1.db", "--items", "my folder/items.csv")
    suggested = [
        shlex.split(line) for line in re.findall(r"^  ordinate (order .*?)(?:   .*)?$", made.out, re.MULTILINE)
    ]
    assert suggested == [["order", "my folder/s 1.db"]]
    assert run(*suggested[0]).code == 0
    asked = run("ask", "my folder/s 1.db")
    (told,) = re.findall(r"ordinate (tell .*) left\|right\|tie\|skip", asked.out.replace("\n", " "))
    assert run(*shlex.split(told), "left").code == 0


def test_import_errors_name_the_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("id\na\nb\n")
    run("create", "s.db", "--items", "items.csv")
    Path("answers.csv").write_text("left,right,winner\na,b,left\na,b,tiee\n")
    failed = run("import", "s.db", "answers.csv")
    assert failed.code == 2
    assert "answers.csv" in failed.err
    assert "row 2" in failed.err


LINK = "http://127.0.0.1:8000/join/study/secret-token"


def test_commands_that_take_no_link_name_those_that_do_and_do_not_repeat_it(run, study):
    taking = [row.name for row in COMMANDS if re.search(r"STUDY\.db\|LINK", run(row.name, "--help").out)]
    assert taking
    for line in ("status", "check", "report", "export", "annotate", "serve", "link", "exclude", "db upgrade"):
        words = {"export": ["--out", "x.csv"], "exclude": ["--item", "a"]}.get(line, [])
        refused = run(*line.split(), LINK, *words)
        assert refused.code == 2, line
        assert "this command needs the file of a study, not a link" in refused.err, line
        assert all(re.search(rf"\b{name}\b", refused.err) for name in taking)
        assert "secret-token" not in refused.err
    assert "secret-token" not in run("create", LINK, "--items", "items.csv").err
