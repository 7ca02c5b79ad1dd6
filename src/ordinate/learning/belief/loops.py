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
def differences(mean: Floats, pieces: Pieces, left: Integers, right: Integers) -> tuple[Floats, Floats]:
    """m and v, each (P,), of the pairs left[p], right[p]; no (P, k) array of differences is made."""
    base, residual, factor, sign = pieces
    margins, variances = np.empty(left.shape[0]), np.zeros(left.shape[0])
    if base.shape[0]:
        # In a loop of their own, because the processor then waits for many of these distant places at once.
        for pair in range(left.shape[0]):
            i, j = _ascending(left[pair], right[pair])
            variances[pair] = base[i, i] + base[j, j] - 2.0 * base[i, j]
    for pair in range(left.shape[0]):
        i, j = _ascending(left[pair], right[pair])
        squared = 0.0
        for column in range(factor.shape[1]):
            gap = factor[i, column] - factor[j, column]
            squared += gap * gap
        variances[pair] = max(residual[i] + residual[j] + sign * squared + variances[pair], 0.0)
        margins[pair] = mean[left[pair]] - mean[right[pair]]
    return margins, variances


@compiled
def _ascending(one: int, other: int) -> tuple[int, int]:
    """So that (i, j) and (j, i) get the same bits."""
    return min(one, other), max(one, other)


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
