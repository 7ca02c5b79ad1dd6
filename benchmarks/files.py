"""A study in a file: what it adds to a question, and a million recorded comparisons.

A question is an ask and a tell, two transactions in a file. Beside it stand the same questions in memory, and two
transactions of bare SQLite that insert as many bytes: no study can be as durable in less. Seconds are processor time;
what passes beyond it is the wait for the disk.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Call, Row, apart, interleaved, row
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.study.study import Study

SIZES = ((200, 35), (500, 35))
WARM_UP = 110
TURN = 10
MANY = (10_000, 1_000_000)


class Questions:
    """One person who answers on and on, ten answers a call."""

    def __init__(self, n: int, d: int, storage: str | None) -> None:
        features = np.random.default_rng(n + d).normal(size=(n, d)) / np.sqrt(d)
        items = Items([f"item-{number}" for number in range(n)], features)
        self.study = Study.create(items, algorithm="guro-contextual", storage=storage)

    def __call__(self) -> int:
        for _ in range(TURN):
            query = self.study.ask()
            self.study.tell(query.id, "left")
        return TURN


class BareTransactions:
    """Two transactions of SQLite with an insert each, as durable as those of a study, ten times a call."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = EXTRA")
        self.connection.execute("CREATE TABLE log (position INTEGER PRIMARY KEY, entry TEXT)")

    def __call__(self) -> int:
        for _ in range(2 * TURN):
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute("INSERT INTO log (entry) VALUES (?)", ("x" * 200,))
            self.connection.execute("COMMIT")
        return TURN


def questions(n: int, d: int, rounds: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        competitors: dict[str, Call] = {
            "ordinate": Questions(n, d, f"sqlite:///{folder}/study.db"),
            "ordinate, in memory": Questions(n, d, None),
            "SQLite, two inserts": BareTransactions(Path(folder) / "bare.db"),
        }
        for competitor in competitors.values():
            for _ in range(WARM_UP // TURN):
                competitor()
        for who, found in interleaved(competitors, rounds, 60.0).items():
            yield row("file", "question", who, (n, d, 0), found)


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


def many(n: int, answers: int) -> Iterator[Row]:
    """Each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/study.db"
        for who, trial in (
            ("record", apart(recorded, address, n, answers, limit=600.0)),
            ("open", apart(opened, address, limit=600.0)),
            ("order", apart(ordered, address, limit=600.0)),
            ("expected error", apart(expected, address, limit=600.0)),
        ):
            seconds = np.array([trial.seconds])
            yield row("many", who, who, (n, 0, answers), seconds, peak_mb=trial.peak_mb, note=trial.failure)


def rows(quick: bool) -> Iterator[Row]:
    for size in SIZES[: 1 if quick else None]:
        yield from questions(*size, 2 if quick else 30)
    yield from many(*((100, 5000) if quick else MANY))
