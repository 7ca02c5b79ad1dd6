"""A choice, and how it is made among pairs that tie: the one place where a tie is broken."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.limits import TIE
from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers


class Choice(NamedTuple):
    """A pair of item rows, unordered; its utility to the strategy; how many pairs were evaluated to find it."""

    left: int
    right: int
    utility: float
    pairs_evaluated: int = 0


def tie_floor(value: float) -> float:
    """The least value that ties with this one."""
    return value - TIE * abs(value)


class BestSoFar:
    """The best of the pairs it was given, in whatever order; of pairs that tie, the one of the highest priority.

    The priority of a pair is a pseudo-random number that depends on the seed and the pair alone. Only pairs that may
    still be chosen are kept: few, however many tie.
    """

    def __init__(self, seed: np.uint64) -> None:
        self.utility, self._seed = -math.inf, seed
        nothing = np.empty(0, dtype=np.int64)
        self._kept = nothing, nothing, np.empty(0), np.empty(0, dtype=np.uint64)

    @property
    def floor(self) -> float:
        """The least utility that ties with the best so far."""
        return tie_floor(self.utility)

    def add(self, left: Integers, right: Integers, utilities: Floats) -> None:
        """Pairs of rows, and the utility of each; all (P,)."""
        self.utility = max(self.utility, float(utilities.max(initial=-math.inf)))
        near = np.flatnonzero(utilities >= self.floor)
        if not len(near):
            return
        left, right, utilities = left[near], right[near], utilities[near]
        priorities = pair_priorities(self._seed, left, right)
        # A pair is out if another one is as good and of higher priority, as the best one is for most.
        kept = priorities >= priorities[utilities == utilities.max()].max()
        found = left[kept], right[kept], utilities[kept], priorities[kept]
        left, right, utilities, priorities = map(np.concatenate, zip(self._kept, found, strict=True))
        # Of the rest, those than which no better one has a higher priority.
        order = np.lexsort((priorities, utilities))[::-1]
        highest = np.maximum.accumulate(priorities[order])
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = highest[1:] > highest[:-1]
        order = order[first]
        self._kept = left[order], right[order], utilities[order], priorities[order]

    def choice(self, pairs_evaluated: int) -> Choice:
        """Of one pair or more."""
        left, right, utilities, priorities = self._kept
        place = int(np.argmax(np.where(utilities >= self.floor, priorities, 0)))
        return Choice(int(left[place]), int(right[place]), float(utilities[place]), pairs_evaluated)


@compiled
def pair_priority(seed: np.uint64, i: int, j: int) -> np.uint64:
    """A pseudo-random 64-bit number of the pair i < j (splitmix64)."""
    state = (np.uint64(i) << np.uint64(32)) ^ np.uint64(j) ^ seed
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def pair_priorities(seed: np.uint64, left: Integers, right: Integers) -> NDArray[np.uint64]:
    """`pair_priority` of each pair, (P,)."""
    values = np.empty(left.shape[0], dtype=np.uint64)
    for pair in range(left.shape[0]):
        values[pair] = pair_priority(seed, min(left[pair], right[pair]), max(left[pair], right[pair]))
    return values
