"""A = (I / item_variance + L)^-1 over the compared items: its diagonal, products with it, or all of it.

t  compared items     L (t, t) Laplacian of the answered pairs, of the given weights

A 1 = item_variance 1, so right sides are solved without their mean, which converges faster.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.models.cholesky import invert
from ordinate.learning.models.inverse_diagonal import adjacency, inverse_diagonal
from ordinate.learning.models.likelihood import PairCounts, sum_by_item
from ordinate.learning.models.pair_loops import laplacian_columns, solve_columns

_QUICKLY_INVERTED = 1000
"""Up to so many items an inverse is faster than 64 columns at a time."""
_INVERSE_FITS = 12_000
"""Up to so many items an inverse fits in memory, at 1.2 GB."""
_ACCURATE = 1e-6
"""Of a variance, so that a standard error is within half of that."""
_FEW_PRODUCTS = 12
"""More would take longer than the inverse, and more digits than float32 has."""
_MOST_PRODUCTS = 10_000


class ItemCovariance:
    """Of pairs of the compared items, with weights (p,)."""

    def __init__(
        self,
        pairs: PairCounts,
        weight: Floats,
        items: int,
        item_variance: float,
        quickly_inverted: int = _QUICKLY_INVERTED,
        inverse_fits: int = _INVERSE_FITS,
    ) -> None:
        self._quickly_inverted, self._inverse_fits = quickly_inverted, inverse_fits
        self.pairs, self.item_variance, self.items = pairs, item_variance, items
        self.weight = weight
        self.degree: Floats = sum_by_item(pairs, weight, items)

    def without_mean(self, columns: Floats) -> Floats:
        """(t, c) (I - A / item_variance) columns = A L columns: accurate also where columns share a large offset."""
        if not self.items:
            return columns
        flow = laplacian_columns(self.pairs.left, self.pairs.right, self.weight, columns)
        return self._solve(flow)

    def times(self, vector: Floats) -> Floats:
        """(t,) A @ vector."""
        mean = vector.mean() if self.items else 0.0
        product: Floats = self._solve((vector - mean)[:, None])[:, 0] + self.item_variance * mean
        return product

    @cached_property
    def diagonal(self) -> Floats:
        """(t,) each within a millionth of itself."""
        if self.items <= self._quickly_inverted:
            return np.diagonal(self.dense(np.arange(self.items), self.items)).copy()
        precision = 1.0 / self.item_variance
        graph = adjacency(self.pairs.left, self.pairs.right, self.weight, self.items)
        system = (*graph, self.degree + precision, precision)
        # The condition of A, divided by its diagonal on both sides, is at most this, times float32's rounding.
        rounding = 2.0 * float((self.degree + precision).max()) / precision * float(np.finfo(np.float32).eps)
        work = np.empty((self.items, 64), dtype=np.float32)
        found, converged = inverse_diagonal(*system, work, rounding, _ACCURATE, _FEW_PRODUCTS)
        if converged:
            return found
        if self.items <= self._inverse_fits:
            return np.diagonal(self.dense(np.arange(self.items), self.items)).copy()
        found, converged = inverse_diagonal(*system, np.empty((self.items, 64)), 0.0, _ACCURATE, _MOST_PRODUCTS)
        if not converged:
            raise ArithmeticError("the variances of the items did not converge; please report the study")
        return found

    def dense(self, rows: Integers, size: int) -> Floats:
        """(size, size) A with the compared items at these rows, among others that nobody compared."""
        matrix = np.zeros((size, size))
        matrix.flat[:: size + 1] = 1.0 / self.item_variance
        matrix[rows[self.pairs.left], rows[self.pairs.right]] = -self.weight
        matrix[rows, rows] += self.degree
        invert(matrix)
        return matrix

    def _solve(self, right: Floats) -> Floats:
        pairs = self.pairs
        return solve_columns(
            pairs.left, pairs.right, self.weight, self.degree, self.item_variance, right, _MOST_PRODUCTS
        )
