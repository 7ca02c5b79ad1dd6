"""The best pair of many items, or one near it; the same one for the same belief, whatever was kept.

Branch and bound (Land and Doig 1960) over tiles of pairs (see `tiles`): the tile with the largest bound first, until no
other can hold a good pair or, among too many pairs to evaluate them all, the budget is spent. That is done right after
a refit, and lists the good pairs. Until the next refit utilities only decrease: a pair that was not listed stays below
an upper bound, and the best of the list serves each question, until an answer leaves no listed pair above that bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import BestSoFar, Choice, tie_floor
from ordinate.choosing.search.limits import MANY_TIES, SINGLE_ROUNDING, Limits
from ordinate.choosing.search.measures import Measuring, group_centres
from ordinate.choosing.search.tiles import Searched, bound_of_others, wide_pairs
from ordinate.choosing.search.utility import MonotoneUtility, of_pairs
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import AllPairs, PairList
from ordinate.learning.belief import ManyItemsBelief

_GOOD = 0.75
"""Pairs are listed that have this share of the utility of the pair of rank `Limits.reference_rank`, or more."""


class ManyItemsSearch:
    """For one division into groups, one utility and one set of features.

    What is kept may be dropped at any moment without changing a choice.
    """

    def __init__(self, answered: ManyItemsBelief, pool: AllPairs, utility: MonotoneUtility, limits: Limits) -> None:
        self._features, self._division, self._utility, self._limits = answered.features, pool.division, utility, limits
        self._measuring = Measuring(pool.division, group_centres(answered.features, pool.division), limits)
        # The newest belief after answers alone, and the pairs that serve it.
        self._kept: tuple[ManyItemsBelief, _List] | None = None
        # A list, and the upper bound of the pairs of items that were not searched for it, once it was asked for.
        self._others: tuple[_List, float] | None = None

    def serves(self, answered: ManyItemsBelief, pool: AllPairs, utility: MonotoneUtility) -> bool:
        """Whether it does, or can be made to: another utility ends what is kept."""
        if pool.division is not self._division or answered.features is not self._features:
            return False
        if utility != self._utility:
            self._utility, self._kept = utility, None
        return True

    def best(
        self, answered: ManyItemsBelief, belief: ManyItemsBelief, pool: AllPairs, seed: np.uint64
    ) -> Choice | None:
        """The best pair under `belief`, which is `answered` with any open queries taken off; or None.

        Of more than `most_pairs` pairs, a pair near the best; None only where the pool has none of the listed pairs.
        """
        pairs = self._after(answered, pool)
        places, utilities = pairs.candidates(belief, self._utility, pool.holds(pairs.ranks), self._limits)
        if not len(places):
            return None
        best = BestSoFar(seed)
        best.add(pairs.pairs.left[places], pairs.pairs.right[places], utilities)
        choice = best.choice(pairs.evaluated)
        near = pool.size > self._limits.most_pairs
        return choice if near or tie_floor(choice.utility) > self.upper_bound(answered, pool) else None

    def listed(self, answered: ManyItemsBelief, pool: AllPairs) -> PairList:
        """The pairs of the pool among which the best ones are."""
        pairs = self._after(answered, pool)
        allowed = pool.holds(pairs.ranks)
        return PairList.of(pairs.pairs.left[allowed], pairs.pairs.right[allowed])

    def upper_bound(self, answered: ManyItemsBelief, pool: AllPairs) -> float:
        """Of the utility of every pair that is not listed, before or after the open queries."""
        pairs, most = self._after(answered, pool), self._most_items(pool)
        if most == len(pool.division.order):
            return pairs.bound
        if self._others is None or self._others[0] is not pairs:
            self._others = pairs, bound_of_others(pairs.belief, self._measuring, most, self._limits, self._utility)
        return max(pairs.bound, self._others[1])

    def _after(self, answered: ManyItemsBelief, pool: AllPairs) -> _List:
        """The pairs listed after the refit, or after the newest answer that left none good enough.

        Whether one did depends on the answers alone, which are taken in one by one from the refit on.
        """
        kept = self._kept
        if kept is None or not _leads_to(kept[0], answered):
            kept = answered.at_refit, self._list(answered.at_refit, pool)
        belief, pairs = kept
        for count in range(len(belief.taken), len(answered.taken)):
            # The last step gives `answered` itself: the same bits.
            belief = answered if count + 1 == len(answered.taken) else belief.shrink(*answered.taken[count])
            since = np.array([pair[:2] for pair in belief.taken[len(pairs.belief.taken) :]]).T
            # An answered pair may have an item that is excluded by now.
            asked = pool.ranks(PairList.of(*since).within(pool.group))
            allowed = ~np.isin(pairs.ranks, asked)
            _, utilities = pairs.candidates(belief, self._utility, allowed, self._limits)
            if utilities.max(initial=-math.inf) < pairs.least:
                pairs = self._list(belief, pool)
        self._kept = belief, pairs
        return pairs

    def _list(self, belief: ManyItemsBelief, pool: AllPairs) -> _List:
        most = self._most_items(pool)
        searched = Searched.of(belief, self._measuring, most, self._limits, self._utility.weights)
        return _List.of(searched, belief, pool, self._utility, self._limits)

    def _most_items(self, pool: AllPairs) -> int:
        many = pool.starts[-1] > self._limits.most_pairs
        items = len(pool.division.order)
        return min(self._limits.most_items, items) if many else items


def _leads_to(belief: ManyItemsBelief, later: ManyItemsBelief) -> bool:
    """Whether the later one is this one with more answers, or none."""
    return belief.at_refit is later.at_refit and belief.taken == later.taken[: len(belief.taken)]


class _List(NamedTuple):
    """The best pairs found under a belief, also those that may not be asked, best first.

    ranks      (p,) of the pairs
    upper      (p,) upper bounds of their utilities
    least      the list is rebuilt once no pair on it has this utility: a pair that was not listed may be better
    bound      upper bound of the utility of any other pair of the items that were searched
    evaluated  how many pairs were evaluated
    """

    belief: ManyItemsBelief
    pairs: PairList
    ranks: Integers
    upper: Floats
    least: float
    bound: float
    evaluated: int

    def candidates(
        self, belief: ManyItemsBelief, utility: MonotoneUtility, allowed: NDArray[np.bool_], limits: Limits
    ) -> tuple[Integers, Floats]:
        """Places and utilities, under this belief, of pairs among which the best allowed one is.

        The belief is that of the list with answers or open queries taken off.
        """
        places, few = np.flatnonzero(allowed), limits.evaluated_first
        utilities = self._utilities(belief, utility, places[:few])
        floor = tie_floor(float(utilities.max(initial=-math.inf)))
        places = places[: max(few, int(np.searchsorted(-self.upper[places], -floor, side="right")))]
        return places, np.concatenate([utilities, self._utilities(belief, utility, places[few:])])

    def _utilities(self, belief: ManyItemsBelief, utility: MonotoneUtility, places: Integers) -> Floats:
        return of_pairs(utility, belief, self.pairs.left[places], self.pairs.right[places])

    @classmethod
    def of(
        cls, searched: Searched, belief: ManyItemsBelief, pool: AllPairs, utility: MonotoneUtility, limits: Limits
    ) -> _List:
        tiles = searched.tiles
        upper_bounds = tiles.upper_bounds(utility)
        budget = limits.tiles if pool.starts[-1] > limits.most_pairs else len(upper_bounds)
        order, bound = _most_promising(upper_bounds, budget)
        good, floor, done = _good_pairs(searched, order, upper_bounds[order], utility, limits)
        good = good.at(np.argsort(-good.upper, kind="stable"))
        # What the rounding of the utility itself may have hidden.
        upper = utility.upper_bound(np.append(good.upper, max(floor, 0.0)))
        bound = max(bound, float(upper_bounds[order[done : done + 1]].max(initial=upper[-1])))
        # Where many pairs tie, one is as good as another.
        least = max(float(upper[-1]), _GOOD * float(good.lower.max(initial=-math.inf)))
        least = min(least, (1.0 - MANY_TIES) * float(upper[0]))
        one, other = (blocks[order[:done]] for blocks in (tiles.first, tiles.second))
        sizes = np.diff(searched.begins)
        evaluated = int(np.where(one == other, sizes[one] * (sizes[one] - 1) // 2, sizes[one] * sizes[other]).sum())
        pairs = PairList.of(*np.sort(searched.items.rows[[good.left, good.right]], axis=0))
        return cls(belief, pairs, pool.ranks(pairs), upper[:-1], least, bound, evaluated)


class _Good(NamedTuple):
    """Pairs of places among the items searched; bounds of their utilities, as float32 has them; each (p,)."""

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
    searched: Searched, order: Integers, bound: Floats, utility: MonotoneUtility, limits: Limits
) -> tuple[_Good, float, int]:
    """The good pairs of tiles taken in this order, an upper bound for their other pairs, and how many were taken.

    bound (t,) of the tiles in this order, falling.
    """
    items, tiles = searched.items, searched.tiles
    squared = (items.squared + items.residual).astype(np.float32)
    first, second = tiles.first[order], tiles.second[order]
    gap, variance, weight = tiles.gap[order], tiles.variance[order], tiles.heaviest[first] * tiles.heaviest[second]
    slack = SINGLE_ROUNDING * (tiles.longest[first] + tiles.longest[second])
    nothing, no_utility = np.empty(0, dtype=np.int64), np.empty(0)
    good = _Good(nothing, nothing, no_utility, no_utility)
    done, most, least, floor = 0, 1, -math.inf, -math.inf
    # Few tiles at first: the better the best pairs known, the fewer of the others are good.
    while done < (last := int(np.searchsorted(-bound, -floor))):
        part = slice(done, min(done + most, last))
        least_variance = _least_variance(utility, gap[part], variance[part], floor / weight[part])
        needed = (least_variance - slack[part]).astype(np.float32)
        count, left, right, variances = wide_pairs(
            searched.factor,
            squared,
            searched.begins,
            first[part],
            second[part],
            needed,
            limits.pairs_at_once,
        )
        off = SINGLE_ROUNDING * (squared[left] + squared[right]).astype(np.float64)
        upper = utility(items.score[left] - items.score[right], np.maximum(variances, 0.0) + off)
        upper *= items.weight[left] * items.weight[right]
        good = good.with_more(_Good(left, right, upper, upper - 2.0 * utility.max_slope * off))
        if len(good.lower) >= limits.reference_rank:
            reference = float(np.partition(good.lower, -limits.reference_rank)[-limits.reference_rank])
            least = max(least, _GOOD * reference)
        kept, floor = np.flatnonzero(good.upper >= least), max(floor, least)
        if len(kept) > limits.listed_pairs:
            kept = kept[np.argsort(-good.upper[kept], kind="stable")]
            floor = max(floor, float(good.upper[kept[limits.listed_pairs]]))
            kept = kept[: limits.listed_pairs]
        good = good.at(kept)
        # Where all that are listed tie, millions may; then only a better pair still counts.
        if floor >= good.lower.max(initial=-math.inf) > -math.inf:
            highest = float(good.upper.max())
            floor = highest * (1.0 + utility.relative_tolerance + MANY_TIES) + utility.absolute_tolerance
        done, most = done + count, 4 * count
    return good, floor, done


def _most_promising(bound: Floats, most: int) -> tuple[Integers, float]:
    """The tiles to evaluate, the largest bound first, and the largest bound of the others."""
    places, other = np.arange(len(bound)), 0.0
    if len(places) > most:
        places = np.argpartition(-bound, most)
        places, other = places[:most], float(bound[places[most]])
    return places[np.argsort(-bound[places], kind="stable")], other


def _least_variance(utility: MonotoneUtility, gap: Floats, variance: Floats, wanted: Floats) -> Floats:
    """(t,) the least v, up to `variance`, that gives this |m| the wanted utility: bisection, from below."""
    low, high = np.zeros(len(gap)), variance
    for _ in range(30):
        middle = 0.5 * (low + high)
        below = utility(gap, middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low
