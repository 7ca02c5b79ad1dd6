"""Solving with information + precision * I, scaled so that features of very different size do not spoil it."""

from __future__ import annotations

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats

_BLOCK = 512
"""Rows that stay in a core's cache between their scaling and their product."""


class PositiveDefinite:
    """H = information + precision * I for a positive semi-definite `information` (k, k) and precision > 0.

    Factored as D R R^T D with D the root of the diagonal. Where rounding has pushed an eigenvalue of the information
    below zero (features far larger than the prior expects), eigenvalues are clipped at 0: they cannot be below it.
    """

    def __init__(self, information: Floats, precision: float) -> None:
        from scipy.linalg import lapack

        matrix = information.copy()
        matrix.flat[:: len(matrix) + 1] += precision
        self._scale = np.sqrt(np.diagonal(matrix))
        matrix /= np.outer(self._scale, self._scale)
        # The transpose is what LAPACK takes as its own, so nothing is copied.
        self._lower, failed = matrix.T, 0
        if len(matrix):
            self._lower, failed = lapack.dpotrf(self._lower, lower=1, overwrite_a=1)
        if failed:
            values, vectors = np.linalg.eigh(information)
            root = vectors * np.sqrt(np.maximum(values, 0.0) + precision)
            self._scale = np.ones(len(matrix))
            self._lower = np.linalg.qr(root.T)[1].T

    def inverse(self) -> Floats:
        """(k, k) H^-1."""
        from scipy.linalg import lapack

        if not len(self._scale):
            return np.empty((0, 0))
        inverse: Floats = lapack.dpotri(self._lower, lower=1)[0].T
        inverse /= np.outer(self._scale, self._scale)
        mirror(inverse)
        return inverse

    def inverse_root(self) -> Floats:
        """(k, k) root with root @ root.T = H^-1."""
        from scipy.linalg import solve_triangular

        inverse = solve_triangular(self._lower, np.eye(len(self._scale)), lower=True, check_finite=False)
        root: Floats = inverse.T / self._scale[:, None]
        return root


def gram(features: Floats, weight: Floats) -> Floats:
    """(k, k) X^T diag(weight) X of features X (n, k) and weights (n,) >= 0; memory does not grow with n."""
    from scipy.linalg import blas

    columns = features.shape[1]
    total, root = np.zeros((columns, columns)), np.sqrt(weight)[:, None]
    for start in range(0, len(features) if columns else 0, _BLOCK):
        block = slice(start, start + _BLOCK)
        # The transposes are what BLAS takes as its own, so it copies nothing, and its lower triangle is our upper one.
        blas.dsyrk(1.0, (root[block] * features[block]).T, 1.0, total.T, lower=1, overwrite_c=1)
    mirror(total)
    return total


def invert(matrix: Floats) -> None:
    """The inverse of a positive definite matrix, in place; only the upper triangle is read."""
    from scipy.linalg import lapack

    if not len(matrix):
        return
    # The transpose is what LAPACK takes as its own, so nothing is copied.
    lower, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=0)
    if not failed:
        _, failed = lapack.dpotri(lower, lower=1, overwrite_c=1)
    if failed:
        raise ArithmeticError("the answers' precision matrix is not positive definite; please report the study")
    mirror(matrix)


def root_of(covariance: Floats) -> Floats:
    """(k, k) root with root @ root.T = covariance, for a positive semi-definite covariance."""
    from scipy.linalg import LinAlgError, cholesky

    symmetric = 0.5 * (covariance + covariance.T)
    try:
        lower: Floats = cholesky(symmetric, lower=True, check_finite=False)
        return lower
    except LinAlgError:
        values, vectors = np.linalg.eigh(symmetric)
        root: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
        return root


@compiled
def mirror(matrix: Floats) -> None:
    """Copy the upper triangle of a square matrix over the lower one, in place, block by block."""
    size = matrix.shape[0]
    for top in range(0, size, 64):
        for first in range(top, size, 64):
            for row in range(top, min(top + 64, size)):
                for column in range(max(first, row + 1), min(first + 64, size)):
                    matrix[column, row] = matrix[row, column]
