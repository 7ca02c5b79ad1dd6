"""The logistic likelihood (Bradley and Terry 1952; the paper): left wins with probability sigma(m)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers

if TYPE_CHECKING:
    from ordinate.learning.models import Answers
    from ordinate.learning.models.likelihood import PairCounts


@dataclass(frozen=True)
class Logistic:
    def evaluate(self, pairs: PairCounts, scores: Floats) -> tuple[float, Floats, Floats, Floats]:
        return logistic(*pairs[:4], scores)

    def weight(self, margin: Floats, answers: Answers) -> Floats:
        from scipy.special import expit

        weight: Floats = expit(margin) * expit(-margin)
        return weight

    def slope(self, margin: Floats, answers: Answers) -> Floats:
        from scipy.special import expit

        slope: Floats = answers.outcome - expit(margin)
        return slope

    def wins(self, margin: Floats, variance: Floats, answers: Answers) -> Floats:
        from scipy.special import expit

        chance: Floats = expit(margin / np.sqrt(1.0 + np.pi * variance / 8.0))
        return chance


LOGISTIC = Logistic()


@compiled
def logistic(
    left: Integers, right: Integers, asked: Floats, wins: Floats, scores: Floats
) -> tuple[float, Floats, Floats, Floats]:
    """log-likelihood, its gradient by item (n,), the weights asked * sigma'(m) (p,), their sums by item (n,).

    The sum keeps what its rounding drops (Kahan 1965): near the maximum, steps are judged by its last digits.
    """
    value, dropped = 0.0, 0.0
    slope, degree, weight = np.zeros(scores.shape[0]), np.zeros(scores.shape[0]), np.empty(left.shape[0])
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        margin = scores[i] - scores[j]
        decay = math.exp(-abs(margin))
        share = 1.0 / (1.0 + decay)
        chance = share if margin >= 0.0 else decay * share
        lost = wins[pair] if margin < 0.0 else asked[pair] - wins[pair]
        term = dropped - lost * abs(margin) - asked[pair] * math.log1p(decay)
        before, value = value, value + term
        dropped = term - (value - before)
        push = wins[pair] - asked[pair] * chance
        slope[i] += push
        slope[j] -= push
        weight[pair] = asked[pair] * decay * share * share
        degree[i] += weight[pair]
        degree[j] += weight[pair]
    return value, slope, weight, degree
