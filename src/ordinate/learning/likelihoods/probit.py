"""The probit likelihood (Thurstone 1927): left wins with probability Phi(m / 1.702), within 0.01 of sigma(m).

V = phi / Phi and W = V (V + x) at x, as in TrueSkill: (log Phi)' = V, (log Phi)'' = -W
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.models.one_by_one import win_correction

if TYPE_CHECKING:
    from ordinate.learning.models import Answers
    from ordinate.learning.models.likelihood import PairCounts

UNIT = 1.702
"""The m by which Phi(m / UNIT) is nearest to sigma(m) where they differ most (Haley 1952)."""


@dataclass(frozen=True)
class Probit:
    def evaluate(self, pairs: PairCounts, scores: Floats) -> tuple[float, Floats, Floats, Floats]:
        return probit(*pairs[:4], scores)

    def weight(self, margin: Floats, answers: Answers) -> Floats:
        return _single(margin, answers)[2]

    def slope(self, margin: Floats, answers: Answers) -> Floats:
        return _single(margin, answers)[1][:-1]

    def wins(self, margin: Floats, variance: Floats, answers: Answers) -> Floats:
        from scipy.special import ndtr

        chance: Floats = ndtr(margin / np.sqrt(UNIT * UNIT + variance))
        return chance


def _single(margin: Floats, answers: Answers) -> tuple[float, Floats, Floats, Floats]:
    """Each answer as a pair of its own, against one item whose score is 0."""
    rows = np.arange(len(margin))
    scores = np.concatenate([margin, [0.0]])
    return probit(rows, np.full(len(rows), len(rows)), np.ones(len(rows)), answers.outcome, scores)


@compiled
def probit(
    left: Integers, right: Integers, asked: Floats, wins: Floats, scores: Floats
) -> tuple[float, Floats, Floats, Floats]:
    """As `Likelihood.evaluate`. The sum keeps what its rounding drops, as in `logistic`."""
    value, dropped = 0.0, 0.0
    slope, degree, weight = np.zeros(scores.shape[0]), np.zeros(scores.shape[0]), np.empty(left.shape[0])
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        won, lost = wins[pair], asked[pair] - wins[pair]
        place = (scores[i] - scores[j]) / UNIT
        shift, shrink = win_correction(place)
        back, back_shrink = win_correction(-place)
        term = dropped + won * log_normal(place, shift) + lost * log_normal(-place, back)
        before, value = value, value + term
        dropped = term - (value - before)
        push = (won * shift - lost * back) / UNIT
        slope[i] += push
        slope[j] -= push
        weight[pair] = (won * shrink + lost * back_shrink) / (UNIT * UNIT)
        degree[i] += weight[pair]
        degree[j] += weight[pair]
    return value, slope, weight, degree


@compiled
def log_normal(place: float, shift: float) -> float:
    """log Phi(place), given V there."""
    if place > 0.0:
        return math.log1p(-0.5 * math.erfc(place / math.sqrt(2.0)))
    if place > -5.0:
        return math.log(0.5 * math.erfc(-place / math.sqrt(2.0)))
    return -0.5 * place * place - 0.5 * math.log(2.0 * math.pi) - math.log(shift)
