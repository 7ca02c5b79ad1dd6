"""Compiled loops are kept on the disk for the next process; where nothing can be kept, they only take longer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ordinate

PROGRAM = """
from numba.core import event
from ordinate import Items, Study

with event.install_recorder("numba:compile") as compiled:
    study = Study.create(Items(["a", "b", "c", "d"], [[1.0], [2.0], [3.0], [5.0]]), seed=1)
    for _ in range(3):
        query = study.ask()
        study.tell(query.id, "left")
    ordering = study.ordering()
print(sum(one.is_start for _, one in compiled.buffer), *ordering.ids, *ordering.scores.tolist())
"""


ONE_FUNCTION = """
import numpy as np
from numba.core import event
from ordinate.learning.linear_scores import linear_scores_double

with event.install_recorder("numba:compile") as compiled:
    scores = linear_scores_double(np.eye(2), np.array([0.5, 3.0]))
print(sum(one.is_start for _, one in compiled.buffer), *scores)
"""


def run(cache: Path | str, package: Path | None = None, program: str = PROGRAM) -> tuple[int, list[str]]:
    """How many functions a process compiled, and what it printed."""
    source = Path(ordinate.__file__).parents[1] if package is None else package
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    compiled, *ordering = done.stdout.split()
    return int(compiled), ordering


def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    first, scores = run(tmp_path / "cache", program=ONE_FUNCTION)
    assert first > 0
    assert run(tmp_path / "cache", program=ONE_FUNCTION) == (0, scores)
    assert scores == ["0.5", "3.0"]


@pytest.mark.slow
def test_the_second_process_compiles_nothing_of_a_whole_study(tmp_path: Path) -> None:
    first, ordering = run(tmp_path / "cache")
    assert first > 5
    assert run(tmp_path / "cache") == (0, ordering)


@pytest.mark.slow
def test_a_cache_folder_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    # A folder cannot be made inside a file, whoever asks: root passes over permissions.
    (tmp_path / "file").touch()
    assert run(tmp_path / "file" / "cache")[1] == run(tmp_path / "cache")[1]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the place of the package is made a place where nothing can be written")
def test_where_nothing_can_be_written_every_process_compiles_and_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No cache folder is named, the package's own __pycache__ is a file, and so is the user's cache folder."""
    shutil.copytree(Path(ordinate.__file__).parent, tmp_path / "ordinate", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (tmp_path / "ordinate", *(path for path in (tmp_path / "ordinate").rglob("*") if path.is_dir())):
        (folder / "__pycache__").touch()
    (tmp_path / "no-folder").touch()
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "no-folder"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    first, ordering = run("", tmp_path)
    again, same = run("", tmp_path)
    assert min(first, again) > 5
    assert same == ordering
