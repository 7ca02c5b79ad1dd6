"""A list of pairs, searched lazily: an old utility bounds the new one, so only pairs that may win are evaluated.

Between refits m stays and every answer takes a rank-one piece off the covariance, so no monotone utility increases;
`segments` searches all pairs by the same rule. Pair lists that gain or lose pairs share their listing, and so the
bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import BestSoFar, Choice, item_priorities, joined_priority, tie_floor
from ordinate.choosing.search.utility import MonotoneUtility, of_pairs
from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import PairList
from ordinate.learning.belief import Belief

_FEW = 256
"""Pairs evaluated together: fewer would cost as much, more would include pairs that the first of them rule out."""
_UNKNOWN = 1e300
"""The bound of a pair that was not evaluated yet: above every utility."""


class ListSearch:
    """For one listing and one utility. It keeps bounds, never a belief."""

    def __init__(self, answered: Belief, pool: PairList, utility: MonotoneUtility) -> None:
        self._utility, self._history = utility, answered.history
        self._listing, self._upper = pool.listing, np.full(len(pool.listing), _UNKNOWN)
        self._rounding = answered.rounding * utility.max_slope

    def serves(self, answered: Belief, pool: PairList, utility: MonotoneUtility) -> bool:
        """Whether the bounds hold for these; they then move on to this belief."""
        if pool.listing is not self._listing or utility != self._utility:
            return False
        if not answered.history.continues(self._history):
            return False
        self._history = answered.history
        return True

    def best(self, answered: Belief, belief: Belief, pool: PairList, seed: np.uint64) -> Choice:
        """The best pair of the list under `belief`, which is `answered` with any open queries taken off."""
        slack = self._rounding * (1 + belief.history.length) + self._utility.absolute_tolerance
        left, right = self._listing.left, self._listing.right
        waiting, most = pool.kept.copy(), _FEW
        found: list[tuple[Integers, Floats]] = []

        def evaluate(near: Integers) -> float:
            """The pairs at these places; returns the highest utility."""
            utilities = of_pairs(self._utility, belief, left[near], right[near])
            kept = utilities if belief is answered else of_pairs(self._utility, answered, left[near], right[near])
            self._upper[near], waiting[near] = kept, False
            found.append((near, utilities))
            return float(utilities.max())

        if len(of_free := self._of_free_items(belief, waiting, seed)):
            highest = evaluate(of_free)
            reached = self._reached(highest, slack)
        else:
            # The pairs of the highest bound come first: after a refit all of them, otherwise one that rules out most.
            highest, reached = -math.inf, _highest(self._upper, waiting)
        while len(near := _reaching(self._upper, waiting, reached)):
            if len(near) > most and reached < _UNKNOWN:
                near = near[np.argpartition(self._upper[near], -most)[-most:]]
                most *= 2
            highest = max(highest, evaluate(near))
            reached = self._reached(highest, slack)
        places, utilities = (np.concatenate(column) for column in zip(*found, strict=True))
        best, tied = BestSoFar(seed), np.flatnonzero(utilities >= tie_floor(highest))
        best.add(left[places[tied]], right[places[tied]], utilities[tied])
        return best.choice(len(places))

    def _of_free_items(self, belief: Belief, waiting: NDArray[np.bool_], seed: np.uint64) -> Integers:
        """The place of the pair to look at of all marked ones of two free items, which have one utility (see
        `free_items`). The marks of these are taken off: no other one of them can be chosen."""
        free = belief.free
        if free is None or self._utility.weights is not None:
            return np.empty(0, dtype=np.int64)
        priorities = item_priorities(seed, np.arange(len(free)))
        place = take_free_pairs(priorities, self._listing.left, self._listing.right, free, waiting)
        return np.array([place] if place >= 0 else [], dtype=np.int64)

    def _reached(self, highest: float, slack: float) -> float:
        """The bound from which on a pair may tie with, or exceed, a utility."""
        return float((tie_floor(highest) - slack) / (1.0 + self._utility.relative_tolerance))


@fast
def _highest(values: Floats, among: NDArray[np.bool_]) -> float:
    """The largest of the values, none below 0, that are marked."""
    highest = -1.0
    for place in range(values.shape[0]):
        highest = max(highest, values[place] if among[place] else -1.0)
    return highest


def _reaching(values: Floats, among: NDArray[np.bool_], floor: float) -> Integers:
    """The places of the marked values of at least `floor`."""
    return np.flatnonzero((values >= floor) & among)


@compiled
def take_free_pairs(
    priorities: NDArray[np.uint64],
    left: Integers,
    right: Integers,
    free: NDArray[np.bool_],
    waiting: NDArray[np.bool_],
) -> int:
    """Take the marks (L,) off all pairs of two free items (n,); the place of the one of the highest priority, or -1."""
    best, highest = -1, np.uint64(0)
    for place in range(left.shape[0]):
        i, j = left[place], right[place]
        if waiting[place] and free[i] and free[j]:
            waiting[place] = False
            priority = joined_priority(priorities[i], priorities[j])
            if best < 0 or priority > highest:
                best, highest = place, priority
    return best
