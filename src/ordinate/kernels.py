"""The compiled inner loops: what runs once per pair or once per answer.

    n  items     k  columns of a factor     m_ij = mean_i - mean_j     v_ij = variance of f_i - f_j

Pairs are unordered and written i < j. The variance of a difference comes from three pieces that every belief has:
    v_ij = base_ii + base_jj - 2 base_ij        (a dense matrix, or an empty one)
         + residual_i + residual_j
         + sign * ||factor_i - factor_j||^2     (+1: the factor is the covariance; -1: it was taken off the base)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from ordinate.types import Floats, Integers, Singles

WIDEST = 340.0
"""Scores no further than this from their centre keep exp(m) and its products inside float64."""
ROUNDING = 1e-12
"""Differences below this share of their terms are rounding."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function, **options: Any) -> _Function:
    """The function compiled by Numba and cached on disk, or uncached where no cache folder can be written."""
    try:
        return cast(_Function, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(_Function, numba.njit(**options)(function))


def fast(function: _Function) -> _Function:
    """Compiled with sums and maxima free to be reordered, hence vectorised; results are near-ties' first sieve only."""
    return compiled(function, fastmath=True)


def interrupted(error: SystemError) -> bool:
    """Whether it is Ctrl-C that reached a compiled loop at certain moments: errors, each the cause of the next."""
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)


@compiled
def sigmoid(margin: float) -> float:
    """1 / (1 + exp(-m)), without overflow."""
    decay = math.exp(-abs(margin))
    return 1.0 / (1.0 + decay) if margin >= 0.0 else decay / (1.0 + decay)


@compiled
def logistic_slope(margin: float) -> float:
    """sigma'(m) = sigma(m) (1 - sigma(m)), without overflow."""
    decay = math.exp(-abs(margin))
    return decay / ((1.0 + decay) * (1.0 + decay))


@compiled
def linear_scores(features: Floats, coefficients: Floats) -> Floats:
    """(n,) features @ coefficients, each row in one order of summation: equal rows get equal scores, to the bit."""
    scores = np.empty(features.shape[0])
    for row in range(features.shape[0]):
        total = 0.0
        for column in range(features.shape[1]):
            total += features[row, column] * coefficients[column]
        scores[row] = total
    return scores


@compiled
def mirror(matrix: Floats) -> None:
    """Copy the upper triangle of a square matrix over the lower one, in place, block by block."""
    size = matrix.shape[0]
    for top in range(0, size, 64):
        for first in range(top, size, 64):
            for row in range(top, min(top + 64, size)):
                for column in range(max(first, row + 1), min(first + 64, size)):
                    matrix[column, row] = matrix[row, column]


@compiled
def place_block(block: Floats, rows: Integers, matrix: Floats) -> None:
    """matrix[rows][:, rows] = block, in place."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[0]):
            matrix[rows[row], rows[column]] = block[row, column]


@fast
def linear_scores_single(features: Singles, coefficients: Singles) -> Floats:
    """`linear_scores` of float32 features, vectorised; equal rows still get equal scores."""
    scores = np.empty(features.shape[0])
    for row in range(features.shape[0]):
        total = np.float32(0.0)
        for column in range(features.shape[1]):
            total += features[row, column] * coefficients[column]
        scores[row] = total
    return scores


@compiled
def difference_variance(base: Floats, residual: Floats, factor: Floats, sign: float, i: int, j: int) -> float:
    """v_ij by one fixed order of summation, so that it has the same bits wherever it is computed."""
    squared = 0.0
    for column in range(factor.shape[1]):
        gap = factor[i, column] - factor[j, column]
        squared += gap * gap
    variance: float = residual[i] + residual[j] + sign * squared
    if base.shape[0]:
        variance += base[i, i] + base[j, j] - 2.0 * base[i, j]
    return max(variance, 0.0)


@compiled
def differences(
    mean: Floats, base: Floats, residual: Floats, factor: Floats, sign: float, left: Integers, right: Integers
) -> tuple[Floats, Floats]:
    """m and v, each (P,), of the pairs left[p], right[p]; never a (P, k) array of differences."""
    margins = np.empty(left.shape[0])
    variances = np.empty(left.shape[0])
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        margins[pair] = mean[i] - mean[j]
        # i < j, so that (i, j) and (j, i) get the same bits.
        variances[pair] = difference_variance(base, residual, factor, sign, min(i, j), max(i, j))
    return margins, variances


@compiled
def pair_priority(seed: np.uint64, i: int, j: int) -> np.uint64:
    """A pseudo-random 64-bit number of the pair i < j (splitmix64): ties go to the largest, in whatever order met."""
    state = (np.uint64(i) << np.uint64(32)) ^ np.uint64(j) ^ seed
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def power_utility(margin: float, variance: float, exponent: int) -> float:
    """sigma'(m)^exponent * v for the exponents 0 and 2."""
    if exponent == 0:
        return variance
    slope = logistic_slope(margin)
    return slope * slope * variance


@compiled
def power_utilities(margin: Floats, variance: Floats, exponent: int) -> Floats:
    """`power_utility` of each pair, (P,)."""
    values = np.empty(margin.shape[0])
    for pair in range(margin.shape[0]):
        values[pair] = power_utility(margin[pair], variance[pair], exponent)
    return values


@compiled
def pair_priorities(seed: np.uint64, left: Integers, right: Integers) -> NDArray[np.uint64]:
    """`pair_priority` of each pair, (P,)."""
    values = np.empty(left.shape[0], dtype=np.uint64)
    for pair in range(left.shape[0]):
        values[pair] = pair_priority(seed, min(left[pair], right[pair]), max(left[pair], right[pair]))
    return values


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


@compiled
def wrong_order_sum(covariance: Floats, first_row: int, variance: Floats, mean: Floats) -> float:
    """Sum over the pairs of a tile of the probability that the sign of m is wrong, Phi(-|m| / sqrt(v))."""
    total = 0.0
    for tile_row in range(covariance.shape[0]):
        row = first_row + tile_row
        for column in range(tile_row + 1, covariance.shape[1]):
            other = first_row + column
            both = variance[row] + variance[other]
            spread = both - 2.0 * covariance[tile_row, column]
            gap = abs(mean[row] - mean[other])
            if spread > ROUNDING * both:
                total += 0.5 * math.erfc(gap / math.sqrt(2.0 * spread))
            elif gap <= ROUNDING * (1.0 + abs(mean[row])):
                # Items that the model cannot tell apart: what is left of their difference is rounding.
                total += 0.5
    return total


@compiled
def wrong_order_of(margin: Floats, variance: Floats) -> float:
    """Sum over pairs of Phi(-|m| / sqrt(v)); one half where nothing tells the two apart."""
    total = 0.0
    for pair in range(margin.shape[0]):
        if variance[pair] > 0.0:
            total += 0.5 * math.erfc(abs(margin[pair]) / math.sqrt(2.0 * variance[pair]))
        elif margin[pair] == 0.0:
            total += 0.5
    return total


@compiled
def triangle_pairs(start: int, stop: int, count: int) -> tuple[Integers, Integers]:
    """Positions (first < second) of the ranks start..stop - 1 in the upper triangle of `count` rows, row by row."""
    first = np.empty(stop - start, dtype=np.int64)
    second = np.empty(stop - start, dtype=np.int64)
    row, row_end = 0, count - 1
    while row_end <= start:
        row += 1
        row_end += count - 1 - row
    for rank in range(start, stop):
        if rank == row_end:
            row += 1
            row_end += count - 1 - row
        first[rank - start] = row
        second[rank - start] = count - (row_end - rank)
    return first, second


@compiled
def interpolate(table: Floats, x: Floats, y: Floats) -> Floats:
    """(P,) values between the nodes of a table, at coordinates in units of its cells: Lagrange, 6 x 6 nodes."""
    values = np.empty(x.shape[0])
    across, along = np.empty(6), np.empty(6)
    for point in range(x.shape[0]):
        row = min(max(int(x[point]) - 2, 0), table.shape[0] - 6)
        column = min(max(int(y[point]) - 2, 0), table.shape[1] - 6)
        _lagrange_weights(x[point] - row, across)
        _lagrange_weights(y[point] - column, along)
        total = 0.0
        for a in range(6):
            inner = 0.0
            for b in range(6):
                inner += along[b] * table[row + a, column + b]
            total += across[a] * inner
        values[point] = total
    return values


@compiled
def _lagrange_weights(place: float, weights: Floats) -> None:
    """The weights (6,) of nodes at 0..5 for a value at `place`."""
    zero, one, two, three, four, five = place, place - 1.0, place - 2.0, place - 3.0, place - 4.0, place - 5.0
    weights[0] = one * two * three * four * five / -120.0
    weights[1] = zero * two * three * four * five / 24.0
    weights[2] = zero * one * three * four * five / -12.0
    weights[3] = zero * one * two * four * five / 12.0
    weights[4] = zero * one * two * three * five / -24.0
    weights[5] = zero * one * two * three * four / 120.0
