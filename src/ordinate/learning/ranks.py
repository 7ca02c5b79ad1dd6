"""How sure ranks are: intervals of ranks, the chance of being first, and items that cannot be told apart.

n  items of one group     s  draws of their scores     a rank counts from 1, the highest score

Intervals are marginal: each holds its item's rank with the stated probability. That all of them hold at once is far
less likely, and intervals wide enough for that say next to nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import members
from ordinate.learning.belief import Belief
from ordinate.learning.posterior import Posterior

LEVEL = 0.9
"""Of the intervals, and of the probability that two items are in the right order from which on they are told apart."""
_DRAWS = 1000
_MOST_JOINT = 2000
"""Up to so many items scores are drawn jointly; above, each by itself about the mean of its group. On simulated data
the intervals of the two cover alike within .02."""
_BLOCK = 1 << 22


class Ranks(NamedTuple):
    """Of all items of a study, (n,) each; 0 or nan for items that are not in use.

    low, high  the interval of the item's rank in its group
    best       the probability that the item has the highest score of its group
    first      the rank of the first item, in order, from which this one cannot be told apart
    last       the rank of the last item with the same `first`
    """

    low: Integers
    high: Integers
    best: Floats
    first: Integers
    last: Integers


def ranks_of(posterior: Posterior, group: Integers, rng: np.random.Generator) -> Ranks:
    """Of the items whose code in `group` (n,) is not negative."""
    items = len(group)
    low, high, first, last = (np.zeros(items, dtype=np.int64) for _ in range(4))
    best = np.full(items, np.nan)
    scores, errors = posterior.centred(group)
    joint = posterior.belief.sample(_DRAWS, rng) if items <= _MOST_JOINT else None
    for rows in members(group):
        order = rows[np.lexsort((rows, -scores[rows]))]
        low[order], high[order], best[order] = _counted(joint, scores[order], errors[order], order, rng)
        first[order], last[order] = together(posterior.belief, order)
    return Ranks(low, high, best, first, last)


def _counted(
    joint: Floats | None, scores: Floats, errors: Floats, order: Integers, rng: np.random.Generator
) -> tuple[Integers, Integers, Floats]:
    """Interval of the rank and probability of the first one, of items in order, (r,) each."""
    count = len(order)
    places = np.empty((_DRAWS, count), dtype=np.int32)
    step = max(1, _BLOCK // count)
    for start in range(0, _DRAWS, step):
        block = slice(start, min(start + step, _DRAWS))
        size = block.stop - block.start
        drawn = scores + errors * rng.standard_normal((size, count)) if joint is None else joint[block][:, order]
        # `sorting[d, k]` is the item in place k of draw d; its inverse is the place of each item.
        sorting = np.argsort(-drawn, axis=1, kind="stable")
        np.put_along_axis(places[block], sorting, np.arange(1, count + 1, dtype=np.int32)[None, :], axis=1)
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(places, [tail, 1.0 - tail], axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64), (places == 1).mean(axis=0)


def together(belief: Belief, order: Integers) -> tuple[Integers, Integers]:
    """First and last rank, (r,) each, of the sets of neighbours in order that cannot be told apart.

    From the top, a set takes in items as long as its first one is above them with a probability below `LEVEL`.
    """
    from scipy.special import ndtri

    count, needed = len(order), float(ndtri(LEVEL))
    first, last = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    start = 0
    while start < count:
        end, size = start + 1, 8
        while end < count:
            rows = order[end : end + size]
            margin, variance = belief.differences(np.full(len(rows), order[start]), rows)
            apart = np.flatnonzero((margin > 0.0) & (margin >= needed * np.sqrt(np.maximum(variance, 0.0))))
            if len(apart):
                end += int(apart[0])
                break
            end, size = end + len(rows), 2 * size
        end = min(end, count)
        first[start:end], last[start:end] = start + 1, end
        start = end
    return first, last
