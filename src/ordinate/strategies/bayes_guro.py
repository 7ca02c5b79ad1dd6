"""BayesGURO: the pair whose answer the draws of the posterior disagree about most (the paper, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ordinate import kernels
from ordinate.search import Choice, Pool, best_scored
from ordinate.strategies import Situation
from ordinate.types import Floats, Integers


@dataclass(frozen=True)
class BayesGuro:
    """Asks where sigma(f_i - f_j) varies most over `draws` draws of the scores, the same draws for every pair.

    Tends to Var sigma(N(m, v)) as draws grow, and from there to GURO's sigma'(m)^2 v as v -> 0.
    """

    draws: int = 50

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        return best_scored(pool, disagreement(situation.belief().sample(self.draws, rng)), rng)


def disagreement(draws: Floats) -> Callable[[Integers, Integers], Floats]:
    """Pairs of rows -> the variance of sigma(f_i - f_j) over draws (S, n) of the scores."""
    scores = np.ascontiguousarray(draws.T)
    scores -= 0.5 * (scores.max(axis=0) + scores.min(axis=0))
    if scores.max(initial=0.0) > kernels.WIDEST:
        return lambda left, right: kernels.draw_variances_wide(scores, left, right)
    growth, decay = np.exp(scores), np.exp(-scores)
    return lambda left, right: kernels.draw_variances(growth, decay, left, right)
