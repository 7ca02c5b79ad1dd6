"""The compiled loops of the search among too many pairs: variances that shrink, and the best partner of each row.

u  items of the universe     k  columns     b  rows looked at     e = exp(mean - centre)
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.kernels import fast
from ordinate.types import Floats, Integers, Singles

CHUNK = 512

BARRED = np.float32(1e30)
"""The covariance of a pair that may not be asked: its variance is far below 0."""


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
def take_off(features: Singles, directions: Singles, rates: Floats, variance: Floats) -> None:
    """variance (u,) -= rate * (features @ direction)^2 for each direction (t, k) in turn, in place.

    An item's sums run in one order, however many directions come in one call.
    """
    for row in range(features.shape[0]):
        left = variance[row]
        for answer in range(directions.shape[0]):
            total = np.float32(0.0)
            for column in range(features.shape[1]):
                total += features[row, column] * directions[answer, column]
            left -= rates[answer] * (np.float64(total) * np.float64(total))
        variance[row] = max(left, 0.0)


@fast
def best_partners(
    covariance: Singles,
    rows: Integers,
    variance: Floats,
    growth: Floats,
    decay: Floats,
    mean: Floats,
    exponent: int,
    wide: bool,
    values: Floats,
    partners: Integers,
) -> None:
    """For each row of a tile and each CHUNK of columns the largest sigma'(m)^exponent v, and the column it is first at.

    covariance (b, c): items `rows` against all c items that variance and mean are of; BARRED marks a pair that may not
    be asked. growth = exp(mean) and decay = exp(-mean) serve unless `wide`. Where nothing may be asked: -1 and -1.
    values, partners (b, chunks).
    """
    columns = covariance.shape[1]
    scratch = np.empty(CHUNK)
    for number in range(covariance.shape[0]):
        row = rows[number]
        for chunk in range(values.shape[1]):
            begin = chunk * CHUNK
            size = min(CHUNK, columns - begin)
            for offset in range(size):
                column = begin + offset
                spread = variance[row] + variance[column] - 2.0 * covariance[number, column]
                slope = 1.0
                if exponent != 0 and wide:
                    fall = math.exp(-abs(mean[row] - mean[column]))
                    slope = fall / ((1.0 + fall) * (1.0 + fall))
                elif exponent != 0:
                    ratio = growth[row] * decay[column]
                    share = 1.0 / (1.0 + ratio)
                    slope = ratio * share * share
                scratch[offset] = slope * slope * max(spread, 0.0) if spread > -1e20 else -1.0
            highest = -1.0
            for offset in range(size):
                highest = max(highest, scratch[offset])
            values[number, chunk], partners[number, chunk] = highest, -1
            if highest > -1.0:
                for offset in range(size):
                    if scratch[offset] == highest:
                        partners[number, chunk] = begin + offset
                        break
