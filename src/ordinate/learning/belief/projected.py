"""A belief about many items: a `FactoredBelief` whose factor, features @ root, is never computed for all of them.

n  items     k  columns of the features     r  some rows
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.learning.belief import Curvature, History, rounding_of, shrink_in_turn
from ordinate.learning.belief.factored import FactoredBelief, rank_one_step
from ordinate.learning.belief.loops import Pieces

_BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class ProjectedBelief:
    """An answer changes the root (k, k) and two residuals alone.

    mean, residual  (n,)
    features        (n, k) float32, shared by all beliefs of a study
    refit           the belief right after the refit, None if that is this one
    taken           the pair and the curvature of each `shrink` since
    """

    mean: Floats
    features: Singles
    residual: Floats
    root: Floats
    history: History = field(default_factory=History)
    refit: ProjectedBelief | None = None
    taken: tuple[tuple[int, int, float], ...] = ()
    free = None

    @property
    def at_refit(self) -> ProjectedBelief:
        return self if self.refit is None else self.refit

    @property
    def many_items(self) -> ProjectedBelief:
        return self

    @cached_property
    def variance(self) -> Floats:
        squared = np.empty(len(self.mean))
        for block in row_blocks(len(squared)):
            factor = self._factor(block)
            np.einsum("nk,nk->n", factor, factor, out=squared[block])
        return squared + self.residual

    @property
    def rounding(self) -> float:
        return rounding_of(float(self.variance.max()), len(self.root))

    @cached_property
    def pieces(self) -> Pieces:
        """Takes (n, k) float64: where there are not that many items after all."""
        return FactoredBelief(self.mean, self._factor(slice(None)), self.residual).pieces

    def differences(self, left: Integers, right: Integers) -> tuple[Floats, Floats]:
        rows, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        among = FactoredBelief(self.mean[rows], self._factor(rows), self.residual[rows])
        return among.differences(places[: len(left)], places[len(left) :])

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        product: Floats = self._factor(rows) @ self._factor(columns).T
        return product

    def covariance_with(self, rows: Integers, others: Integers, shares: Floats) -> Floats:
        own = np.zeros(len(self.mean))
        own[others] = shares * self.residual[others]
        direction = (self.root @ (self._factor(others).T @ shares)).astype(np.float32)
        found = own[rows]
        for block in row_blocks(len(rows)):
            found[block] += self.features[rows[block]] @ direction
        return found

    def shrink(self, left: int, right: int, curvature: float) -> ProjectedBelief:
        pair = self._factor(np.array([left, right]))
        contrast = pair[0] - pair[1]
        step, residual, taken = rank_one_step(contrast, self.residual, left, right, curvature)
        return replace(
            self,
            root=self.root - np.outer(self.root @ contrast, step * contrast),
            residual=residual,
            history=self.history.extended(taken),
            refit=self.at_refit,
            taken=(*self.taken, (left, right, curvature)),
        )

    def shrink_all(self, pairs: Sequence[tuple[int, int]], curvature: Curvature) -> ProjectedBelief:
        return shrink_in_turn(self, pairs, curvature)

    def with_mean(self, mean: Floats) -> ProjectedBelief:
        return ProjectedBelief(mean, self.features, self.residual, self.root)

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        shared = (rng.standard_normal((size, len(self.root))) @ self.root.T).astype(np.float32)
        draws: Floats = self.mean + shared @ self.features.T
        if self.residual.any():
            draws += rng.standard_normal(draws.shape) * np.sqrt(self.residual)
        return draws

    def _factor(self, rows: Integers | slice) -> Floats:
        product: Floats = self.features[rows].astype(np.float64) @ self.root
        return product


def row_blocks(count: int) -> Iterator[slice]:
    """Rows 0..count - 1, a bounded number at a time."""
    for start in range(0, count, _BLOCK):
        yield slice(start, min(start + _BLOCK, count))


def mean_row(features: Floats | Singles, rows: Integers) -> Floats:
    """(k,) the mean of some rows of features (n, k)."""
    total = np.zeros(features.shape[1])
    for block in row_blocks(len(rows)):
        total += features[rows[block]].sum(axis=0, dtype=np.float64)
    return total / max(len(rows), 1)
