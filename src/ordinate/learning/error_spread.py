"""How far the true ordering error may be from the expected one: counted in draws of the scores.

The error of the order shown is, in each draw, the share of pairs that the draw has in the other order. Its spread over
draws is what the belief leaves open. The belief itself may be wrong, above all its prior variances; simulated studies
show by how much (docs/statistics.md).
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import REACH, Interval
from ordinate.data.pairs import members

MISFIT = 0.1
"""Standard deviation of the log of the true error about the expected one that comes from a belief that is wrong."""


def error_spread(draws: Floats, scores: Floats, group: Integers) -> float:
    """Standard deviation of the log of the true error about the expected one; draws (s, n), scores and group (n,)."""
    wrong = np.zeros(len(draws))
    for rows in members(group):
        order = rows[np.lexsort((rows, -scores[rows]))]
        wrong += inversions(np.ascontiguousarray(draws[:, order]))
    mean = float(wrong.mean())
    return math.hypot(float(wrong.std()) / mean if mean > 0.0 else 0.0, MISFIT)


def error_interval(error: float, spread: float) -> Interval:
    """The true error is in it with a probability of 90 %."""
    reach = math.exp(REACH * spread)
    return Interval(error, error / reach, min(error * reach, max(error, 0.5)))


@compiled
def inversions(values: Floats) -> Integers:
    """(s,) of each row (s, r) how many pairs have the lower value first, counted while the row is sorted by merging."""
    found = np.zeros(values.shape[0], dtype=np.int64)
    size = values.shape[1]
    for row in range(values.shape[0]):
        source, target = values[row].copy(), np.empty(size)
        width = 1
        while width < size:
            for start in range(0, size, 2 * width):
                middle, end = min(start + width, size), min(start + 2 * width, size)
                left, right = start, middle
                for place in range(start, end):
                    if right >= end or (left < middle and source[left] >= source[right]):
                        target[place] = source[left]
                        left += 1
                    else:
                        target[place] = source[right]
                        right += 1
                        found[row] += middle - left
            source, target = target, source
            width *= 2
    return found
