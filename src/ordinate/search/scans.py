"""The compiled loops of the search among too many pairs: variances that shrink, and the best partner of each row.

The universe's features lie in chunks of CHUNK items, column by column (chunks, k, CHUNK): one item after another goes
through the same sum, many at a time, and a chunk stays in a core's cache for all rows that look at it.

u  items of the universe     k  columns     b  rows looked at     e = exp(mean / 2)
items (3, u): variance, e and 1 / e, of which sigma'(m_ij) = 1 / (e_i / e_j + e_j / e_i)^2
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ordinate.kernels import compiled, fast
from ordinate.types import Floats, Integers, Singles

CHUNK = 512
NONE = np.float32(-1.0)
"""The worth of a pair that may not be asked."""
_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)

_Function = TypeVar("_Function", bound=Callable[..., Any])


def divides(function: _Function) -> _Function:
    """`fast`, for loops with a quotient: they stay vectorised where nothing looks out for a divisor of 0."""
    return compiled(function, fastmath=True, error_model="numpy")


def chunked(features: Any, rows: Integers, middle: Singles) -> Singles:
    """(chunks, k, CHUNK) the features (n, k) of some rows minus `middle`; zeros fill the last chunk."""
    chunks = np.zeros((-(-len(rows) // CHUNK), features.shape[1], CHUNK), dtype=np.float32)
    for number, chunk in enumerate(chunks):
        here = features[rows[number * CHUNK : (number + 1) * CHUNK]] - middle
        chunk[:, : len(here)] = here.T
    return chunks


@fast
def lengths(factor: Singles) -> Floats:
    """(u,) squared lengths of the rows of a factor (u, k)."""
    squared = np.empty(factor.shape[0])
    for row in range(factor.shape[0]):
        total = np.float32(0.0)
        for column in range(factor.shape[1]):
            total += factor[row, column] * factor[row, column]
        squared[row] = total
    return squared


@fast
def add_squares(projected: Singles, squared: Floats) -> None:
    """squared (chunks, CHUNK) = sums of squares over the columns of projected (chunks, k, CHUNK)."""
    total = np.empty(CHUNK, dtype=np.float32)
    for number in range(projected.shape[0]):
        total[:] = _ZERO
        for column in range(projected.shape[1]):
            for offset in range(CHUNK):
                total[offset] += projected[number, column, offset] * projected[number, column, offset]
        for offset in range(CHUNK):
            squared[number, offset] = total[offset]


@fast
def _product(chunk: Singles, direction: Singles, out: Singles) -> None:
    """out (CHUNK,) = direction (k,) @ chunk (k, CHUNK)."""
    for offset in range(CHUNK):
        out[offset] = _ZERO
    for column in range(chunk.shape[0]):
        weight, features = direction[column], chunk[column]
        for offset in range(CHUNK):
            out[offset] += weight * features[offset]


@fast
def take_off(chunks: Singles, directions: Singles, rates: Floats, variance: Floats) -> None:
    """variance (chunks, CHUNK) -= rate * (features @ direction)^2 for each direction (t, k) in turn, in place.

    An item's sums run in one order, however many directions come in one call.
    """
    product = np.empty(CHUNK, dtype=np.float32)
    for number in range(chunks.shape[0]):
        left = variance[number]
        for answer in range(directions.shape[0]):
            _product(chunks[number], directions[answer], product)
            for offset in range(CHUNK):
                part = np.float64(product[offset])
                left[offset] -= rates[answer] * (part * part)
        for offset in range(CHUNK):
            left[offset] = max(left[offset], 0.0)


@divides
def _worths(
    covariance: Singles,
    own: Singles,
    score: float,
    variance: Singles,
    growth: Singles,
    decay: Singles,
    scores: Floats,
    wide: bool,
) -> None:
    """Covariances (c,) of one item with others become sigma'(m)^2 v; own (3,) is of it what the arrays are of them."""
    spread, grown, decayed = own[0], own[1], own[2]
    if wide:
        for place in range(scores.shape[0]):
            fall = math.exp(-abs(score - scores[place]))
            slope = np.float32(fall / ((1.0 + fall) * (1.0 + fall)))
            covariance[place] = max(spread + variance[place] - _TWO * covariance[place], _ZERO) * slope * slope
    else:
        for place in range(scores.shape[0]):
            both = grown * decay[place] + decayed * growth[place]
            slope = _ONE / (both * both)
            covariance[place] = max(spread + variance[place] - _TWO * covariance[place], _ZERO) * slope * slope


@divides
def worths_of_rows(
    covariance: Singles,
    first: int,
    rows: Singles,
    row_scores: Floats,
    items: Singles,
    scores: Floats,
    wide: bool,
    group: Integers,
    row_group: Integers,
    barred: Integers,
    barred_from: Integers,
) -> None:
    """Covariances (chunks, b, CHUNK) of some rows with the chunks from `first` on become sigma'(m)^2 v, in place.

    rows (3, b) and row_scores say of the rows what items (3, u) and scores (u,) say of the universe. NONE where there
    is no item, where it is of another group, and at the places barred[barred_from[r] : barred_from[r + 1]] of row r.
    """
    variance, growth, decay = items[0], items[1], items[2]
    start, stop = first * CHUNK, (first + covariance.shape[0]) * CHUNK
    for number in range(covariance.shape[0]):
        begin = start + number * CHUNK
        end = min(begin + CHUNK, scores.shape[0])
        for row in range(covariance.shape[1]):
            tile = covariance[number, row]
            _worths(
                tile,
                rows[:, row],
                row_scores[row],
                variance[begin:end],
                growth[begin:end],
                decay[begin:end],
                scores[begin:end],
                wide,
            )
            for offset in range(end - begin):
                tile[offset] = tile[offset] if group[begin + offset] == row_group[row] else NONE
            tile[end - begin :] = NONE
    for row in range(covariance.shape[1]):
        for index in range(barred_from[row], barred_from[row + 1]):
            if start <= barred[index] < stop:
                place = barred[index] - start
                covariance[place // CHUNK, row, place % CHUNK] = NONE


@divides
def worths_with_later(
    covariance: Singles,
    first: int,
    items: Singles,
    scores: Floats,
    wide: bool,
    group: Integers,
    barred: Integers,
    barred_from: Integers,
) -> None:
    """Covariances (b, c - first) of items from `first` on with all from `first` on become sigma'(m)^2 v, in place.

    items (3, c), scores and group (c,). Each pair counts once: NONE where the other one does not come later, and where
    `worths_of_rows` has it.
    """
    variance, growth, decay = items[0], items[1], items[2]
    for number in range(covariance.shape[0]):
        row = first + number
        tile = covariance[number, number + 1 :]
        covariance[number, : number + 1] = NONE
        _worths(
            tile,
            items[:, row],
            scores[row],
            variance[row + 1 :],
            growth[row + 1 :],
            decay[row + 1 :],
            scores[row + 1 :],
            wide,
        )
        for place in range(tile.shape[0]):
            tile[place] = tile[place] if group[row + 1 + place] == group[row] else NONE
        for index in range(barred_from[row], barred_from[row + 1]):
            if barred[index] > row:
                tile[barred[index] - row - 1] = NONE


@divides
def group_maxima(
    factor: Singles,
    residual: Floats,
    mean: Floats,
    ends: Integers,
    exponent: int,
    barred: Integers,
    barred_with: Integers,
    maxima: Floats,
    values: Floats,
) -> None:
    """The largest sigma'(m)^exponent v within each group of rows, of all pairs and of those that may be asked.

    factor (r, k), residual and mean (r,); a group ends before row ends[g]. The pairs barred[p], barred_with[p] may not
    be asked: first rows before second rows, ascending. Where there is no pair: -1. maxima, values (groups,).
    """
    begin, next_barred = 0, 0
    for group in range(ends.shape[0]):
        highest, allowed = -1.0, -1.0
        for i in range(begin, ends[group]):
            one = factor[i]
            for j in range(i + 1, ends[group]):
                other, squared = factor[j], _ZERO
                for column in range(factor.shape[1]):
                    squared += (one[column] - other[column]) * (one[column] - other[column])
                worth = residual[i] + residual[j] + squared
                if exponent != 0:
                    fall = math.exp(-abs(mean[i] - mean[j]))
                    slope = fall / ((1.0 + fall) * (1.0 + fall))
                    worth *= slope * slope
                highest = max(highest, worth)
                if next_barred < barred.shape[0] and barred[next_barred] == i and barred_with[next_barred] == j:
                    next_barred += 1
                else:
                    allowed = max(allowed, worth)
        maxima[group], values[group] = highest, allowed
        begin = ends[group]
