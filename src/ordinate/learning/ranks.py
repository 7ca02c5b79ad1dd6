"""How sure ranks are: intervals of ranks, the chance of being first, and items that cannot be told apart.

n  items of one group     s  draws of their scores     a rank counts from 1, the highest score

Intervals are marginal: each holds its item's rank with the stated probability. That all of them hold at once is far
less likely, and intervals wide enough for that say next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.compiled import fast
from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import RankIntervals, StudyRanks
from ordinate.data.pairs import members
from ordinate.learning.belief import Belief
from ordinate.learning.posterior import Posterior

LEVEL = 0.9
"""Of the intervals, and of the probability that two items are in the right order from which on they are told apart."""
_DRAWS = 1000
_MOST_JOINT = 2000
"""Up to so many items ranks are counted in joint draws of the scores; above, the scores are taken to be independent and
an item's rank, given its score, to be the number of scores that are expected to be higher."""
_MOST_DRAWN = 4_000_000
"""Above `_MOST_JOINT` items there are 10 to 100 draws, of so many scores in all."""
_ALIKE = 1e-9
"""Of the spread of all scores: a difference that rounding may make."""
_POINTS = (100, 100, 400)
"""Of the grids of scores, each placed by the one before it."""
_NEVER = -20.0
"""Where the log of the chance that no score is higher is lower, nobody looks for the first item."""
_NO_CHANCE = 6.0
"""By how many standard errors a score misses the least that may be the highest: one in a billion items does not."""
_FAR, _STEPS = 10.0, 256
"""The normal distribution is looked up in a table: up to so many deviations from its mean, in so many steps for each.
Farther away its tail, below 1e-23, changes no rank and no chance."""


class Draws(NamedTuple):
    """Draws of all scores.

    scores  (s, n)
    belief  what they were drawn from jointly; None: the scores were drawn as if they were independent
    seed    for more draws, of some of the scores
    """

    scores: Floats
    belief: Belief | None
    seed: int = 0


def draw_scores(posterior: Posterior, group: Integers, rng: np.random.Generator) -> Draws:
    """1,000 joint draws; of more than 2,000 items fewer draws, as if the scores were independent."""
    items = len(group)
    if items <= _MOST_JOINT:
        # Not the posterior's own, which would be kept.
        belief = posterior.covariance.belief(posterior.mean)
        return Draws(_without_ties(belief.sample(_DRAWS, rng), posterior.mean, rng), belief)
    scores, errors = posterior.centred(group)
    size = min(max(_MOST_DRAWN // items, 10), 100)
    return Draws(scores + errors * rng.standard_normal((size, items)), None, int(rng.integers(2**32)))


def _without_ties(draws: Floats, mean: Floats, rng: np.random.Generator) -> Floats:
    """Draws (s, n) in which items that always have equal scores, such as those of equal features where nothing else
    tells, come in random order: the order of the table would be the same in all draws, and so look certain."""
    scale = float(draws.std()) or 1.0
    _, which, many = np.unique(np.rint(mean / (_ALIKE * scale)), return_inverse=True, return_counts=True)
    if len(tied := np.flatnonzero(many[which] > 1)):
        draws[:, tied] += _ALIKE * scale * rng.standard_normal((len(draws), len(tied)))
    return draws


def ranks_of(posterior: Posterior, group: Integers, draws: Draws) -> RankIntervals:
    """Of all items, (n,) each; 0 or nan for items not in use, whose code in `group` (n,) is negative."""
    items = len(group)
    low, high, first, last = (np.zeros(items, dtype=np.int64) for _ in range(4))
    best = np.full(items, np.nan)
    scores, errors = posterior.centred(group)
    for rows in members(group):
        order = rows[np.lexsort((rows, -scores[rows]))]
        if draws.belief is None:
            low[order], high[order], best[order] = independent(scores[order], errors[order])
            first[order], last[order] = together(_apart(scores[order], errors[order]), len(order))
        else:
            low[order], high[order], best[order] = counted(draws.scores[:, order])
            first[order], last[order] = together(_told_by(draws.belief, order), len(order))
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
    places = places_in(draws)
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(places, [tail, 1.0 - tail], axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64), (places == 1).mean(axis=0)


def places_in(draws: Floats) -> NDArray[np.int32]:
    """(s, r) the rank of each item in each draw."""
    places = np.empty(draws.shape, dtype=np.int32)
    # `sorting[d, k]` is the item in place k of draw d; the inverse is the place of each item.
    sorting = np.argsort(-draws, axis=1, kind="stable")
    np.put_along_axis(places, sorting, np.arange(1, draws.shape[1] + 1, dtype=np.int32)[None, :], axis=1)
    return places


def independent(scores: Floats, errors: Floats) -> tuple[Integers, Integers, Floats]:
    """`counted` of independent scores with these standard errors, (r,) each, without draws."""
    from scipy.special import ndtri

    spread = _spread(scores, errors)
    grid, above, all_below = _curves(scores, spread)
    tail = float(ndtri(0.5 + LEVEL / 2.0)) * spread

    def rank(score: Floats) -> Integers:
        """Of an item with this score: the others above it, and itself. Its own share of `above` is half of it."""
        found = np.rint(np.interp(score, grid, above) + 0.5).astype(np.int64)
        return np.clip(found, 1, len(scores))

    start = max(int(np.searchsorted(all_below, _NEVER)) - 1, 0)
    best = first_chances(grid[start:], scores, spread, all_below[start:], *_tables())
    return rank(scores + tail), rank(scores - tail), best


def _spread(scores: Floats, errors: Floats) -> Floats:
    """The standard errors, above 0."""
    return np.maximum(errors, 1e-12 * (1.0 + np.abs(scores)))


def _curves(scores: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """A grid of scores, and at each how many items are expected above it and the log of the chance that none is."""
    reach = 5.0 * float(spread.max(initial=0.0))
    grid = np.linspace(scores.min(initial=0.0) - reach, scores.max(initial=0.0) + reach, _POINTS[0])
    for points in _POINTS[1:]:
        grid = _placed(grid, *normal_sums(grid, scores, spread, *_tables()), len(scores), points)
    above, all_below = normal_sums(grid, scores, spread, *_tables())
    return grid, above, all_below


def _tables() -> tuple[Floats, Floats]:
    from scipy.special import log_ndtr, ndtr

    standard = np.arange(2 * int(_FAR) * _STEPS + 2) / _STEPS - _FAR
    return ndtr(-standard), log_ndtr(standard)


def _placed(grid: Floats, above: Floats, all_below: Floats, items: int, points: int) -> Floats:
    """A grid with as many points wherever the ranks change, and where the highest score may be.

    One item whose score may be almost anything makes a grid of even steps too coarse for all others.
    """
    odds = np.log((items - above + 1.0) / (above + 1.0)) / np.log(items + 2.0)  # so the first ranks have points, too
    even = 0.1 * np.linspace(0.0, 1.0, len(grid))  # keeps the curve rising
    curve = np.maximum.accumulate(odds + np.exp(all_below)) + even
    placed: Floats = np.interp(np.linspace(curve[0], curve[-1], points), curve, grid)
    return placed


@fast
def normal_sums(
    grid: Floats, scores: Floats, spread: Floats, above: Floats, log_below: Floats
) -> tuple[Floats, Floats]:
    """Sums over items (r,), at each point of a grid (p,), of the two tables of the normal distribution."""
    sums, log_sums = np.zeros(len(grid)), np.zeros(len(grid))
    for item in range(len(scores)):
        for point in range(len(grid)):
            standard = min(max((grid[point] - scores[item]) / spread[item], -_FAR), _FAR)
            place = (standard + _FAR) * _STEPS
            step = int(place)
            part = place - step
            sums[point] += above[step] + part * (above[step + 1] - above[step])
            log_sums[point] += log_below[step] + part * (log_below[step + 1] - log_below[step])
    return sums, log_sums


@fast
def first_chances(
    grid: Floats, scores: Floats, spread: Floats, all_below: Floats, above: Floats, log_below: Floats
) -> Floats:
    """(r,) the chance of each item that its score is the highest.

    all_below         (p,) at each point of the grid, the log of the chance that no score is higher
    above, log_below  the two tables of the normal distribution

    It is the sum over the steps of the grid of the chance that the score is in it and the others below; of the others,
    the mean of both ends.
    """
    found = np.zeros(len(scores))
    for item in range(len(scores)):
        if (grid[0] - scores[item]) / spread[item] > _NO_CHANCE:
            continue
        above_before, others_before = 1.0, 0.0
        for point in range(len(grid)):
            standard = min(max((grid[point] - scores[item]) / spread[item], -_FAR), _FAR)
            place = (standard + _FAR) * _STEPS
            step = int(place)
            part = place - step
            above_now = above[step] + part * (above[step + 1] - above[step])
            log_own = log_below[step] + part * (log_below[step + 1] - log_below[step])
            others = np.exp(min(all_below[point] - log_own, 0.0))
            if point:
                found[item] += (above_before - above_now) * 0.5 * (others + others_before)
            above_before, others_before = above_now, others
    return found


def ranks_among(scores: Floats, errors: Floats, new_scores: Floats, new_errors: Floats) -> StudyRanks:
    """Ranks of new items (m,) among items with these scores and standard errors (r,), all taken to be independent."""
    from scipy.special import ndtri

    grid, above, _ = _curves(scores, _spread(scores, errors))
    tail = float(ndtri(0.5 + LEVEL / 2.0)) * new_errors

    def rank(score: Floats) -> Integers:
        return np.rint(np.interp(score, grid, above) + 1.0).astype(np.int64)

    return StudyRanks(rank(new_scores), rank(new_scores + tail), rank(new_scores - tail))


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
