"""However a study is addressed, its media are found and what is suggested to type can be typed."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from PIL import Image

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
