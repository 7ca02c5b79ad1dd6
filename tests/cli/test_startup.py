"""What a command imports: most take less time than the libraries that they do without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ordinate import Items, Study

HEAVY = {"numba", "scipy", "httpx", "joblib", "matplotlib", "pandas", "polars", "narwhals", "PIL", "rich", "fastapi"}


def imported(*words: str) -> set[str]:
    """The top modules, and those of our commands, that a command has imported when it ends."""
    program = (
        "import sys; from ordinate.__main__ import main\n"
        f"assert main({list(words)!r}) == 0\n"
        "print(*{name.partition('.')[0] for name in sys.modules if sys.modules[name]},\n"
        "      *(name for name in sys.modules if name.startswith('ordinate.cli.')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.fixture
def study(tmp_path: Path) -> str:
    path = tmp_path / "study.db"
    with Study.create(Items(["a", "b", "c"], np.eye(3)), storage=f"sqlite:///{path}") as study:
        study.tell(study.ask().id, "left")
        study.ask()
    return str(path)


def open_query(study: str) -> str:
    with Study.open(f"sqlite:///{study}") as opened:
        return opened.open_queries()[0].id


@pytest.mark.parametrize(
    "name", ["tell", pytest.param("withdraw", marks=pytest.mark.slow), pytest.param("undo", marks=pytest.mark.slow)]
)
def test_what_only_writes_an_entry_computes_nothing(name: str, study: str) -> None:
    words = {"tell": [open_query(study), "right"], "withdraw": [open_query(study)], "undo": []}[name]
    found = imported(name, study, *words)
    assert not found & HEAVY
    assert {one for one in found if one.startswith("ordinate.cli.")} == {
        "ordinate.cli.options",
        "ordinate.cli.screen",
        "ordinate.cli.answering",
    }


def test_a_command_that_fits_a_model_imports_what_computes_alone(study: str) -> None:
    found = imported("status", study)
    assert {"numba", "scipy"} <= found
    assert not found & (HEAVY - {"numba", "scipy", "rich"})


def test_a_study_is_opened_without_numba() -> None:
    program = "import ordinate.study.study, sys; print('numba' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.slow
def test_a_command_that_waits_long_for_the_compiler_says_so_once(study: str, tmp_path: Path) -> None:
    waits = "Compiling what this command needs, for the first time on this computer; it may take half a minute.\n"
    program = (
        "import ordinate.compiled as c, ordinate.__main__ as m, sys; c.PATIENCE = float(sys.argv.pop(1)); m.main()"
    )
    # The compiler takes longer than 0.2 s; the second time everything is there; nothing takes an hour.
    for patience, cache, said in (("0.2", "first", waits), ("0.2", "first", ""), ("3600", "second", "")):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / cache)}
        command = [sys.executable, "-c", program, patience, "status", study]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr == said
