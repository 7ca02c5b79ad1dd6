"""Commands run in this process, in a folder of their own."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ordinate.__main__ import main

ITEMS = """id,text,sharpness,contrast
a,The first,1.0,10
b,The second,2.0,30
c,The third,3.0,20
d,The fourth,4.5,50
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON: all of it, or the test fails."""
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with items.csv in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "items.csv").write_text(ITEMS)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in this process; `keys` stand on standard input."""

    def run_line(*arguments: str, keys: str = "") -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(keys))
        capsys.readouterr()
        code = main(arguments)
        return Result(code, *capsys.readouterr())

    return run_line


@pytest.fixture(scope="session")
def made_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of four items with two feature columns; not to be changed."""
    place = tmp_path_factory.mktemp("made")
    (place / "items.csv").write_text(ITEMS)
    arguments = ["create", str(place / "study.db"), "--items", str(place / "items.csv")]
    assert main([*arguments, "--feature-columns", "sharpness,contrast", "--question", "Which is clearer?"]) == 0
    return place / "study.db"


@pytest.fixture
def study(folder: Path, made_study: Path) -> Path:
    """study.db in the working folder."""
    return Path(shutil.copy(made_study, folder / "study.db"))
