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
    """Keep the best of the pairs that have a free item (n,); returns how many utilities were evaluated.

    There may be thousands of groups, such as prompts, so what can be done for all of them at once is.
    """
    division = pool.division
    alike = division.order[free[division.order]]
    ones, groups = _highest_pairs(pool, free, alike, best.seed)
    best.add(ones.left, ones.right, of_pairs(utility, belief, ones.left, ones.right))
    # One free item of each group stands for all of them, where another item is compared with them.
    stands = np.full(len(pool.rows), -1)
    stands[division.number[alike]] = alike
    others = division.order[~free[division.order]]
    others = others[stands[division.number[others]] >= 0]
    utilities = of_pairs(utility, belief, others, stands[division.number[others]])
    # From the highest on, so that the floor rises at once and few items are looked at.
    for place in np.argsort(-utilities, kind="stable").tolist():
        if utilities[place] < best.floor:
            break
        item, rows = others[place], pool.rows[division.number[others[place]]]
        partners = rows[free[rows]]
        one, other = np.minimum(item, partners), np.maximum(item, partners)
        held = pool.holds(pool.ranks(PairList.of(one, other)))
        best.add(one[held], other[held], np.full(int(held.sum()), utilities[place]))
    return groups + len(others)


def _highest_pairs(pool: AllPairs, free: NDArray[np.bool_], alike: Integers, seed: np.uint64) -> tuple[PairList, int]:
    """Of each group the pair of free items `alike` of the highest priority; how many groups have a free item."""
    number = pool.division.number
    order = np.lexsort((~item_priorities(seed, alike), number[alike]))
    ranked = alike[order]
    begins = np.flatnonzero(np.diff(number[ranked], prepend=-1))
    several = begins[np.diff(np.append(begins, len(ranked))) > 1]
    left, right = ranked[several], ranked[several + 1]
    # The pool may lack pairs of free items, such as skipped ones; few groups have any.
    masked = pool.pairs_of(pool.masked)
    lacking = np.unique(number[masked.left[free[masked.left] & free[masked.right]]])
    whole = ~np.isin(number[left], lacking)
    found = [(left[whole], right[whole])]
    for group in lacking.tolist():
        rows = pool.rows[group]
        places, members = np.cumsum(free[rows]) - 1, rows[free[rows]]
        first, second = pool.masked_in(group)
        both = free[rows[first]] & free[rows[second]]
        pair = highest_priority(item_priorities(seed, members), places[first[both]], places[second[both]])
        if pair is not None:
            found.append((members[[pair[0]]], members[[pair[1]]]))
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    return PairList.of(np.minimum(left, right), np.maximum(left, right)), len(begins)


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
