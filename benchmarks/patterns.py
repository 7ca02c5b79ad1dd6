"""Time per question by how people answer (see `people`): the slowest pattern is what counts, not the fastest.

Every pattern answers the same number of questions of a study of its own, in turns with the others.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Row, interleaved, row
from benchmarks.people import PATTERNS, Answering, Pattern

COMPILED = (40, 60)
"""Items and answers of a study before the measured one, in which all that a pattern needs is compiled."""
SETTLED = 100
"""Answers after which a model is no longer refitted at each one."""
CASES: list[tuple[str, int, int]] = [
    ("guro-hybrid", 200, 35),
    ("guro-hybrid", 500, 35),
    ("guro-hybrid", 2000, 35),
    ("guro-contextual", 6072, 75),
    ("bald-hybrid", 500, 35),
    ("guro-independent", 2000, 0),
    ("guro-independent", 20_000, 0),
]
REOPENED = 100


def rows(quick: bool) -> Iterator[Row]:
    for algorithm, n, d in [("guro-hybrid", 60, 5)] if quick else CASES:
        yield from compare(algorithm, n, d, *((3, 20, 5) if quick else (4, SETTLED, 50)))
    for algorithm, n, d in [("guro-hybrid", 60, 5)] if quick else CASES:
        yield first_questions(algorithm, n, d, 5 if quick else SETTLED)
    yield from in_a_file(*((60, 5, 20, 10) if quick else (500, 35, 400, REOPENED)))


def compare(algorithm: str, n: int, d: int, rounds: int, settled: int, block: int) -> Iterator[Row]:
    """Of each pattern, the mean over all rounds: a refit or two are in each. All has been compiled before."""
    patterns: dict[str, Answering] = {}
    for name, pattern in PATTERNS.items():
        compiling = pattern.start(COMPILED[0], min(d, 5), algorithm)
        compiling.block = COMPILED[1]
        compiling()
        patterns[name] = answering = pattern.start(n, d, algorithm)
        answering.block = settled
        answering()
        answering.block = block
    for name, found in interleaved(dict(patterns), rounds, np.inf).items():
        yield row("patterns", algorithm, name, (n, d, 0), found)._replace(seconds=float(found.mean()))


def first_questions(algorithm: str, n: int, d: int, count: int) -> Row:
    """Of one person, with a refit after each answer; the very first question, which may compile, is left out."""
    answering = Pattern().start(n, d, algorithm)
    answering()
    answering.block, begun = count - 1, time.process_time()
    answered = answering()
    seconds = np.array([(time.process_time() - begun) / answered])
    return row("patterns", f"{algorithm}, the first {count}", "one person", (n, d, 0), seconds)


def in_a_file(n: int, d: int, answers: int, every: int) -> Iterator[Row]:
    """One person, in a file that is opened again now and then: the questions, and each opening with its first one."""
    with tempfile.TemporaryDirectory() as folder:
        answering = Pattern().start(n, d, "guro-hybrid", folder=Path(folder))
        answering.block = every
        answering()
        asked, opened = [], []
        for _ in range(answers // every - 1):
            begun = time.process_time()
            answering.people.reopen()
            answering.block = 1
            answering()
            opened.append(time.process_time() - begun)
            answering.block, begun = every - 1, time.process_time()
            answering()
            asked.append((time.process_time() - begun) / (every - 1))
        answering.people.study.close()
    yield row("patterns", "guro-hybrid", "one person, in a file", (n, d, 0), np.array(asked))
    yield row("patterns", "guro-hybrid", "opened again, with its first question", (n, d, 0), np.array(opened))
