"""Time per question against n and d: a whole study (ask, tell, refits, log in memory), and scans in plain NumPy.

Ours answers every question through Study as production does, its share of refits included: one person throughout, after
the first 100 answers, by default settings. The plain versions are given for free what they would also need: a fitted
theta. They update a covariance and look at all pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import Call, Row, apart, interleaved, row
from benchmarks.people import Pattern
from benchmarks.plain import best_by_differences, best_by_products, shrunk

Size = tuple[int, int]
TARGETS: list[Size] = [(200, 35), (500, 35), (935, 162), (6072, 75)]
BY_N: list[Size] = [(n, 35) for n in (100, 200, 500, 1000, 2000, 4000, 8000)]
BY_D: list[Size] = [(1000, d) for d in (5, 10, 20, 40, 80, 160)]
WARM_UP = 100
RUN = 400  # answers over which a mean is taken
MOST_BYTES = 1.5e9  # of difference vectors; beyond it the plain version does not run


class Questions:
    """One person who answers on and on, in blocks of whole spans between refits."""

    def __init__(self, n: int, d: int, algorithm: str) -> None:
        self.answering, self.size = Pattern().start(n, d, algorithm), 25 if n > 5000 else 10

    def __call__(self) -> int:
        self.answering.block = self.size
        return self.answering()

    def warmed_up(self) -> Questions:
        while self.answering.people.answers < WARM_UP:
            self()
        return self


class PlainScan:
    def __init__(self, n: int, d: int, best: Callable[..., tuple[int, int]]) -> None:
        rng = np.random.default_rng(n + d)
        self.features = rng.normal(size=(n, d)) / np.sqrt(d)
        self.scores = 2.0 * self.features @ rng.normal(size=d)
        self.covariance, self.best = 2.0 * np.eye(d), best

    def __call__(self) -> int:
        left, right = self.best(self.scores, self.features, self.covariance)
        chance = 1.0 / (1.0 + np.exp(self.scores[right] - self.scores[left]))
        contrast = self.features[left] - self.features[right]
        self.covariance = shrunk(self.covariance, contrast, chance * (1.0 - chance))
        return 1


def seconds_per_question(n: int, d: int, algorithm: str) -> float:
    """Of a short study, for a process of its own."""
    questions = Questions(n, d, algorithm).warmed_up()
    begun = time.process_time()
    block = questions()
    return (time.process_time() - begun) / block


def compare(size: Size, group: str, rounds: int, seconds_each: float) -> Iterator[Row]:
    n, d = size
    names = {"ordinate": "guro-contextual"} | ({"ordinate, guro-hybrid": "guro-hybrid"} if group == "question" else {})
    competitors: dict[str, Call] = {}
    for who, algorithm in names.items():
        competitors[who] = questions = Questions(n, d, algorithm).warmed_up()
        questions.size *= max(1, RUN // rounds // questions.size)
    if n * (n - 1) / 2 * d * 8 < MOST_BYTES:
        competitors["NumPy, all differences"] = PlainScan(n, d, best_by_differences)
    competitors["NumPy, all products"] = PlainScan(n, d, best_by_products)
    for who, found in interleaved(competitors, rounds, seconds_each).items():
        yield mean_row(group, who, size, found)


def mean_row(group: str, who: str, size: Size, found: np.ndarray, peak_mb: float = float("nan")) -> Row:
    return row(group, "question", who, (*size, 0), found, peak_mb=peak_mb)._replace(seconds=float(found.mean()))


def rows(quick: bool) -> Iterator[Row]:
    """All comparisons; `quick` only tries that they run."""
    rounds, seconds = (2, 1.0) if quick else (6, 8.0)
    for size in TARGETS[: 1 if quick else None]:
        yield from compare(size, "question", rounds, seconds)
    for size in (BY_N[:3] if quick else BY_N) + (BY_D[:2] if quick else BY_D):
        yield from compare(size, "growth", 2 if quick else 4, 1.0 if quick else 2.0)
    size = (300, 20) if quick else (6072, 75)
    models = {
        who: Questions(*size, who).warmed_up() for who in ("guro-contextual", "guro-hybrid-factored", "guro-hybrid")
    }
    for questions in models.values():
        questions.size *= max(1, RUN // rounds // questions.size)
    for who, found in interleaved(dict(models), rounds, 2 * seconds).items():
        peak = apart(seconds_per_question, *size, who, limit=120.0).peak_mb
        yield mean_row("models", who, size, found, peak)
