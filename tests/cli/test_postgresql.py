"""The commands on a study in PostgreSQL: the same as on a file, and no password is ever printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run

TABLE = "id,text,length,group\na,one,1,x\nb,two,2,x\nc,three,5,x\n"


class Shell:
    def __init__(self, run: Run, **environment: str) -> None:
        self._run, self._environment, self.printed = run, environment, ""

    def __call__(self, *words: str, code: int = 0) -> str:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self._environment.items():
                patch.setenv(name, value)
            done = self._run(*words)
        self.printed += done.out + done.err
        assert done.code == code, done.err
        return done.out if code == 0 else done.err


@pytest.fixture
def folder(folder: Path) -> Path:
    (folder / "items.csv").write_text(TABLE)
    return folder


def test_a_study_from_its_creation_to_its_ordering(run: Run, folder: Path, postgresql: Any) -> None:
    shell, url = Shell(run, ORDINATE_SECRET="a secret of these tests"), postgresql.url()
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


def test_the_password_may_come_from_the_environment_or_a_file(run: Run, folder: Path, postgresql: Any) -> None:
    url, password = postgresql.url(password=False), "p@ss/wörd:?#[secret]"
    Shell(run, PGPASSWORD=password)("create", url, "--items", "items.csv")
    kept = folder / "pgpass"
    kept.write_text(f"127.0.0.1:*:postgres:ordinate:{password.replace(':', chr(92) + ':')}\n", encoding="utf-8")
    kept.chmod(0o600)
    assert "3" in Shell(run, PGPASSFILE=str(kept))("status", url)
    missing = {"PGPASSFILE": str(folder / "none"), "PGPASSWORD": ""}
    assert "password" in Shell(run, **missing)("status", url, code=1)


def test_paths_of_pictures_become_absolute(run: Run, folder: Path, postgresql: Any) -> None:
    from PIL import Image

    from ordinate.study.study import Study

    (folder / "pictures").mkdir()
    for name in ("1.png", "2.png"):
        Image.new("RGB", (4, 4)).save(folder / "pictures" / name)
    url = postgresql.url()
    Shell(run)("create", url, "--items", "pictures")
    with Study.open(url) as study:
        assert study.items.content["image"] == tuple(
            str(folder.resolve() / "pictures" / name) for name in ("1.png", "2.png")
        )


def test_a_server_of_a_database_needs_a_secret_that_others_can_have(run: Run, folder: Path, postgresql: Any) -> None:
    shell, url = Shell(run), postgresql.url()
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


def test_a_study_is_copied_and_a_person_erased(run: Run, folder: Path, postgresql: Any) -> None:
    shell, url = Shell(run), postgresql.url()
    shell("create", "study.db", "--items", "items.csv")
    (query,) = json.loads(shell("ask", "study.db", "--annotator", "Ann", "--json"))["queries"]
    shell("tell", "study.db", query["id"], "left")
    assert "1 comparison" in shell("db", "copy", "study.db", url)
    assert "'Ann'" in shell("db", "erase", url, "Anna", code=2)
    assert "Ann is erased-" in shell("db", "erase", url, "Ann")
    assert "no annotator or owner 'Ann'" in shell("db", "erase", url, "Ann", code=2)
    assert "secret" not in shell.printed
