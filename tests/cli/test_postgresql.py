"""The commands on a study in PostgreSQL: the same as on a file, and no password is ever printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TABLE = "id,text,length,group\na,one,1,x\nb,two,2,x\nc,three,5,x\n"


class Shell:
    def __init__(self, folder: Path, **environment: str) -> None:
        self._folder, self.printed = folder, ""
        self._environment = {**os.environ, **environment}

    def __call__(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ordinate", *words],
            capture_output=True, text=True, cwd=self._folder, env=self._environment, encoding="utf-8",
        )  # fmt: skip
        self.printed += done.stdout + done.stderr
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "items.csv").write_text(TABLE)
    return tmp_path


def test_a_study_from_its_creation_to_its_ordering(folder: Path, postgresql: Any) -> None:
    shell, url = Shell(folder, ORDINATE_SECRET="a secret of these tests"), postgresql.url()
    assert "3 items" in shell("create", url, "--items", "items.csv", "--feature-columns", "length")
    for _ in range(3):
        (query,) = json.loads(shell("ask", url, "--annotator", "Ann", "--json"))["queries"]
        shell("tell", url, query["id"], "left" if query["left"]["id"] < query["right"]["id"] else "right")
    assert json.loads(shell("status", url, "--json"))["comparisons"] == 3
    ordering = json.loads(shell("order", url, "--json"))
    assert [item["id"] for item in ordering["items"]] == ["a", "b", "c"]
    shell("export", url, "--out", "answers.csv")
    assert len((folder / "answers.csv").read_text().splitlines()) == 4
    shell("exclude", url, "--item", "c")
    assert "up to date" in shell("db", "upgrade", url)
    assert "/join/" in shell("link", url)
    assert "exists already" in shell("create", url, "--items", "items.csv", code=2)
    assert "secret" not in shell.printed
    assert "%5B" not in shell.printed


def test_the_password_may_come_from_the_environment_or_a_file(folder: Path, postgresql: Any) -> None:
    url, password = postgresql.url(password=False), "p@ss/wörd:?#[secret]"
    Shell(folder, PGPASSWORD=password)("create", url, "--items", "items.csv")
    kept = folder / "pgpass"
    kept.write_text(f"127.0.0.1:*:postgres:ordinate:{password.replace(':', chr(92) + ':')}\n", encoding="utf-8")
    kept.chmod(0o600)
    assert "3" in Shell(folder, PGPASSFILE=str(kept))("status", url)
    missing = {"PGPASSFILE": str(folder / "none"), "PGPASSWORD": ""}
    assert "password" in Shell(folder, **missing)("status", url, code=1)


def test_paths_of_pictures_become_absolute(folder: Path, postgresql: Any) -> None:
    from PIL import Image

    from ordinate.study.study import Study

    (folder / "pictures").mkdir()
    for name in ("1.png", "2.png"):
        Image.new("RGB", (4, 4)).save(folder / "pictures" / name)
    url = postgresql.url()
    Shell(folder)("create", url, "--items", "pictures")
    with Study.open(url) as study:
        assert study.items.content["image"] == tuple(
            str(folder.resolve() / "pictures" / name) for name in ("1.png", "2.png")
        )


def test_a_server_of_a_database_needs_a_secret_that_others_can_have(folder: Path, postgresql: Any) -> None:
    shell, url = Shell(folder), postgresql.url()
    shell("create", url, "--items", "items.csv")
    assert "--secret-file" in shell("serve", url, "--port", "0", code=2)


def test_every_command_takes_the_password_out_of_the_address() -> None:
    import typer

    from ordinate.cli import application

    def walk(command: Any, name: str) -> list[tuple[str, bool]]:
        if hasattr(command, "commands"):
            return [found for word, one in command.commands.items() for found in walk(one, f"{name} {word}")]
        return [
            (name, parameter.callback is not None)
            for parameter in command.params
            if parameter.param_type_name == "argument" and "STUDY" in str(parameter.metavar)
        ]

    found = dict(walk(typer.main.get_command(application(["--help"])), ""))
    assert {" create", " order", " serve", " db upgrade", " ask"} <= found.keys()
    assert [name for name, taken in found.items() if not taken] == []


def test_a_study_is_copied_and_a_person_erased(folder: Path, postgresql: Any) -> None:
    shell, url = Shell(folder), postgresql.url()
    shell("create", "study.db", "--items", "items.csv")
    (query,) = json.loads(shell("ask", "study.db", "--annotator", "Ann", "--json"))["queries"]
    shell("tell", "study.db", query["id"], "left")
    assert "1 comparison" in shell("db", "copy", "study.db", url)
    assert "'Ann'" in shell("db", "erase", url, "Anna", code=2)
    assert "Ann is erased-" in shell("db", "erase", url, "Ann")
    assert "no annotator or owner 'Ann'" in shell("db", "erase", url, "Ann", code=2)
    assert "secret" not in shell.printed
