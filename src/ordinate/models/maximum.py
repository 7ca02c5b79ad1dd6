"""The MAP of f = X theta + zeta: damped Newton whose systems are solved by sparse conjugate gradients.

X (n, k) features     L (n, n) Laplacian of the answered pairs, weights sigma'     theta (k,)     zeta (n,)

Items nobody has compared have zeta = 0, so all of this happens on the compared ones. A Newton step costs a few products
with X and with L; L is never written down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.models import Answers
from ordinate.models.cholesky import PositiveDefinite
from ordinate.models.likelihood import PairCounts, newton
from ordinate.models.pair_loops import conjugate_gradients, likelihood
from ordinate.types import Floats, Integers

_MOST_PRODUCTS = 1000
"""More than a system has been seen to take; a direction that is still rough then is improved by the next step."""


class Prior(NamedTuple):
    """Variances of theta's and zeta's entries."""

    coefficients: float
    items: float


class Compared(NamedTuple):
    """The compared items: their ascending rows in the study, their features (t, k), and the pairs among them."""

    rows: Integers
    features: Floats
    pairs: PairCounts

    @classmethod
    def of(cls, features: Floats, answers: Answers) -> Compared:
        pairs = PairCounts.of(answers, len(features))
        seen = np.zeros(len(features), dtype=np.bool_)
        seen[pairs.left] = seen[pairs.right] = True
        rows = np.flatnonzero(seen)
        place = np.cumsum(seen) - 1
        inside = np.ascontiguousarray(features[rows], dtype=np.float64)
        return cls(rows, inside, PairCounts(place[pairs.left], place[pairs.right], pairs.asked, pairs.wins))


def maximum(prior: Prior, compared: Compared, start: tuple[Floats, Floats] | None = None) -> tuple[Floats, Floats]:
    """theta (k,) and zeta (t,) of the compared items at the MAP, from `start` or from 0."""
    columns = compared.features.shape[1]
    problem = _Problem(prior, compared)
    begin = np.zeros(columns + len(compared.rows)) if start is None else np.concatenate(start)
    both = newton(problem.objective, problem.step, begin)
    return both[:columns], both[columns:]


class _Problem:
    def __init__(self, prior: Prior, compared: Compared) -> None:
        self.prior, self.features, self.pairs = prior, compared.features, compared.pairs
        self.columns = self.features.shape[1]
        self._at: tuple[Floats, tuple[float, Floats, Floats, Floats]] | None = None

    def objective(self, both: Floats) -> float:
        theta, zeta = both[: self.columns], both[self.columns :]
        penalty = theta @ theta / self.prior.coefficients + zeta @ zeta / self.prior.items
        return self._likelihood(both)[0] - 0.5 * float(penalty)

    def step(self, both: Floats) -> tuple[Floats, Floats]:
        theta, zeta = both[: self.columns], both[self.columns :]
        _, slope, weight, degree = self._likelihood(both)
        item_precision = 1.0 / self.prior.items
        theta_gradient = self.features.T @ slope - theta / self.prior.coefficients
        zeta_gradient = slope - zeta * item_precision
        kept = degree * item_precision / (item_precision + degree)
        root = PositiveDefinite(
            self.features.T @ (kept[:, None] * self.features), 1.0 / self.prior.coefficients
        ).inverse_root()
        moved = conjugate_gradients(
            self.features,
            *self.pairs[:2],
            weight,
            degree,
            1.0 / self.prior.coefficients,
            item_precision,
            root @ root.T,
            theta_gradient,
            zeta_gradient,
            0.0,
            _MOST_PRODUCTS,
        )
        return np.concatenate([theta_gradient, zeta_gradient]), np.concatenate(moved)

    def _likelihood(self, both: Floats) -> tuple[float, Floats, Floats, Floats]:
        """The newest one is kept: the line search has been where the next step starts."""
        if self._at is None or self._at[0] is not both:
            scores = self.features @ both[: self.columns] + both[self.columns :]
            self._at = both, likelihood(*self.pairs, scores)
        return self._at[1]
