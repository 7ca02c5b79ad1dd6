"""A list of pairs, lazily: a pair's old worth bounds its new one, so only pairs that could still win are looked at.

Between refits m stays and every answer takes a rank-one piece off the covariance, so no utility rises that does not
fall where v rises; see `row_bounds`, which does this for all pairs. Lists that lose or gain pairs share their listing,
and so the bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import Choice, Rising, floor_of, pair_priorities
from ordinate.compiled import fast
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import PairList
from ordinate.learning.belief import Belief, difference

_FEW = 256
"""Pairs looked at together: fewer would cost as much, more would look at pairs that the first of them rule out."""
_UNKNOWN = 1e300
"""Above every worth: the bound of a pair that was not looked at yet."""


class PairBounds:
    """For one listing and one utility; it holds on to bounds, never to a belief."""

    def __init__(self, pool: PairList, utility: Rising, answered: Belief) -> None:
        self._utility, self._history = utility, answered.history
        self._listing, self._upper = pool.listing, np.full(len(pool.listing), _UNKNOWN)
        largest = max(float(answered.variance.max()), float(np.diagonal(answered.base).max(initial=0.0)))
        terms = answered.factor.shape[1] + 16
        self._rounding = 16.0 * terms * np.finfo(np.float64).eps * largest * utility.steepest

    def serves(self, pool: PairList, utility: Rising, answered: Belief) -> bool:
        """Whether the bounds hold for these, moving them on to this belief if they do."""
        if pool.listing is not self._listing or utility != self._utility:
            return False
        if not answered.history.continues(self._history):
            return False
        self._history = answered.history
        return True

    def best(self, answered: Belief, belief: Belief, pool: PairList, seed: np.uint64) -> Choice:
        """The best pair of the list under `belief`, which is `answered` with any open queries taken off."""
        slack = self._rounding * (1 + belief.history.length) + self._utility.faint
        left, right = self._listing.left, self._listing.right
        waiting, looked, worths = pool.kept.copy(), [], []
        # The pairs of the highest bound come first: after a refit all of them, otherwise one that rules out most.
        reached, best, most = _highest(self._upper, waiting), -math.inf, _FEW
        while len(near := _reaching(self._upper, waiting, reached)):
            if len(near) > most and reached < _UNKNOWN:
                near = near[np.argpartition(self._upper[near], -most)[-most:]]
                most *= 2
            values = self._utility(*difference(belief, left[near], right[near]))
            kept = values if belief is answered else self._utility(*difference(answered, left[near], right[near]))
            self._upper[near], waiting[near] = kept, False
            looked.append(near)
            worths.append(values)
            best = max(best, float(values.max()))
            reached = (floor_of(best) - slack) / (1.0 + self._utility.wobble)
        places, values = np.concatenate(looked), np.concatenate(worths)
        tied = np.flatnonzero(values >= floor_of(best))
        priorities = pair_priorities(seed, left[places[tied]], right[places[tied]])
        first = tied[int(np.argmax(priorities))]
        place = places[first]
        return Choice(int(left[place]), int(right[place]), float(values[first]), len(places))


@fast
def _highest(values: Floats, among: NDArray[np.bool_]) -> float:
    """The largest of the values, none below 0, that are marked."""
    highest = -1.0
    for place in range(values.shape[0]):
        highest = max(highest, values[place] if among[place] else -1.0)
    return highest


def _reaching(values: Floats, among: NDArray[np.bool_], floor: float) -> Integers:
    """The places of the marked values of at least `floor`."""
    places = np.flatnonzero(values >= floor)
    return places[among[places]]
