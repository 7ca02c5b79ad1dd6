"""A study in a file: what it adds to a question, and a million recorded comparisons.

    python -m benchmarks.files                      # both
    python -m benchmarks.files --questions 300 --comparisons 0

A question is an ask and a tell, two transactions in a file. Beside it stand the same questions in memory, and two
transactions of bare SQLite that insert as many bytes: no study can wait less for the disk.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.machine import one_core
from benchmarks.measure import apart
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.study.study import Study

SIZES = ((200, 35), (500, 35))
WARM_UP = 110
TURN = 10


def items_of(n: int, d: int) -> Items:
    features = np.random.default_rng(n + d).normal(size=(n, d)) / np.sqrt(d)
    return Items([f"item-{row}" for row in range(n)], features)


class Questions:
    """One person who answers on and on."""

    def __init__(self, n: int, d: int, storage: str | None) -> None:
        self.study = Study.create(items_of(n, d), algorithm="guro-contextual", storage=storage)

    def __call__(self) -> None:
        query = self.study.ask()
        self.study.tell(query.id, "left")


class BareTransactions:
    """Two transactions of SQLite with an insert each, as durable as those of a study."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = EXTRA")
        self.connection.execute("CREATE TABLE log (position INTEGER PRIMARY KEY, entry TEXT)")

    def __call__(self) -> None:
        for _ in range(2):
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute("INSERT INTO log (entry) VALUES (?)", ("x" * 200,))
            self.connection.execute("COMMIT")


def questions(n: int, d: int, count: int) -> Iterator[dict[str, object]]:
    """In turns of ten, so that whatever else the machine does hits all alike."""
    with tempfile.TemporaryDirectory() as folder:
        competitors: dict[str, Callable[[], None]] = {
            "memory": Questions(n, d, None),
            "file": Questions(n, d, f"sqlite:///{folder}/study.db"),
            "bare SQLite": BareTransactions(Path(folder) / "bare.db"),
        }
        for competitor in competitors.values():
            for _ in range(WARM_UP):
                competitor()
        spent = {who: np.zeros(2) for who in competitors}
        for _ in range(count // TURN):
            for who, competitor in competitors.items():
                begun = np.array([time.process_time(), time.perf_counter()])
                for _ in range(TURN):
                    competitor()
                spent[who] += np.array([time.process_time(), time.perf_counter()]) - begun
    for who, (core, wall) in spent.items():
        yield {"n": n, "who": who, "processor ms": core / count * 1e3, "wall ms": wall / count * 1e3}


def recorded(address: str, n: int, answers: int) -> float:
    rng = np.random.default_rng(0)
    left = rng.integers(0, n, answers)
    right = (left + rng.integers(1, n, answers)) % n
    scores = rng.normal(size=n)
    won = rng.random(answers) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    ids = [f"item-{row}" for row in range(n)]
    comparisons = [
        Comparison(ids[one], ids[other], "left" if first else "right", f"person-{number % 50}")
        for number, (one, other, first) in enumerate(zip(left.tolist(), right.tolist(), won.tolist(), strict=True))
    ]
    with Study.create(Items(ids), storage=address) as study:
        begun = time.process_time()
        study.record(comparisons)
        return time.process_time() - begun


def opened(address: str) -> float:
    begun = time.process_time()
    with Study.open(address):
        return time.process_time() - begun


def ordered(address: str) -> float:
    with Study.open(address) as study:
        begun = time.process_time()
        study.ordering()
        return time.process_time() - begun


def expected(address: str) -> float:
    with Study.open(address) as study:
        begun = time.process_time()
        study.expected_error()
        return time.process_time() - begun


def many(n: int, answers: int) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/study.db"
        for what, trial in (
            ("record", apart(recorded, address, n, answers, limit=600.0)),
            ("open", apart(opened, address, limit=600.0)),
            ("order", apart(ordered, address, limit=600.0)),
            ("expected error", apart(expected, address, limit=600.0)),
        ):
            yield {"n": n, "answers": answers, "what": what, "seconds": trial.seconds, "peak MB": trial.peak_mb}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--comparisons", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=10_000)
    options = parser.parse_args()
    one_core()
    if options.questions:
        for size in SIZES:
            for row in questions(*size, options.questions):
                print(row, flush=True)
    if options.comparisons:
        for row in many(options.items, options.comparisons):
            print(row, flush=True)


if __name__ == "__main__":
    main()
