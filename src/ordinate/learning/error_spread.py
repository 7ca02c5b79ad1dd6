"""How far the true ordering error may be from the expected one: counted in draws of the scores.

The error of the order shown is, in each draw, the share of pairs that the draw has in the other order. Its spread over
draws is what the belief leaves open. The belief itself may be wrong, too; simulated studies show by how much.
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import REACH, Interval
from ordinate.data.pairs import members

_DOUBT, _LEAST_DOUBT, _MOST_DOUBT = 0.5, 0.1, 1.0
"""Standard deviations of a logarithm: at one answer per item, and the bounds."""


def error_spread(draws: Floats, scores: Floats, group: Integers, answers: int) -> float:
    """Standard deviation of the log of the true error about the expected one.

    Of a log-normal error with the mean and the variance that draws have: where a pair among few is wrong in one draw of
    ten, the deviation is three times the mean, but the log's is not.

    draws    (s, n) of the scores under the belief
    scores   (n,) by which the items are ordered
    group    (n,) negative for items not in use
    answers  that the belief rests on, as `annotators.worth` counts them
    """
    wrong = np.zeros(len(draws))
    for rows in members(group):
        order = rows[np.lexsort((rows, -scores[rows]))]
        wrong += inversions(np.ascontiguousarray(draws[:, order]))
    mean = float(wrong.mean())
    per_item = answers / max(int(np.count_nonzero(group >= 0)), 1)
    of_draws = math.sqrt(math.log1p(float(wrong.var()) / mean**2)) if mean > 0.0 else 0.0
    return math.hypot(of_draws, doubt(per_item))


def doubt(answers_per_item: float) -> float:
    """Standard deviation of the log of the true error about the expected one that comes from a belief that is wrong.

    Above all its prior variances are, while answers are few. The constants make the intervals of `error_interval` hold
    the true error in 90 % of simulated studies of 100 items at 2 to 10 answers per item (docs/statistics.md).
    """
    if answers_per_item <= 0.0:
        return _MOST_DOUBT
    return min(max(_DOUBT / math.sqrt(answers_per_item), _LEAST_DOUBT), _MOST_DOUBT)


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
