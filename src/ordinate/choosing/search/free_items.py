"""The best pair among those of free items, of which there are many without features: nearly all pairs then tie.

A free item is one that nothing is known about: its score is independent of all others, and all free ones have the same
mean and variance. So all pairs of two free items of a group have one utility, and of these only the pair of the highest
priority can be chosen. All pairs of one other item with free ones of its group have one utility too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import BestSoFar, pair_priority
from ordinate.choosing.search.utility import Utility, of_pairs
from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import AllPairs, PairList
from ordinate.learning.belief import Belief


def best_with_free_items(
    belief: Belief, pool: AllPairs, free: NDArray[np.bool_], utility: Utility, best: BestSoFar
) -> int:
    """Keep the best of the pairs that have a free item (n,); returns how many utilities were evaluated."""
    evaluated = 0
    for number, rows in enumerate(pool.rows):
        alike, others = rows[free[rows]], rows[~free[rows]]
        if not len(alike):
            continue
        # The pool may lack pairs of free items, such as skipped ones.
        first, second = pool.masked_in(number)
        both, place = free[rows[first]] & free[rows[second]], np.cumsum(free[rows]) - 1
        start = np.append(0, np.cumsum(np.bincount(place[first[both]], minlength=len(alike))))
        left, right = highest_priority(best.seed, alike, start, place[second[both]])
        if left >= 0:
            pair = np.array([left]), np.array([right])
            best.add(*pair, of_pairs(utility, belief, *pair))
        utilities = of_pairs(utility, belief, others, np.full(len(others), alike[0]))
        for item, value in zip(others[utilities >= best.floor], utilities[utilities >= best.floor], strict=True):
            one, other = np.minimum(item, alike), np.maximum(item, alike)
            held = pool.holds(pool.ranks(PairList.of(one, other)))
            best.add(one[held], other[held], np.full(int(held.sum()), value))
        evaluated += 1 + len(others)
    return evaluated


def of_one_weight(free: NDArray[np.bool_], weights: Floats, pool: AllPairs) -> NDArray[np.bool_]:
    """(n,) those of the free items that have the usual weight of their group's, and so still tie."""
    usual = free.copy()
    for rows in pool.rows:
        if len(alike := rows[free[rows]]):
            usual[alike] = weights[alike] == np.median(weights[alike])
    return usual


@compiled
def highest_priority(seed: np.uint64, rows: Integers, start: Integers, lacked: Integers) -> tuple[int, int]:
    """The pair of the highest priority of ascending rows (u,); -1, -1 where there is none.

    Left out are the pairs of rows[i] with rows[lacked[start[i]:start[i + 1]]], ascending.
    """
    highest, first = np.uint64(0), -1
    for place in range(rows.shape[0] - 1):
        found = _highest_in_row(seed, rows, place, lacked[start[place] : start[place + 1]])
        if found > highest:
            highest, first = found, place
    if first < 0:
        return -1, -1
    for other in range(first + 1, rows.shape[0]):
        if pair_priority(seed, rows[first], rows[other]) == highest:
            return rows[first], rows[other]
    return -1, -1


@compiled
def _highest_in_row(seed: np.uint64, rows: Integers, place: int, lacked: Integers) -> np.uint64:
    """The highest priority of the pairs of a row with later ones, but the lacked ones; 0 where there is none."""
    highest, begin = np.uint64(0), place + 1
    for stop in range(lacked.shape[0] + 1):
        end = lacked[stop] if stop < lacked.shape[0] else rows.shape[0]
        part = rows[begin:end]  # indices from 0 on let the loop be vectorised
        for other in range(part.shape[0]):
            highest = max(highest, pair_priority(seed, rows[place], part[other]))
        begin = end + 1
    return highest
