"""TrueSkill updates: ours, trueskill (the same model: ratings are compared), openskill (a model of its own)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import Call, Row, interleaved, row
from ordinate.learning.models import Answers
from ordinate.learning.models.trueskill import TrueSkill

ITEMS, ANSWERS = 1000, 5000
TIES = 0.1


def work(count: int) -> Answers:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=ITEMS)
    left = rng.integers(0, ITEMS, count)
    right = (left + rng.integers(1, ITEMS, count)) % ITEMS
    won = (rng.random(count) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))).astype(float)
    return Answers(left, right, np.where(rng.random(count) < TIES, 0.5, won))


def ours(answers: Answers) -> np.ndarray:
    return TrueSkill().fit(np.empty((ITEMS, 0)), answers).belief.mean


def trueskill(answers: Answers) -> np.ndarray:
    from trueskill import TrueSkill as Environment

    same = TrueSkill()
    rules = Environment(
        mu=0.0, sigma=same.deviation, beta=same.beta, tau=same.tau, draw_probability=same.draw_probability
    )
    ratings = [rules.create_rating() for _ in range(ITEMS)]
    for i, j, outcome in zip(*(column.tolist() for column in answers[:3]), strict=True):
        if outcome == 0.0:
            i, j = j, i
        (ratings[i],), (ratings[j],) = rules.rate([(ratings[i],), (ratings[j],)], ranks=[0, 0 if outcome == 0.5 else 1])
    return np.array([rating.mu for rating in ratings])


def openskill(answers: Answers) -> np.ndarray:
    from openskill.models import BradleyTerryFull

    same = TrueSkill()
    rules = BradleyTerryFull(mu=0.0, sigma=same.deviation, beta=same.beta, tau=same.tau)
    ratings = [rules.rating() for _ in range(ITEMS)]
    for i, j, outcome in zip(*(column.tolist() for column in answers[:3]), strict=True):
        if outcome == 0.0:
            i, j = j, i
        (ratings[i],), (ratings[j],) = rules.rate([[ratings[i]], [ratings[j]]], ranks=[0, 0 if outcome == 0.5 else 1])
    return np.array([rating.mu for rating in ratings])


COMPETITORS: dict[str, Callable[[Answers], np.ndarray]] = {
    "ordinate": ours,
    "trueskill": trueskill,
    "openskill BradleyTerryFull": openskill,
}


def rows(quick: bool) -> Iterator[Row]:
    count = 300 if quick else ANSWERS
    answers = work(count)
    found: dict[str, np.ndarray] = {}

    def call(who: str) -> Call:
        def rate() -> int:
            found[who] = COMPETITORS[who](answers)
            return count

        return rate

    ours(answers)  # compiles
    times = interleaved({who: call(who) for who in COMPETITORS}, 2 if quick else 5, 30.0)
    for who, seconds in times.items():
        note = f"{1.0 / np.median(seconds):,.0f} a second; "
        if who.startswith("openskill"):
            note += f"another model; correlation of the ratings {np.corrcoef(found['ordinate'], found[who])[0, 1]:.3f}"
        elif who != "ordinate":
            note += f"ratings within {np.abs(found['ordinate'] - found[who]).max():.0e}"
        yield row("ratings", "update", who, (ITEMS, 0, count), seconds, note=note.removesuffix("; "))
