"""Several choices from one search of all pairs: the best ones are listed, and used while no other can be better.

Choices for several people at once differ by the open queries alone, and each of these takes a rank-one piece off the
covariance. So no monotone utility increases: a pair that is not listed stays below an upper bound, and while a listed
one is above that bound, it is the best of all (Minoux 1978: lazy greedy).
"""

from __future__ import annotations

import numpy as np

from ordinate.choosing.search.choice import BestSoFar, Choice
from ordinate.choosing.search.limits import LIMITS, PRODUCT_ROUNDING, Limits
from ordinate.choosing.search.rows import NO_PAIR, RowSearch
from ordinate.choosing.search.search import Search
from ordinate.choosing.search.utility import MonotoneUtility, Utility
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import AllPairs, PairList, Pool
from ordinate.learning.belief import Belief

_SHARE = 16
"""One row in this many is listed, those of the highest maxima, and `Limits.shortlist_rows` at least."""
_BLOCK = 32
"""Rows evaluated together."""


class Shortlist:
    """The search of one batch: each of its beliefs is an earlier one with more open queries taken off."""

    def __init__(self, otherwise: Search, limits: Limits = LIMITS) -> None:
        """otherwise: the search that gives what no list can."""
        self._otherwise, self._limits = otherwise, limits
        self._list: _List | None = None

    def best(self, answered: Belief, belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
        if (
            isinstance(pool, AllPairs)
            and isinstance(utility, MonotoneUtility)
            and belief.many_items is None
            and 0 < pool.size <= self._limits.most_pairs
        ):
            before = rng.bit_generator.state
            choice = self._listed(belief, pool, utility, rng.integers(0, 2**64, dtype=np.uint64))
            if choice is not None:
                return choice
            rng.bit_generator.state = before
        return self._otherwise.best(answered, belief, pool, utility, rng)

    def promising(self, answered: Belief, pool: Pool, rng: np.random.Generator) -> Pool:
        return self._otherwise.promising(answered, pool, rng)

    def _listed(self, belief: Belief, pool: AllPairs, utility: MonotoneUtility, seed: np.uint64) -> Choice | None:
        if self._list is None or not self._list.serves(belief, pool, utility):
            self._list = _List(belief, pool, utility, self._limits)
        choice = self._list.best(belief, pool, seed)
        # A list that was of no use from the start, because too many pairs tie or may not be asked, would be so again.
        if choice is None and self._list.used:
            self._list = _List(belief, pool, utility, self._limits)
            choice = self._list.best(belief, pool, seed)
        return choice


class _List:
    """The best pairs under a belief, also those that may not be asked, and an upper bound for all others."""

    def __init__(self, belief: Belief, pool: AllPairs, utility: MonotoneUtility, limits: Limits) -> None:
        self.used = False
        self._history, self._division, self._utility = belief.history, pool.division, utility
        self._rows = RowSearch(belief, pool, utility)
        self._pairs, self._bound = _best_pairs(belief, pool, utility, self._rows.maxima(belief), limits)
        self._ranks = pool.ranks(self._pairs)

    def serves(self, belief: Belief, pool: AllPairs, utility: MonotoneUtility) -> bool:
        same = pool.division is self._division and utility == self._utility
        return same and belief.history.continues(self._history)

    def best(self, belief: Belief, pool: AllPairs, seed: np.uint64) -> Choice | None:
        """The best pair of the pool, unless it may be one that is not listed."""
        allowed = pool.holds(self._ranks)
        left, right = self._pairs.left[allowed], self._pairs.right[allowed]
        best = BestSoFar(seed)
        best.add(left, right, self._utility(*belief.differences(left, right)))
        bound = self._utility.upper_bound(self._bound) + self._rows.slack(belief)
        if not best.floor > bound + PRODUCT_ROUNDING * abs(bound):
            return None
        self.used = True
        return best.choice(len(left))


def _best_pairs(
    belief: Belief, pool: AllPairs, utility: MonotoneUtility, maxima: Floats, limits: Limits
) -> tuple[PairList, float]:
    """The best pairs, and the largest utility among all others, up to rounding; maxima: of the rows of all groups."""
    bound, chosen = NO_PAIR, np.arange(len(maxima))
    if len(maxima) > (count := max(limits.shortlist_rows, len(maxima) // _SHARE)):
        order = np.argpartition(maxima, -count)
        bound, chosen = float(maxima[order[:-count]].max()), np.sort(order[-count:])
    found, begins = [], pool.division.begins
    for number, rows in enumerate(pool.rows):
        here = chosen[slice(*np.searchsorted(chosen, begins[number : number + 2]))] - begins[number]
        for start in range(0, len(here), _BLOCK):
            block = here[start : start + _BLOCK]
            found.append(_above(bound, belief, rows[block], rows[block[0] :], utility))
    left, right, utilities = map(np.concatenate, zip(*found, strict=True))
    if len(utilities) > limits.shortlist_pairs:
        order = np.argpartition(utilities, -limits.shortlist_pairs)
        bound, kept = float(utilities[order[: -limits.shortlist_pairs]].max()), order[-limits.shortlist_pairs :]
        left, right = left[kept], right[kept]
    return PairList.of(left, right), bound


def _above(
    bound: float, belief: Belief, rows: Integers, columns: Integers, utility: MonotoneUtility
) -> tuple[Integers, Integers, Floats]:
    """The pairs of ascending rows with later columns whose utility is above the bound, and their utilities; (p,)."""
    tile = belief.covariance(rows, columns)
    variances = belief.variance[rows][:, None] + belief.variance[columns] - 2.0 * tile
    margins = belief.mean[rows][:, None] - belief.mean[columns]
    utilities = utility(margins.ravel(), np.maximum(variances, 0.0).ravel()).reshape(tile.shape)
    row, column = np.nonzero((utilities > bound) & (columns > rows[:, None]))
    return rows[row], columns[column], utilities[row, column]
