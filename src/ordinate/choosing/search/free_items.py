"""The best pair among those of free items, of which there are many without features: nearly all pairs then tie.

A free item is one that nothing is known about: its score is independent of all others, and all free ones have the same
mean and variance. So all pairs of two free items of a group have one utility, and of these only the pair of the highest
priority can be chosen, mostly that of the two items of the highest priority. All pairs of one other item with free ones
of its group have one utility too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import BestSoFar, item_priorities
from ordinate.choosing.search.utility import Utility, of_pairs
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
        found = highest_priority(item_priorities(best.seed, alike), place[first[both]], place[second[both]])
        if found is not None:
            left, right = np.sort(alike[list(found)])[:, None]
            best.add(left, right, of_pairs(utility, belief, left, right))
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


def highest_priority(priorities: NDArray[np.uint64], first: Integers, second: Integers) -> tuple[int, int] | None:
    """Of the pairs of items 0, 1, ... (u,), but those of first[p] and second[p]; None where there is none."""
    order = np.argsort(priorities)[::-1]
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    higher, lower = np.minimum(rank[first], rank[second]), np.maximum(rank[first], rank[second])
    by_pair = np.lexsort((lower, higher))
    begins = np.searchsorted(higher[by_pair], np.arange(len(order) + 1))
    for place in range(len(order) - 1):
        lacked = lower[by_pair[begins[place] : begins[place + 1]]]
        # The first that is not lacked: those before it follow one another.
        other = place + 1 + int(np.count_nonzero(lacked == np.arange(place + 1, place + 1 + len(lacked))))
        if other < len(order):
            return int(order[place]), int(order[other])
    return None
