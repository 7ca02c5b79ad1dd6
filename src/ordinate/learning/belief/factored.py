"""A belief whose covariance is a factor and a residual per item, and the rank-one step that shrinks it.

n  items     k  columns of the factor
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.belief import Curvature, History, Taken, rounding_of, shrink_in_turn
from ordinate.learning.belief.loops import Pieces, differences, without_direction

_NO_BASE = np.empty((0, 0))
_FEW = 3
"""So many pairs are faster taken off one after the other."""


@dataclass(frozen=True, eq=False)
class FactoredBelief:
    """Covariance factor @ factor.T + diag(residual): O(n k) memory.

    Exact for the contextual model (residual 0). With a residual per item, the cross terms that an answer creates
    between coefficients and residuals are dropped, as the paper does (appendix on experiments, hybrid algorithms).

    mean, residual  (n,)
    factor          (n, k)
    """

    mean: Floats
    factor: Floats
    residual: Floats
    history: History = field(default_factory=History)
    many_items = None
    free = None

    @cached_property
    def variance(self) -> Floats:
        squared: Floats = np.einsum("nk,nk->n", self.factor, self.factor)
        return squared + self.residual

    @property
    def rounding(self) -> float:
        return rounding_of(float(self.variance.max()), self.factor.shape[1])

    @property
    def pieces(self) -> Pieces:
        return Pieces(_NO_BASE, self.residual, self.factor, 1.0)

    def differences(self, left: Integers, right: Integers) -> tuple[Floats, Floats]:
        margins, variances = differences(self.mean, self.pieces, left, right)
        return margins, variances

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        product: Floats = self.factor[rows] @ self.factor[columns].T
        return product

    def covariance_with(self, rows: Integers, others: Integers, shares: Floats) -> Floats:
        own = np.zeros(len(self.mean))
        own[others] = shares * self.residual[others]
        shared: Floats = self.factor[rows] @ (self.factor[others].T @ shares)
        return shared + own[rows]

    def shrink(self, left: int, right: int, curvature: float) -> FactoredBelief:
        contrast = self.factor[left] - self.factor[right]
        step, residual, taken = rank_one_step(contrast, self.residual, left, right, curvature)
        factor, squared = without_direction(self.factor, contrast, step)
        belief = FactoredBelief(self.mean, factor, residual, self.history.extended(taken))
        belief.__dict__["variance"] = squared + residual
        return belief

    def shrink_all(self, pairs: Sequence[tuple[int, int]], curvature: Curvature) -> FactoredBelief:
        if len(pairs) <= _FEW:
            return shrink_in_turn(self, pairs, curvature)
        # The factor becomes factor @ turn, so that the items' memory is read once, not for each pair.
        turn, residual, history = np.eye(self.factor.shape[1]), self.residual, self.history
        for left, right in pairs:
            contrast = (self.factor[left] - self.factor[right]) @ turn
            variance = float(contrast @ contrast + residual[left] + residual[right])
            slope = curvature(float(self.mean[left] - self.mean[right]), variance)
            step, residual, taken = rank_one_step(contrast, residual, left, right, slope)
            turn -= np.outer(turn @ contrast, step * contrast)
            history = history.extended(taken)
        return FactoredBelief(self.mean, self.factor @ turn, residual, history)

    def with_mean(self, mean: Floats) -> FactoredBelief:
        return replace(self, mean=mean, history=History())

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        shared = rng.standard_normal((size, self.factor.shape[1])) @ self.factor.T
        own = rng.standard_normal((size, len(self.mean))) * np.sqrt(self.residual)
        draws: Floats = self.mean + shared + own
        return draws


def rank_one_step(
    contrast: Floats, residual: Floats, left: int, right: int, curvature: float
) -> tuple[float, Floats, Taken]:
    """What an answer of this curvature does to a factor and to residuals (n,), by Sherman and Morrison.

    contrast (k,) = factor_left - factor_right. Returns the step t, so that the factor becomes
    factor @ (I - t contrast contrast^T); the new residuals; and the precisions that this adds.
    """
    length = float(contrast @ contrast)
    own = float(residual[left] + residual[right])
    rate = curvature / (1.0 + curvature * (length + own))
    # rate = s / (1 + s |contrast|^2) for the factor and t / (1 + t residual) for a residual, with these s and t.
    taken = Taken(
        left,
        right,
        curvature / (1.0 + curvature * own),
        (rate / (1.0 - rate * float(residual[left])), rate / (1.0 - rate * float(residual[right])))
        if own
        else (0.0, 0.0),
    )
    if own > 0.0:
        residual = residual.copy()
        for item in (left, right):
            residual[item] -= rate * residual[item] ** 2
    # So the covariance becomes factor @ (I - rate contrast contrast^T) @ factor.T.
    return rate / (1.0 + math.sqrt(max(1.0 - rate * length, 0.0))), residual, taken
