"""How sure ranks are: intervals of ranks, the chance of being first, and items that cannot be told apart.

n  items of one group     s  draws of their scores     a rank counts from 1, the highest score

Intervals are marginal: each holds its item's rank with the stated probability. That all of them hold at once is far
less likely, and intervals wide enough for that say next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import RankIntervals
from ordinate.data.pairs import members
from ordinate.learning.belief import Belief
from ordinate.learning.posterior import Posterior

LEVEL = 0.9
"""Of the intervals, and of the probability that two items are in the right order from which on they are told apart."""
_DRAWS = 1000
_MOST_JOINT = 2000
"""Up to so many items ranks are counted in joint draws of the scores; above, the scores are taken to be independent and
an item's rank, given its score, to be the number of scores that are expected to be higher."""
_POINTS = 400
_BLOCK = 1 << 21


def ranks_of(posterior: Posterior, group: Integers, rng: np.random.Generator) -> RankIntervals:
    """Of all items, (n,) each; 0 or nan for items not in use, whose code in `group` (n,) is negative."""
    items = len(group)
    low, high, first, last = (np.zeros(items, dtype=np.int64) for _ in range(4))
    best = np.full(items, np.nan)
    scores, errors = posterior.centred(group)
    # Not the posterior's own, which would be kept.
    belief = posterior.covariance.belief(posterior.mean) if items <= _MOST_JOINT else None
    draws = None if belief is None else belief.sample(_DRAWS, rng)
    for rows in members(group):
        order = rows[np.lexsort((rows, -scores[rows]))]
        if belief is None or draws is None:
            low[order], high[order], best[order] = independent(scores[order], errors[order])
            first[order], last[order] = together(_apart(scores[order], errors[order]), len(order))
        else:
            low[order], high[order], best[order] = counted(draws[:, order])
            first[order], last[order] = together(_told_by(belief, order), len(order))
    return RankIntervals(low, high, best, first, last)


Margins = Callable[[int, slice], tuple[Floats, Floats]]
"""Mean and variance of the score in one place of the order minus those in several."""


def _told_by(belief: Belief, order: Integers) -> Margins:
    def margins(place: int, others: slice) -> tuple[Floats, Floats]:
        rows = order[others]
        return belief.differences(np.full(len(rows), order[place]), rows)

    return margins


def _apart(scores: Floats, errors: Floats) -> Margins:
    return lambda place, others: (scores[place] - scores[others], errors[place] ** 2 + errors[others] ** 2)


def counted(draws: Floats) -> tuple[Integers, Integers, Floats]:
    """Ends of the interval and the probability of rank 1, (r,) each, by counting in draws (s, r) of the scores."""
    places = np.empty(draws.shape, dtype=np.int32)
    # `sorting[d, k]` is the item in place k of draw d; the inverse is the place of each item.
    sorting = np.argsort(-draws, axis=1, kind="stable")
    np.put_along_axis(places, sorting, np.arange(1, draws.shape[1] + 1, dtype=np.int32)[None, :], axis=1)
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(places, [tail, 1.0 - tail], axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64), (places == 1).mean(axis=0)


def independent(scores: Floats, errors: Floats) -> tuple[Integers, Integers, Floats]:
    """`counted` of independent scores with these standard errors, (r,) each, without draws."""
    from scipy.special import log_ndtr, ndtr, ndtri

    spread = np.maximum(errors, 1e-12 * (1.0 + np.abs(scores)))
    reach = 5.0 * float(spread.max(initial=0.0))
    grid = np.linspace(scores.min(initial=0.0) - reach, scores.max(initial=0.0) + reach, _POINTS)
    above, all_below = np.zeros(_POINTS), np.zeros(_POINTS)
    for start in range(0, len(scores), max(1, _BLOCK // _POINTS)):
        block = slice(start, start + max(1, _BLOCK // _POINTS))
        standard = (grid - scores[block, None]) / spread[block, None]
        above += ndtr(-standard).sum(axis=0)
        all_below += log_ndtr(standard).sum(axis=0)
    tail = float(ndtri(0.5 + LEVEL / 2.0)) * spread

    def rank(score: Floats) -> Integers:
        """Of an item with this score: the others above it, and itself. Its own share of `above` is half of it."""
        found = np.rint(np.interp(score, grid, above) + 0.5).astype(np.int64)
        return np.clip(found, 1, len(scores))

    best = np.zeros(len(scores))
    step = grid[1] - grid[0]
    # Only items that come near the highest one can be the first.
    for place in np.flatnonzero(scores + reach >= scores.max(initial=-np.inf) - reach)[:_POINTS]:
        standard = (grid - scores[place]) / spread[place]
        others = np.exp(np.minimum(all_below - log_ndtr(standard), 0.0))
        best[place] = float((others * np.exp(-0.5 * standard**2)).sum() * step / (spread[place] * np.sqrt(2.0 * np.pi)))
    return rank(scores + tail), rank(scores - tail), best


def together(margins: Margins, count: int) -> tuple[Integers, Integers]:
    """First and last rank, (count,) each, of the sets of neighbours in order that cannot be told apart.

    From the top, a set takes in items as long as its first one is above them with a probability below `LEVEL`.
    """
    from scipy.special import ndtri

    needed = float(ndtri(LEVEL))
    first, last = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    start = 0
    while start < count:
        end, size = start + 1, 8
        while end < count:
            stop = min(end + size, count)
            margin, variance = margins(start, slice(end, stop))
            apart = np.flatnonzero((margin > 0.0) & (margin >= needed * np.sqrt(np.maximum(variance, 0.0))))
            if len(apart):
                end += int(apart[0])
                break
            end, size = stop, 2 * size
        first[start:end], last[start:end] = start + 1, end
        start = end
    return first, last
