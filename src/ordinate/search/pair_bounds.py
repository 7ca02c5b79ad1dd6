"""A list of pairs, lazily: a pair's old worth bounds its new one, so only pairs that could still win are looked at.

Between refits m stays and every answer takes a rank-one piece off the covariance, so no utility rises that does not
fall where v rises; see `row_bounds`, which does this for all pairs. Lists that lose or gain pairs keep the bounds of
those they share.
"""

from __future__ import annotations

import math

import numpy as np

from ordinate import kernels
from ordinate.belief import Belief, difference
from ordinate.search.choice import Choice, Rising, floor_of
from ordinate.search.pools import PairList
from ordinate.types import Floats, Integers

_LEAST = 256
"""Pairs looked at together: fewer would cost as much, more would look at pairs that the first of them rule out."""


class PairBounds:
    """For one utility; it holds on to bounds, never to a belief."""

    def __init__(self, pool: PairList, utility: Rising, answered: Belief) -> None:
        self._utility, self._history = utility, answered.history
        self._pool, self._upper = pool, np.full(pool.size, np.inf)
        largest = max(float(answered.variance.max()), float(np.diagonal(answered.base).max(initial=0.0)))
        terms = answered.factor.shape[1] + 16
        self._rounding = 16.0 * terms * np.finfo(np.float64).eps * largest * utility.steepest

    def serves(self, pool: PairList, utility: Rising, answered: Belief) -> bool:
        """Whether bounds are left for these, moving them on to this list and this belief if so."""
        if utility != self._utility or not answered.history.continues(self._history):
            return False
        self._history = answered.history
        if pool is not self._pool:
            self._upper = _carried_over(self._pool.left, self._pool.right, self._upper, pool.left, pool.right, math.inf)
            self._pool = pool
        return True

    def best(self, answered: Belief, belief: Belief, seed: np.uint64) -> Choice:
        """The best pair of the list under `belief`, which is `answered` with any open queries taken off."""
        slack = self._rounding * (1 + belief.history.length) + self._utility.faint
        values = np.full(self._pool.size, -np.inf)
        upper, best, looked = self._upper.copy(), -math.inf, 0
        while True:
            near = np.flatnonzero(upper * (1.0 + self._utility.wobble) + slack >= floor_of(best))
            if not len(near):
                break
            if len(unknown := near[upper[near] == np.inf]):
                near = unknown
            elif len(near) > _LEAST:
                near = near[np.argpartition(upper[near], -_LEAST)[-_LEAST:]]
            left, right = self._pool.left[near], self._pool.right[near]
            values[near] = self._utility(*difference(belief, left, right))
            kept = values[near] if belief is answered else self._utility(*difference(answered, left, right))
            self._upper[near], upper[near] = kept, -np.inf
            best = max(best, float(values[near].max()))
            looked += len(near)
        tied = np.flatnonzero(values >= floor_of(best))
        priorities = kernels.pair_priorities(seed, self._pool.left[tied], self._pool.right[tied])
        place = tied[int(np.argmax(priorities))]
        return Choice(int(self._pool.left[place]), int(self._pool.right[place]), float(values[place]), looked)


@kernels.compiled
def _carried_over(
    old_left: Integers, old_right: Integers, old: Floats, left: Integers, right: Integers, otherwise: float
) -> Floats:
    """(P,) the old list's value of each pair of a new list, `otherwise` where it is not found.

    Every pair in both is found if both lists are in the same order; a value is never that of another pair.
    """
    values = np.full(left.shape[0], otherwise)
    place = 0
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        while place < old.shape[0] and (old_left[place] < i or (old_left[place] == i and old_right[place] < j)):
            place += 1
        if place < old.shape[0] and old_left[place] == i and old_right[place] == j:
            values[pair] = old[place]
    return values
