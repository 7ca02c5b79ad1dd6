"""Processor time of a command from its start to its end, Python's own start included.

The study has 500 items with 35 columns and 1,000 answers. `ask` chooses a new pair each time. "cold" is the first
question of a new study where nothing is compiled yet; the others come after a round that is not counted. "packages
alone" is what every command that fits a model begins with.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from benchmarks.measure import Row, row
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.study.study import Study

ITEMS, COLUMNS, ANSWERS = 500, 35, 1000
ORDINATE = ("-m", "ordinate")
PACKAGES = """
import numba, numpy, scipy.linalg, scipy.special, typer

@numba.njit(cache=True)
def total(values):
    return values.sum()

total(numpy.ones(3))
"""


def seconds_of(*words: str, environment: Mapping[str, str]) -> float:
    """Processor time of a run of Python that succeeds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_study(path: Path, answers: int) -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(0, ITEMS, answers)
    right = (left + rng.integers(1, ITEMS, answers)) % ITEMS
    items = Items([f"item-{number}" for number in range(ITEMS)], rng.normal(size=(ITEMS, COLUMNS)))
    with Study.create(items, storage=f"sqlite:///{path}") as study:
        study.record(Comparison(items.ids[i], items.ids[j], "left") for i, j in zip(left, right, strict=True))


def rows(quick: bool) -> Iterator[Row]:
    rounds = 1 if quick else 5
    with tempfile.TemporaryDirectory() as folder:
        study, new, packages = (Path(folder) / name for name in ("study.db", "new.db", "packages.py"))
        packages.write_text(PACKAGES)
        make_study(study, ANSWERS)
        make_study(new, 0)
        # As for a package that is installed: its modules are there as byte code.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = kept | {"PYTHONPYCACHEPREFIX": f"{folder}/byte-code"}
        found: dict[str, list[float]] = {}
        for number in range(rounds + 1):
            with Study.open(f"sqlite:///{study}") as opened:
                query = opened.ask("somebody").id
            calls = {
                "packages alone": [str(packages)],
                "--help": [*ORDINATE, "--help"],
                "tell": [*ORDINATE, "tell", str(study), query, "left"],
                "ask": [*ORDINATE, "ask", str(study), "--annotator", f"person-{number}"],
                "status": [*ORDINATE, "status", str(study)],
                "order": [*ORDINATE, "order", str(study)],
            }
            for name, words in calls.items():
                found.setdefault(name, []).append(seconds_of(*words, environment=environment))
        for name, seconds in found.items():
            yield row("command", name, name, (ITEMS, COLUMNS, ANSWERS), np.array(seconds[1:]))
        cold = seconds_of(*ORDINATE, "ask", str(new), environment=environment | {"NUMBA_CACHE_DIR": f"{folder}/cache"})
        yield row("command", "ask", "ask, cold", (ITEMS, COLUMNS, 0), np.array([cold]))
