"""The compiled loops of beliefs, and the one form of a covariance that they know.

    n  items     k  columns of a factor     P  pairs     m_ij = mean_i - mean_j     v_ij = variance of f_i - f_j

Pairs are unordered and written i < j. The variance of a difference is a sum of three pieces:
    v_ij = base_ii + base_jj - 2 base_ij        (a dense matrix, or an empty one)
         + residual_i + residual_j
         + sign * ||factor_i - factor_j||^2     (+1: the factor is the covariance; -1: it was taken off the base)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers


class Pieces(NamedTuple):
    """base (n, n) or (0, 0), residual (n,), factor (n, k), sign +1 or -1."""

    base: Floats
    residual: Floats
    factor: Floats
    sign: float


@compiled
def difference_variance(base: Floats, residual: Floats, factor: Floats, sign: float, i: int, j: int) -> float:
    """v_ij with one order of summation, so that it has the same bits wherever it is computed."""
    squared = 0.0
    for column in range(factor.shape[1]):
        gap = factor[i, column] - factor[j, column]
        squared += gap * gap
    variance: float = residual[i] + residual[j] + sign * squared
    if base.shape[0]:
        variance += base[i, i] + base[j, j] - 2.0 * base[i, j]
    return max(variance, 0.0)


@compiled
def differences(mean: Floats, pieces: Pieces, left: Integers, right: Integers) -> tuple[Floats, Floats]:
    """m and v, each (P,), of the pairs left[p], right[p]; no (P, k) array of differences is made."""
    base, residual, factor, sign = pieces
    margins = np.empty(left.shape[0])
    variances = np.empty(left.shape[0])
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        margins[pair] = mean[i] - mean[j]
        # i < j, so that (i, j) and (j, i) get the same bits.
        variances[pair] = difference_variance(base, residual, factor, sign, min(i, j), max(i, j))
    return margins, variances


@fast
def without_direction(factor: Floats, contrast: Floats, step: float) -> tuple[Floats, Floats]:
    """(n, k) factor @ (I - step * contrast @ contrast.T) and its rows' squared lengths, in one pass over the memory."""
    shrunk, squared = np.empty_like(factor), np.empty(factor.shape[0])
    for row in range(factor.shape[0]):
        along = 0.0
        for column in range(factor.shape[1]):
            along += factor[row, column] * contrast[column]
        along *= step
        length = 0.0
        for column in range(factor.shape[1]):
            left = factor[row, column] - along * contrast[column]
            shrunk[row, column] = left
            length += left * left
        squared[row] = length
    return shrunk, squared
