"""The MAP of f = X theta + zeta: damped Newton whose systems are solved by sparse conjugate gradients.

X (n, k) features     L (n, n) Laplacian of the answered pairs, weights sigma'     theta (k,)     zeta (n,)

Items nobody has compared have zeta = 0, so all of this happens on the compared ones. A Newton step costs a few products
with X and with L; L is never written down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import PositiveDefinite, gram
from ordinate.learning.models.likelihood import PairCounts, newton
from ordinate.learning.models.pair_loops import centre, conjugate_gradients

_MOST_PRODUCTS = 1000
"""More than any system has taken; the next step improves a direction that is still rough then."""
_STEPS_PER_GRAM = 4
"""Newton steps that share the costly part of their preconditioner; a new one at each would save one product in ten."""


class Prior(NamedTuple):
    """Variances of theta's and zeta's entries.

    blocks  what that of theta is multiplied by, for the columns of each block of features; none: there is one block
    """

    coefficients: float
    items: float
    blocks: tuple[float, ...] = ()


class Compared(NamedTuple):
    """The compared items: their ascending rows in the study, their features (t, k), and the pairs among them.

    The features are centred within each set of items that the pairs connect. No answer depends on these means,
    but uncentred the diagonal in the preconditioner would claim that the answers tell much about them.
    """

    rows: Integers
    features: Floats
    pairs: PairCounts

    @classmethod
    def of(cls, features: Floats, answers: Answers) -> Compared:
        if not len(answers.left):  # the first question of a study should not wait for what only answers need
            nothing, none = np.empty(0, dtype=np.int64), np.empty(0)
            return cls(nothing, np.empty((0, features.shape[1])), PairCounts(nothing, nothing, none, none))
        pairs = PairCounts.of(answers, len(features))
        seen = np.zeros(len(features), dtype=np.bool_)
        seen[pairs.left] = seen[pairs.right] = True
        rows = np.flatnonzero(seen)
        place = np.cumsum(seen) - 1
        inside = PairCounts(place[pairs.left], place[pairs.right], *pairs[2:])
        centred = np.ascontiguousarray(features[rows], dtype=np.float64)
        centre(centred, inside.left, inside.right)
        return cls(rows, centred, inside)


def map_estimate(prior: Prior, compared: Compared, likelihood: Likelihood = LOGISTIC) -> tuple[Floats, Floats]:
    """theta (k,) and zeta (t,) of the compared items at the MAP; zeta is 0 where its variance is."""
    if not len(compared.rows):
        return np.zeros(compared.features.shape[1]), np.empty(0)
    problem = _Problem(prior, compared, likelihood)
    theta, tension, _ = problem.parts(newton(problem.objective, problem.step, problem.start))
    return theta, prior.items * tension


class _Problem:
    """In theta (k,), tension = zeta / its variance (t,) and the scores X theta + zeta (t,), joined in one array.

    The scores are kept since a product with X is costly, the tension since it is defined also without terms per item.
    """

    def __init__(self, prior: Prior, compared: Compared, likelihood: Likelihood) -> None:
        self.likelihood = likelihood
        self.prior, self.features, self.pairs = prior, compared.features, compared.pairs
        items, columns = self.features.shape
        self.start = np.zeros(columns + 2 * items)
        self._cuts = columns, columns + items
        self._steps, self._schur_inverse = 0, np.empty((columns, columns))
        self._at: tuple[Floats, tuple[float, Floats, Floats, Floats]] | None = None

    def parts(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        first, second = self._cuts
        return point[:first], point[first:second], point[second:]

    def objective(self, point: Floats) -> float:
        theta, tension, _ = self.parts(point)
        # NumPy sums by halves, which rounds less than a product of the two.
        penalty = np.square(theta).sum() / self.prior.coefficients + self.prior.items * np.square(tension).sum()
        return self._likelihood(point)[0] - 0.5 * float(penalty)

    def step(self, point: Floats) -> tuple[Floats, Floats]:
        theta, tension, _ = self.parts(point)
        _, slope, weight, degree = self._likelihood(point)
        precision, item_variance = 1.0 / self.prior.coefficients, self.prior.items
        if self._steps % _STEPS_PER_GRAM == 0:
            information = gram(self.features, degree / (1.0 + item_variance * degree))
            self._schur_inverse = PositiveDefinite(information, precision).inverse()
        self._steps += 1
        moved = conjugate_gradients(
            self.features,
            *self.pairs[:2],
            weight,
            degree,
            precision,
            item_variance,
            self._schur_inverse,
            -precision * theta,
            -tension,
            slope,
            0.0,
            _MOST_PRODUCTS,
        )
        return np.concatenate([-precision * theta, -item_variance * tension, slope]), np.concatenate(moved)

    def _likelihood(self, point: Floats) -> tuple[float, Floats, Floats, Floats]:
        """The last one is kept: the line search has evaluated it where the next step starts."""
        if self._at is None or self._at[0] is not point:
            self._at = point, self.likelihood.evaluate(self.pairs, self.parts(point)[2])
        return self._at[1]
