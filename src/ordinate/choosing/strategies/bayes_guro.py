"""BayesGURO: the pair whose answer the draws of the posterior disagree about most (the paper, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice, most_disagreement
from ordinate.choosing.strategies import Situation
from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import Pool
from ordinate.learning.logistic import WIDEST, sigmoid


@dataclass(frozen=True)
class BayesGuro:
    """Asks for the pair whose sigma(f_i - f_j) varies most over `draws` draws of the scores, the same for every pair.

    Tends to Var sigma(N(m, v)) as draws grow, and from there to GURO's sigma'(m)^2 v as v -> 0.
    """

    draws: int = 50

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        pool = situation.search().promising(situation.answered(), pool, rng)
        draws = situation.belief().sample(self.draws, rng)
        return most_disagreement(pool, draws, disagreement(draws), rng)


def disagreement(draws: Floats) -> Callable[[Integers, Integers], Floats]:
    """Pairs of rows -> the variance of sigma(f_i - f_j) over draws (S, n) of the scores."""
    scores = np.ascontiguousarray(draws.T)
    scores -= 0.5 * (scores.max(axis=0) + scores.min(axis=0))
    if scores.max(initial=0.0) > WIDEST:
        return lambda left, right: draw_variances_wide(scores, left, right)
    growth, decay = np.exp(scores), np.exp(-scores)
    return lambda left, right: draw_variances(growth, decay, left, right)


@fast
def draw_variances(growth: Floats, decay: Floats, left: Integers, right: Integers) -> Floats:
    """(P,) the variance over draws of sigma(f_i - f_j) of each pair.

    growth, decay (n, S): exp(f) and exp(-f) of S >= 2 draws of the scores, so that no pair needs an exp.
    """
    draws = growth.shape[1]
    values = np.empty(left.shape[0])
    for pair in range(left.shape[0]):
        # i < j, so that (i, j) and (j, i) get the same bits.
        i, j = min(left[pair], right[pair]), max(left[pair], right[pair])
        # Against the first draw, so that a small variance is no difference of large numbers.
        shift = 1.0 / (1.0 + decay[i, 0] * growth[j, 0])
        total, squared = 0.0, 0.0
        for draw in range(1, draws):
            gap = 1.0 / (1.0 + decay[i, draw] * growth[j, draw]) - shift
            total += gap
            squared += gap * gap
        values[pair] = max(squared - total * total / draws, 0.0) / (draws - 1)
    return values


@compiled
def draw_variances_wide(draws: Floats, left: Integers, right: Integers) -> Floats:
    """`draw_variances` of draws (n, S) so far apart that their exp would overflow: one exp per pair and draw."""
    count = draws.shape[1]
    values = np.empty(left.shape[0])
    for pair in range(left.shape[0]):
        i, j = min(left[pair], right[pair]), max(left[pair], right[pair])
        shift = sigmoid(draws[i, 0] - draws[j, 0])
        total, squared = 0.0, 0.0
        for draw in range(1, count):
            gap = sigmoid(draws[i, draw] - draws[j, draw]) - shift
            total += gap
            squared += gap * gap
        values[pair] = max(squared - total * total / count, 0.0) / (count - 1)
    return values
