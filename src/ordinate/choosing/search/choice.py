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


@compiled
def tie_floor(value: float) -> float:
    """The least value that ties with this one."""
    return value - TIE * abs(value)


class BestSoFar:
    """The best of the pairs it was given, in whatever order; of pairs that tie, the one of the highest priority.

    The priority of a pair follows from those of its items, which depend on the seed and the item alone. Only pairs that
    may still be chosen are kept: few, however many tie.
    """

    def __init__(self, seed: np.uint64) -> None:
        self.utility, self.seed = -math.inf, seed
        # Left and right rows, utilities and priorities of the pairs that may still be chosen.
        self._kept: tuple[Integers, Integers, Floats, NDArray[np.uint64]] | None = None

    @property
    def floor(self) -> float:
        """The least utility that ties with the best so far."""
        return tie_floor(self.utility)

    def add(self, left: Integers, right: Integers, utilities: Floats) -> None:
        """Pairs of rows, and the utility of each; all (P,)."""
        highest = float(utilities.max(initial=-math.inf))
        if not len(utilities) or highest < self.floor:
            return
        self.utility = max(self.utility, highest)
        places, priorities = _contenders(self.seed, left, right, utilities, highest, self.floor)
        found = left[places], right[places], utilities[places], priorities
        if self._kept is not None:
            old = self._kept
            found = (
                np.concatenate([old[0], found[0]]),
                np.concatenate([old[1], found[1]]),
                np.concatenate([old[2], found[2]]),
                np.concatenate([old[3], found[3]]),
            )
        self._kept = found if len(found[0]) == 1 else _not_dominated(*found)

    def choice(self, pairs_evaluated: int) -> Choice:
        """Of one pair or more."""
        if self._kept is None:
            raise ValueError("there is no choice without a pair")
        left, right, utilities, priorities = self._kept
        place = int(np.where(utilities >= self.floor, priorities, 0).argmax()) if len(left) > 1 else 0
        return Choice(int(left[place]), int(right[place]), float(utilities[place]), pairs_evaluated)


def _not_dominated(
    left: Integers, right: Integers, utilities: Floats, priorities: NDArray[np.uint64]
) -> tuple[Integers, Integers, Floats, NDArray[np.uint64]]:
    """The pairs that no other one surpasses in both utility and priority: any may be chosen, none else."""
    order = np.lexsort((priorities, utilities))[::-1]
    highest = np.maximum.accumulate(priorities[order])
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = highest[1:] > highest[:-1]
    order = order[first]
    return left[order], right[order], utilities[order], priorities[order]


@compiled
def pair_priority(seed: np.uint64, i: int, j: int) -> np.uint64:
    """The higher priority of the two items, then the lower one: different pairs have different ones, in either order.

    Were it a random number of the pair, the highest one of n items would take n^2 (see `free_items`).
    """
    return joined_priority(item_priority(seed, i), item_priority(seed, j))


@compiled
def joined_priority(one: np.uint64, other: np.uint64) -> np.uint64:
    """That of the pair of two items of these priorities."""
    return (max(one, other) << np.uint64(32)) | min(one, other)


@compiled
def item_priority(seed: np.uint64, item: int) -> np.uint64:
    """A pseudo-random 32-bit number, different for each item: murmur3's finaliser, once for each half of the seed."""
    low, state = np.uint64(0xFFFFFFFF), np.uint64(item)
    for half in (seed & low, seed >> np.uint64(32)):
        state ^= half
        state ^= state >> np.uint64(16)
        state = (state * np.uint64(0x85EBCA6B)) & low
        state ^= state >> np.uint64(13)
        state = (state * np.uint64(0xC2B2AE35)) & low
        state ^= state >> np.uint64(16)
    return state


@compiled
def item_priorities(seed: np.uint64, rows: Integers) -> NDArray[np.uint64]:
    """(u,) of items (u,)."""
    priorities = np.empty(rows.shape[0], dtype=np.uint64)
    for place in range(rows.shape[0]):
        priorities[place] = item_priority(seed, rows[place])
    return priorities


@compiled
def _contenders(
    seed: np.uint64, left: Integers, right: Integers, utilities: Floats, highest: float, floor: float
) -> tuple[Integers, NDArray[np.uint64]]:
    """Places and priorities of the pairs (P,) that reach the floor and may be chosen; highest: of the utilities.

    A pair may not if another one has both a higher priority and no lower utility, as the best one has for most.
    """
    total, count = utilities.shape[0], 0
    places, priorities = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.uint64)
    # Of the pairs with the highest utility only one can be chosen. Nearly all may have it: each is looked at once.
    needed = np.uint64(0)
    for pair in range(total):
        if utilities[pair] == highest:
            priority = pair_priority(seed, left[pair], right[pair])
            if count == 0 or priority > needed:
                needed, count = priority, 1
                places[0], priorities[0] = pair, priority
    for pair in range(total):
        if floor <= utilities[pair] < highest:
            priority = pair_priority(seed, left[pair], right[pair])
            if priority >= needed:
                places[count], priorities[count] = pair, priority
                count += 1
    return places[:count].copy(), priorities[:count].copy()
