"""The seam between models and strategies: a Gaussian over item scores that shrinks as answers come in.

    n  items     k  columns of a factor     f_i  score of item i
    z = e_i - e_j     m_ij, v_ij  mean and variance of f_i - f_j

A belief is a value. Between refits an answer, or an open query, takes a rank-one piece off the covariance (Sherman and
Morrison; the paper, section 4):   Sigma <- Sigma - s u u^T / (1 + s v_ij),   u = Sigma z,   s = curvature at m_ij.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.learning.belief_loops import differences, without_direction
from ordinate.learning.logistic import logistic_slope

_TILE_CELLS = 1 << 17
"""A tile of covariances of this many float64 (1 MB) stays in a core's cache between its product and its scan."""
_BLOCK = 1 << 14
_FEW_PIECES = 16
"""Taking fewer rank-one pieces into an (n, n) base costs more time, going through memory, than keeping them apart."""


@dataclass(frozen=True, eq=False, slots=True)
class History:
    """What a belief has been through since its fit: one link per rank-one piece, known by identity.

    A belief that continues another has the same mean, and no variance of a difference above the other's.
    """

    previous: History | None = None
    length: int = 0

    def extended(self) -> History:
        return History(self, self.length + 1)

    def continues(self, other: History) -> bool:
        """Whether this is the other one with any number of pieces (also none) taken off since."""
        link: History | None = self
        for _ in range(self.length - other.length):
            link = link.previous if link is not None else None
        return link is other


class Belief(Protocol):
    """mean (n,), and the pieces of v_ij that kernels.py describes."""

    @property
    def mean(self) -> Floats: ...
    @property
    def history(self) -> History: ...
    @property
    def base(self) -> Floats: ...
    @property
    def residual(self) -> Floats: ...
    @property
    def factor(self) -> Floats: ...
    @property
    def sign(self) -> float: ...
    @property
    def variance(self) -> Floats:
        """(n,) marginal variances."""

    @property
    def rounding(self) -> float:
        """More than the rounding error of any variance of a difference; each later `shrink` may add as much again."""

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        """Covariances of distinct items; the cells of an item with itself lack its residual."""

    def shrink(self, left: int, right: int, curvature: float) -> Belief:
        """The belief after one more answer of this curvature to a pair, whatever the answer; the mean stays."""

    def settle(self, mean: Floats) -> Belief:
        """The belief with a new mean, at a refit that keeps the covariance; may reuse this belief's arrays.

        So this belief, and what it was made from or has become by `shrink`, must not be used any more.
        """

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """(size, n) draws of the scores."""


@dataclass(frozen=True, eq=False)
class FactoredBelief:
    """Covariance factor @ factor.T + diag(residual): O(n k) memory.

    Exact for the contextual model (residual 0). With a residual per item, the cross terms that an answer creates
    between coefficients and residuals are dropped, as the paper does (appendix on experiments, hybrid algorithms).
    """

    mean: Floats
    factor: Floats
    residual: Floats
    history: History = field(default_factory=History)
    sign = 1.0
    base = np.empty((0, 0))

    @cached_property
    def variance(self) -> Floats:
        squared: Floats = np.einsum("nk,nk->n", self.factor, self.factor)
        return squared + self.residual

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        product: Floats = self.factor[rows] @ self.factor[columns].T
        return product

    @property
    def rounding(self) -> float:
        return rounding_of(float(self.variance.max()), self.factor.shape[1])

    def shrink(self, left: int, right: int, curvature: float) -> FactoredBelief:
        contrast = self.factor[left] - self.factor[right]
        length = float(contrast @ contrast)
        variance = length + self.residual[left] + self.residual[right]
        rate = curvature / (1.0 + curvature * variance)
        # factor (I - step w w^T) has the covariance factor (I - rate w w^T) factor^T.
        step = rate / (1.0 + math.sqrt(max(1.0 - rate * length, 0.0)))
        factor, squared = without_direction(self.factor, contrast, step)
        residual = self.residual
        if residual[left] > 0.0 or residual[right] > 0.0:
            residual = residual.copy()
            for item in (left, right):
                residual[item] -= rate * residual[item] ** 2
        belief = FactoredBelief(self.mean, factor, residual, self.history.extended())
        belief.__dict__["variance"] = squared + residual
        return belief

    def settle(self, mean: Floats) -> FactoredBelief:
        return replace(self, mean=mean, history=History())

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        shared = rng.standard_normal((size, self.factor.shape[1])) @ self.factor.T
        own = rng.standard_normal((size, len(self.mean))) * np.sqrt(self.residual)
        draws: Floats = self.mean + shared + own
        return draws


@dataclass(frozen=True, eq=False)
class ProjectedBelief:
    """A `FactoredBelief` of many items: its factor is features @ root, and is never written down for all of them.

    features (n, k) float32 are shared by all beliefs of a study; an answer changes root (k, k) and two residuals alone.

    refit  the belief right after the refit, None if that is this one
    taken  the pair and the curvature of each `shrink` since
    """

    mean: Floats
    features: Singles
    residual: Floats
    root: Floats
    history: History = field(default_factory=History)
    refit: ProjectedBelief | None = None
    taken: tuple[tuple[int, int, float], ...] = ()
    sign = 1.0
    base = np.empty((0, 0))

    @property
    def at_refit(self) -> ProjectedBelief:
        return self if self.refit is None else self.refit

    @cached_property
    def factor(self) -> Floats:
        """(n, k) float64: for small numbers of items alone."""
        return self._factor(slice(None))

    @cached_property
    def variance(self) -> Floats:
        squared = np.empty(len(self.mean))
        for block in blocks(len(squared)):
            factor = self._factor(block)
            np.einsum("nk,nk->n", factor, factor, out=squared[block])
        return squared + self.residual

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        product: Floats = self._factor(rows) @ self._factor(columns).T
        return product

    @property
    def rounding(self) -> float:
        return rounding_of(float(self.variance.max()), len(self.root))

    def shrink(self, left: int, right: int, curvature: float) -> ProjectedBelief:
        pair = FactoredBelief(
            self.mean[[left, right]], self._factor(np.array([left, right])), self.residual[[left, right]]
        )
        contrast = pair.factor[0] - pair.factor[1]
        length = float(contrast @ contrast)
        rate = curvature / (1.0 + curvature * (length + float(pair.residual.sum())))
        step = rate / (1.0 + math.sqrt(max(1.0 - rate * length, 0.0)))
        residual = self.residual
        if pair.residual.any():
            residual = residual.copy()
            residual[[left, right]] -= rate * pair.residual**2
        return replace(
            self,
            root=self.root - np.outer(self.root @ contrast, step * contrast),
            residual=residual,
            history=self.history.extended(),
            refit=self.at_refit,
            taken=(*self.taken, (left, right, curvature)),
        )

    def settle(self, mean: Floats) -> ProjectedBelief:
        return ProjectedBelief(mean, self.features, self.residual, self.root)

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        shared = (rng.standard_normal((size, len(self.root))) @ self.root.T).astype(np.float32)
        draws = self.mean + shared @ self.features.T
        if self.residual.any():
            draws += rng.standard_normal(draws.shape) * np.sqrt(self.residual)
        return draws

    def of(self, left: Integers, right: Integers) -> tuple[FactoredBelief, Integers, Integers]:
        """The belief about the items of some pairs, and the pairs by its rows."""
        rows, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        small = FactoredBelief(self.mean[rows], self._factor(rows), self.residual[rows])
        return small, places[: len(left)], places[len(left) :]

    def _factor(self, rows: Integers | slice) -> Floats:
        product: Floats = self.features[rows].astype(np.float64) @ self.root
        return product


def blocks(count: int) -> Iterator[slice]:
    """Rows 0..count - 1, some at a time."""
    for start in range(0, count, _BLOCK):
        yield slice(start, min(start + _BLOCK, count))


def mean_row(features: Floats | Singles, rows: Integers) -> Floats:
    """(k,) the mean of some rows of features."""
    total = np.zeros(features.shape[1])
    for block in blocks(len(rows)):
        total += features[rows[block]].sum(axis=0, dtype=np.float64)
    return total / max(len(rows), 1)


class _Taken(NamedTuple):
    """What an answer of this curvature to a pair took off a covariance S: column column^T, column = scale S z."""

    left: int
    right: int
    curvature: float
    scale: float


class _Root:
    """(n, n) lower root of a covariance, made when somebody first draws from it."""

    _lower: Floats | None = None

    def of(self, covariance: Floats) -> Floats:
        """Always the same covariance."""
        if self._lower is None:
            from scipy.linalg import LinAlgError, cholesky

            try:
                self._lower = cholesky(covariance, lower=True, check_finite=False)
            except LinAlgError:  # as where two items are known to be alike
                values, vectors = np.linalg.eigh(covariance)
                self._lower = vectors * np.sqrt(np.maximum(values, 0.0))
        return self._lower


@dataclass(frozen=True, eq=False)
class DenseBelief:
    """Covariance base - factor @ factor.T: the base is shared, each answer since adds a column to the factor.

    taken  what each column stands for
    root   the base's, shared like it
    """

    mean: Floats
    base: Floats
    factor: Floats
    history: History = field(default_factory=History)
    taken: tuple[_Taken, ...] = ()
    root: _Root = field(default_factory=_Root)
    sign = -1.0

    @cached_property
    def residual(self) -> Floats:
        return np.zeros(len(self.mean))

    @cached_property
    def variance(self) -> Floats:
        taken: Floats = np.einsum("nk,nk->n", self.factor, self.factor)
        return np.maximum(np.diagonal(self.base) - taken, 0.0)

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        if isinstance(rows, slice) and isinstance(columns, slice):
            tile = self.base[rows, columns]
        else:
            every = np.arange(len(self.mean))
            tile = self.base[np.ix_(every[rows], every[columns])]
        if self.factor.shape[1]:
            tile = tile - self.factor[rows] @ self.factor[columns].T
        return np.ascontiguousarray(tile)

    @property
    def rounding(self) -> float:
        largest = max(float(self.variance.max()), float(np.diagonal(self.base).max()))
        return rounding_of(largest, self.factor.shape[1])

    def shrink(self, left: int, right: int, curvature: float) -> DenseBelief:
        direction = self.base[left] - self.base[right]
        if self.factor.shape[1]:
            direction = direction - self.factor @ (self.factor[left] - self.factor[right])
        variance = max(float(direction[left] - direction[right]), 0.0)
        scale = math.sqrt(curvature / (1.0 + curvature * variance))
        return replace(
            self,
            factor=np.column_stack([self.factor, scale * direction]),
            history=self.history.extended(),
            taken=(*self.taken, _Taken(left, right, curvature, scale)),
        )

    def settle(self, mean: Floats) -> DenseBelief:
        if self.factor.shape[1] < _FEW_PIECES:
            return replace(self, mean=mean, history=History())
        # A second (n, n) array would double the memory, and writing it costs more than the product.
        add_product(self.base, self.factor, -1.0)
        return DenseBelief(mean, self.base, np.empty((len(mean), 0)))

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Draws for the base, each taken to where it agrees with the answers since (Matheron's rule).

        An answer of curvature s is a measurement of f_left - f_right with noise of variance 1 / s. With a draw e of
        that noise a draw f becomes f - S z (f_left - f_right - measured + e) / (v + 1 / s), and S z / (v + 1 / s) is
        scale * column. The mean stays, so what was measured is what was expected.
        """
        draws: Floats = rng.standard_normal((size, len(self.mean))) @ self.root.of(self.base).T
        for column, (left, right, curvature, scale) in zip(self.factor.T, self.taken, strict=True):
            if curvature > 0.0:
                surprise = draws[:, left] - draws[:, right] + rng.standard_normal(size) / math.sqrt(curvature)
                draws -= np.outer(surprise, scale * column)
        draws += self.mean
        return draws


def add_product(matrix: Floats, factor: Floats, sign: float) -> None:
    """matrix + sign * factor @ factor.T, in place, for a symmetric matrix (n, n)."""
    if not factor.shape[1]:
        return
    from scipy.linalg.blas import dgemm

    # The transpose is what BLAS takes as its own.
    dgemm(sign, factor, factor, 1.0, matrix.T, trans_b=1, overwrite_c=1)


def rounding_of(largest: float, terms: int) -> float:
    """`Belief.rounding` of variances that are differences of terms up to `largest`, sums of so many products each.

    A sum of k products is off by at most about k roundings of the largest term.
    """
    return 16.0 * (terms + 16) * float(np.finfo(np.float64).eps) * largest


def difference(belief: Belief, left: Integers, right: Integers) -> tuple[Floats, Floats]:
    """m and v, each (P,), of pairs given by rows."""
    if isinstance(belief, ProjectedBelief):
        belief, left, right = belief.of(left, right)
    margins, variances = differences(belief.mean, belief.base, belief.residual, belief.factor, belief.sign, left, right)
    return margins, variances


def update(belief: Belief, left: int, right: int) -> Belief:
    """After an answer to the pair: curvature sigma'(m), the mean waits for the next refit (the paper's practice)."""
    return belief.shrink(left, right, logistic_slope(belief.mean[left] - belief.mean[right]))


def pending(belief: Belief, left: int, right: int) -> Belief:
    """With the pair asked and not answered yet.

    sigma'(m) misjudges what an answer will take off once v is about 1, so the slope is that of the probability with the
    score's uncertainty in it: s = kappa sigma'(kappa m), kappa = 1 / sqrt(1 + pi v / 8) (MacKay 1992).
    """
    margins, variances = difference(belief, np.array([left]), np.array([right]))
    kappa = 1.0 / math.sqrt(1.0 + math.pi * variances[0] / 8.0)
    return belief.shrink(left, right, kappa * logistic_slope(kappa * margins[0]))


def tiles(belief: Belief, rows: Integers) -> Iterator[tuple[int, Floats]]:
    """Blocks of the covariance among `rows`, as (first, block): block[a, b] is of rows[first + a] and rows[first + b].

    Only the upper triangle is covered; memory stays at one tile.
    """
    count = len(rows)
    contiguous = count == 0 or (rows[-1] - rows[0] == count - 1)
    first = 0
    while first < count:
        last = min(count, first + max(16, min(256, _TILE_CELLS // (count - first))))
        if contiguous:
            start = int(rows[0])
            yield first, belief.covariance(slice(start + first, start + last), slice(start + first, start + count))
        else:
            yield first, belief.covariance(rows[first:last], rows[first:])
        first = last
