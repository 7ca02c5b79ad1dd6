"""The best pair of many items, or one near it; the same one for the same belief, whatever was kept.

Branch and bound (Land and Doig 1960) over tiles of pairs, see `tiles`: the most promising first, until no other can
hold a good pair or, among too many pairs to look at them all, the budget is spent. That is done right after a refit,
and lists the good pairs. Until the next refit utilities only fall: what was not listed stays below a bound, and the
best of the list serves each question, until an answer leaves nothing on it that is worth more than what was left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import Choice, Rising, floor_of, pair_priorities
from ordinate.choosing.search.scans import wide_pairs
from ordinate.choosing.search.tiles import SINGLE, Tiles, middles
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import AllPairs, PairList
from ordinate.learning.belief import ProjectedBelief, difference

MOST_PAIRS = 200_000_000
"""Of more pairs than this (20,000 items in one group) not all are looked at."""

_BUDGET = 2000
"""Tiles looked at among more than MOST_PAIRS pairs, of 128 x 128 pairs each."""
_MOST_ITEMS = 1 << 17
"""Of more, if they have more than MOST_PAIRS pairs, only those that reach furthest are looked at."""
_GOOD = 0.75
_RANK = 256
"""Pairs are listed that are worth this share of the one of this rank, or more: one odd pair does not stand alone."""
_ALIKE = 1e-4
"""Worths this close, relatively, tie where more pairs do than can be listed."""
_LONGEST = 1 << 14
_ROOM = 1 << 18
_FEW = 256
"""Pairs of a list that are worked out first, and often alone."""


class Large:
    """For one division into groups, one utility and one set of features.

    What is kept may be dropped at any moment without changing a choice.
    """

    def __init__(self, pool: AllPairs, utility: Rising, features: Singles) -> None:
        self._division, self._utility, self._features = pool.division, utility, features
        self._middle = middles(features, pool.division)
        # The newest belief after answers alone, and the pairs that serve it.
        self._kept: tuple[ProjectedBelief, _Listed] | None = None

    def serves(self, pool: AllPairs, utility: Rising, features: Singles) -> bool:
        return pool.division is self._division and utility == self._utility and features is self._features

    def best(
        self, answered: ProjectedBelief, belief: ProjectedBelief, pool: AllPairs, seed: np.uint64
    ) -> Choice | None:
        """A pair near the best under `belief`, which is `answered` with any open queries taken off.

        The best one if it is worth more than `rest`. None where the pool has none of the listed pairs.
        """
        listed = self._after(answered, pool)
        places, values = listed.best(belief, self._utility, pool.holds(listed.ranks))
        if not len(places):
            return None
        tied = np.flatnonzero(values >= floor_of(float(values.max())))
        left, right = listed.pairs.left[places[tied]], listed.pairs.right[places[tied]]
        chosen = np.argmax(pair_priorities(seed, left, right))
        return Choice(int(left[chosen]), int(right[chosen]), float(values[tied[chosen]]), listed.looked)

    def listed(self, answered: ProjectedBelief, pool: AllPairs) -> PairList:
        """The pairs of the pool among which the best ones are."""
        listed = self._after(answered, pool)
        free = pool.holds(listed.ranks)
        return PairList.of(listed.pairs.left[free], listed.pairs.right[free])

    def rest(self, answered: ProjectedBelief, pool: AllPairs) -> float:
        """No pair other than the listed ones is worth more than this, before or after the open queries."""
        return self._after(answered, pool).rest

    def _after(self, answered: ProjectedBelief, pool: AllPairs) -> _Listed:
        """The pairs listed after the refit, or after the newest answer that left none worth enough.

        Whether one did depends on the answers alone, which are gone through from the refit on.
        """
        kept = self._kept
        if kept is None or not _leads_to(kept[0], answered):
            kept = answered.at_refit, self._list(answered.at_refit, pool)
        belief, listed = kept
        for count in range(len(belief.taken), len(answered.taken)):
            # The last step is what `answered` took: the same bits.
            belief = answered if count + 1 == len(answered.taken) else belief.shrink(*answered.taken[count])
            since = np.array([pair[:2] for pair in belief.taken[listed.answers :]]).T
            # An answered pair may have an item that is excluded by now.
            asked = pool.ranks(PairList.of(*since).within(pool.group))
            _, values = listed.best(belief, self._utility, ~np.isin(listed.ranks, asked))
            if values.max(initial=-math.inf) < listed.enough:
                listed = self._list(belief, pool)
        self._kept = belief, listed
        return listed

    def _list(self, belief: ProjectedBelief, pool: AllPairs) -> _Listed:
        most = _MOST_ITEMS if pool.starts[-1] > MOST_PAIRS else len(belief.mean)
        return _Listed.of(Tiles.of(belief, pool.division, self._middle, most), belief, pool, self._utility)


def _leads_to(belief: ProjectedBelief, later: ProjectedBelief) -> bool:
    """Whether the later one is this one with more answers, or none."""
    return belief.at_refit is later.at_refit and belief.taken == later.taken[: len(belief.taken)]


class _Listed(NamedTuple):
    """The best pairs met under a belief after so many answers, also those that may not be asked, best first.

    ranks   theirs
    upper   what each is worth at most
    enough  a list is made anew once no pair on it is worth this: a pair that was met and not listed may be better
    rest    what any other pair is worth at most
    looked  how many pairs were looked at
    """

    answers: int
    pairs: PairList
    ranks: Integers
    upper: Floats
    enough: float
    rest: float
    looked: int

    def best(self, belief: ProjectedBelief, utility: Rising, free: NDArray[np.bool_]) -> tuple[Integers, Floats]:
        """Places and worths, under this belief, of the pairs among which the best free one is.

        It is the belief of the listing with answers or open queries taken off.
        """
        places = np.flatnonzero(free)
        values = self._worths(belief, utility, places[:_FEW])
        reached = floor_of(float(values.max(initial=-math.inf)))
        places = places[: max(_FEW, int(np.searchsorted(-self.upper[places], -reached, side="right")))]
        return places, np.concatenate([values, self._worths(belief, utility, places[_FEW:])])

    def _worths(self, belief: ProjectedBelief, utility: Rising, places: Integers) -> Floats:
        return utility(*difference(belief, self.pairs.left[places], self.pairs.right[places]))

    @classmethod
    def of(cls, tiles: Tiles, belief: ProjectedBelief, pool: AllPairs, utility: Rising) -> _Listed:
        bound = utility(tiles.gap, tiles.variance) * (1.0 + utility.wobble) + utility.faint
        budget = _BUDGET if pool.starts[-1] > MOST_PAIRS else len(bound)
        order, rest = _most_promising(bound, tiles.second < len(tiles.begins) - 1, budget)
        good, floor, done = _good_pairs(tiles, order, bound[order], belief.mean[tiles.rows], utility)
        good = good.at(np.argsort(-good.upper, kind="stable"))
        # What the utility's own rounding may have hidden.
        upper = np.append(good.upper, max(floor, 0.0)) * (1.0 + utility.wobble) + utility.faint
        rest = max(rest, float(bound[order[done : done + 1]].max(initial=upper[-1])))
        # But for ties, of which one is as good as another.
        enough = max(float(upper[-1]), _GOOD * float(good.lower.max(initial=-math.inf)))
        enough = min(enough, (1.0 - _ALIKE) * float(upper[0]))
        one, other = (blocks[order[:done]] for blocks in (tiles.first, tiles.second))
        sizes = np.diff(tiles.begins)
        looked = int(np.where(one == other, sizes[one] * (sizes[one] - 1) // 2, sizes[one] * sizes[other]).sum())
        pairs = PairList.of(*np.sort(tiles.rows[[good.left, good.right]], axis=0))
        return cls(len(belief.taken), pairs, pool.ranks(pairs), upper[:-1], enough, rest, looked)


class _Good(NamedTuple):
    """Pairs of places in the tiles, and what each is worth at most and at least, as float32 has it; each (p,)."""

    left: Integers
    right: Integers
    upper: Floats
    lower: Floats

    def at(self, places: Integers) -> _Good:
        return _Good(self.left[places], self.right[places], self.upper[places], self.lower[places])

    def with_more(self, more: _Good) -> _Good:
        return _Good(
            np.concatenate([self.left, more.left]),
            np.concatenate([self.right, more.right]),
            np.concatenate([self.upper, more.upper]),
            np.concatenate([self.lower, more.lower]),
        )


def _good_pairs(
    tiles: Tiles, order: Integers, bound: Floats, mean: Floats, utility: Rising
) -> tuple[_Good, float, int]:
    """The good pairs of tiles taken in this order, what any other of theirs is worth at most, and how many were taken.

    bound (t,) of the tiles in this order, falling; mean (u,) of the items in the tiles.
    """
    first, second = tiles.first[order], tiles.second[order]
    gap, variance = tiles.gap[order], tiles.variance[order]
    slack = SINGLE * (tiles.longest[first] + tiles.longest[second])
    nothing, no_worth = np.empty(0, dtype=np.int64), np.empty(0)
    good = _Good(nothing, nothing, no_worth, no_worth)
    done, most, least, floor = 0, 1, -math.inf, -math.inf
    # Few tiles at first: the better the best pairs known, the fewer of the others are good.
    while done < (last := int(np.searchsorted(-bound, -floor))):
        part = slice(done, min(done + most, last))
        needed = _least(utility, gap[part], variance[part], floor) - slack[part]
        count, left, right, spread = wide_pairs(
            tiles.factor, tiles.squared, tiles.begins, first[part], second[part], needed.astype(np.float32), _ROOM
        )
        off = SINGLE * (tiles.squared[left] + tiles.squared[right]).astype(np.float64)
        upper = utility(mean[left] - mean[right], np.maximum(spread, 0.0) + off)
        good = good.with_more(_Good(left, right, upper, upper - 2.0 * utility.steepest * off))
        if len(good.lower) >= _RANK:
            least = max(least, _GOOD * float(np.partition(good.lower, -_RANK)[-_RANK]))
        kept, floor = np.flatnonzero(good.upper >= least), max(floor, least)
        if len(kept) > _LONGEST:
            kept = kept[np.argsort(-good.upper[kept], kind="stable")]
            floor, kept = max(floor, float(good.upper[kept[_LONGEST]])), kept[:_LONGEST]
        good = good.at(kept)
        # Where all that are listed tie, so may millions; only what is better still counts.
        if floor >= good.lower.max(initial=-math.inf) > -math.inf:
            floor = float(good.upper.max()) * (1.0 + utility.wobble + _ALIKE) + utility.faint
        done, most = done + count, 4 * count
    return good, floor, done


def _most_promising(bound: Floats, shown: NDArray[np.bool_], most: int) -> tuple[Integers, float]:
    """The tiles to look at, the largest bound first, and the largest bound of the others."""
    places, rest = np.flatnonzero(shown), float(bound[~shown].max(initial=0.0))
    if len(places) > most:
        places = places[np.argpartition(-bound[places], most)]
        rest = max(rest, float(bound[places[most]]))
        places = places[:most]
    return places[np.argsort(-bound[places], kind="stable")], rest


def _least(utility: Rising, gap: Floats, variance: Floats, worth: float) -> Floats:
    """The least v, up to `variance`, that makes a pair this far apart worth so much: bisection, from below."""
    low, high = np.zeros(len(gap)), variance
    for _ in range(30):
        middle = 0.5 * (low + high)
        below = utility(gap, middle) < worth
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low
