"""A belief whose covariance is a dense matrix less a factor, and the owner of that matrix.

n  items     q  answers since the matrix was last changed     S  covariance     z = e_left - e_right
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.belief import Belief, Curvature, History, Taken, rounding_of
from ordinate.learning.belief.loops import Pieces, differences

_FEW_PIECES = 16
"""Fewer rank-one pieces stay in the factor at a refit: a pass over the matrix would cost more time than they do."""

_SPARSE = 0.5
"""Where fewer than this share of the rows of a factor are not 0, only these are multiplied."""


class _Piece(NamedTuple):
    """What an answer of this curvature to a pair took off S: column column^T, column = scale S z."""

    left: int
    right: int
    curvature: float
    scale: float


class _Base:
    """The (n, n) matrix that dense beliefs share, its free items, and its lower root once somebody draws from it."""

    def __init__(self, matrix: Floats, free: NDArray[np.bool_] | None) -> None:
        self._matrix: Floats | None = matrix
        self.free = free
        self.no_residual = np.zeros(len(matrix))
        self._lower: Floats | None = None

    @property
    def matrix(self) -> Floats:
        if self._matrix is None:
            raise RuntimeError("the memory of this belief has gone to the covariance of a later refit")
        return self._matrix

    def root(self) -> Floats:
        """(n, n) root with root @ root.T = matrix."""
        if self._lower is None:
            from scipy.linalg import LinAlgError, cholesky

            try:
                self._lower = cholesky(self.matrix, lower=True, check_finite=False)
            except LinAlgError:  # as where two items are known to be alike
                values, vectors = np.linalg.eigh(self.matrix)
                self._lower = vectors * np.sqrt(np.maximum(values, 0.0))
        return self._lower

    def take(self) -> Floats:
        """The matrix, for whoever changes it; no belief that shares it works any more."""
        matrix, self._matrix, self._lower = self.matrix, None, None
        return matrix


@dataclass(frozen=True, eq=False)
class DenseBelief:
    """Covariance base - factor @ factor.T: beliefs share the base, and each answer adds a column to the factor.

    mean    (n,)
    factor  (n, q)
    taken   what each column stands for
    """

    mean: Floats
    base: _Base
    factor: Floats
    history: History = field(default_factory=History)
    taken: tuple[_Piece, ...] = ()
    many_items = None

    @cached_property
    def variance(self) -> Floats:
        taken: Floats = np.einsum("nk,nk->n", self.factor, self.factor)
        return np.maximum(np.diagonal(self.base.matrix) - taken, 0.0)

    @cached_property
    def free(self) -> NDArray[np.bool_] | None:
        if self.base.free is None:
            return None
        free = self.base.free.copy()
        for piece in self.taken:
            free[piece.left] = free[piece.right] = False
        return free

    @property
    def rounding(self) -> float:
        largest = max(float(self.variance.max()), float(np.diagonal(self.base.matrix).max()))
        return rounding_of(largest, self.factor.shape[1])

    @property
    def pieces(self) -> Pieces:
        return Pieces(self.base.matrix, self.base.no_residual, self.factor, -1.0)

    def differences(self, left: Integers, right: Integers) -> tuple[Floats, Floats]:
        margins, variances = differences(self.mean, self.pieces, left, right)
        return margins, variances

    def covariance(self, rows: Integers | slice, columns: Integers | slice) -> Floats:
        matrix = self.base.matrix
        if isinstance(rows, slice) and isinstance(columns, slice):
            tile = matrix[rows, columns]
        else:
            every = np.arange(len(self.mean))
            tile = matrix[np.ix_(every[rows], every[columns])]
        if self.factor.shape[1]:
            tile = tile - self.factor[rows] @ self.factor[columns].T
        return np.ascontiguousarray(tile)

    def covariance_with(self, rows: Integers, others: Integers, shares: Floats) -> Floats:
        found: Floats = (shares @ self.base.matrix[others])[rows]
        if self.factor.shape[1]:
            found -= self.factor[rows] @ (self.factor[others].T @ shares)
        return found

    def shrink(self, left: int, right: int, curvature: float) -> DenseBelief:
        return self.shrink_all([(left, right)], lambda margin, variance: curvature)

    def shrink_all(self, pairs: Sequence[tuple[int, int]], curvature: Curvature) -> DenseBelief:
        matrix, done, history, pieces = self.base.matrix, self.factor.shape[1], self.history, list(self.taken)
        factor = np.empty((len(self.mean), done + len(pairs)))
        factor[:, :done] = self.factor
        for count, (left, right) in enumerate(pairs, done):
            direction = matrix[left] - matrix[right]
            if count:
                direction -= factor[:, :count] @ (factor[left, :count] - factor[right, :count])
            variance = max(float(direction[left] - direction[right]), 0.0)
            slope = curvature(float(self.mean[left] - self.mean[right]), variance)
            scale = math.sqrt(slope / (1.0 + slope * variance))
            np.multiply(direction, scale, out=factor[:, count])
            history = history.extended(Taken(left, right, slope))
            pieces.append(_Piece(left, right, slope, scale))
        return DenseBelief(self.mean, self.base, factor, history, tuple(pieces))

    def with_mean(self, mean: Floats) -> DenseBelief:
        return replace(self, mean=mean, history=History())

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Draws for the base, each moved to where it agrees with the answers since (Matheron's rule).

        An answer of curvature s is a measurement of f_left - f_right with noise of variance 1 / s. With a draw e of
        that noise a draw f becomes f - S z (f_left - f_right - measured + e) / (v + 1 / s), and S z / (v + 1 / s) is
        scale * column. The mean stays, so what was measured is what was expected.
        """
        draws: Floats = rng.standard_normal((size, len(self.mean))) @ self.base.root().T
        for column, (left, right, curvature, scale) in zip(self.factor.T, self.taken, strict=True):
            if curvature > 0.0:
                surprise = draws[:, left] - draws[:, right] + rng.standard_normal(size) / math.sqrt(curvature)
                draws -= np.outer(surprise, scale * column)
        draws += self.mean
        return draws


class DenseCovariance:
    """Owner of an (n, n) covariance over refits that keep it. A second matrix would double the memory."""

    def __init__(self, matrix: Floats, free: NDArray[np.bool_] | None = None) -> None:
        """The matrix is given up to the owner; free (n,) says which items are (see `Belief.free`)."""
        self._belief = DenseBelief(np.zeros(len(matrix)), _Base(matrix, free), np.empty((len(matrix), 0)))
        # What it was before the last belief that it absorbed, and that belief's factor.
        self._before, self._absorbed = self._belief, self._belief.factor

    @classmethod
    def load(cls, path: Path) -> DenseCovariance:
        """What `save` wrote."""
        return cls(np.load(path))

    def save(self, path: Path) -> None:
        """Write a covariance that nothing was taken off yet."""
        np.save(path, self._belief.base.matrix)

    def belief(self, mean: Floats) -> DenseBelief:
        return self._belief.with_mean(mean)

    def times(self, vector: Floats) -> Floats:
        """(n,) S @ vector, of a covariance that nothing was taken off yet."""
        product: Floats = self._belief.base.matrix @ vector
        return product

    def absorb(self, belief: Belief) -> None:
        """Many pieces of the belief go into the matrix, in place; all beliefs given so far then stop working."""
        if not isinstance(belief, DenseBelief):
            raise TypeError(f"a {type(belief).__name__} is not one of a dense covariance")
        self._before, self._absorbed = self._belief, belief.factor
        if belief.factor.shape[1] >= _FEW_PIECES:
            matrix = belief.base.take()
            add_product(matrix, belief.factor, -1.0)
            belief = DenseBelief(belief.mean, _Base(matrix, belief.free), np.empty((len(matrix), 0)))
        self._belief = belief

    def restore(self) -> None:
        if self._absorbed.shape[1] >= _FEW_PIECES:
            matrix = self._belief.base.take()
            add_product(matrix, self._absorbed, 1.0)
            self._before = replace(self._before, base=_Base(matrix, self._before.base.free))
        self._belief, self._absorbed = self._before, self._before.factor[:, :0]


def add_product(matrix: Floats, factor: Floats, sign: float) -> None:
    """matrix + sign * factor @ factor.T, in place, for a symmetric matrix (n, n) and a factor (n, k)."""
    if not factor.shape[1]:
        return
    rows = np.flatnonzero(factor.any(axis=1))
    if len(rows) < _SPARSE * len(matrix):
        add_block((sign * factor[rows]) @ factor[rows].T, rows, matrix)
        return
    from scipy.linalg.blas import dgemm

    # In the column order of BLAS the transpose needs no copy.
    dgemm(sign, factor, factor, 1.0, matrix.T, trans_b=1, overwrite_c=1)


@compiled
def add_block(block: Floats, rows: Integers, matrix: Floats) -> None:
    """matrix[rows][:, rows] += block, in place."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[0]):
            matrix[rows[row], rows[column]] += block[row, column]
