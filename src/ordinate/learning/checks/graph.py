"""The graph whose edges are the compared pairs: its connected parts, and the pairs that alone hold parts together.

n  items     p  distinct pairs
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers


class Bridges(NamedTuple):
    """(b,) each: the items of a pair without which its part falls in two, and the items of the smaller of the two."""

    left: Integers
    right: Integers
    size: Integers


def parts(left: Integers, right: Integers, group: Integers) -> Integers:
    """(n,) the number of each item's connected part, the largest of each group first; -1 for items not in use."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    items = len(group)
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(items, items))
    number = connected_components(graph, directed=False)[1].astype(np.int64)
    size = np.bincount(number, minlength=items)[number]
    used = np.flatnonzero(group >= 0)
    found = np.full(items, -1, dtype=np.int64)
    order = used[np.lexsort((number[used], -size[used], group[used]))]
    found[order] = np.concatenate([[0], np.cumsum(np.diff(number[order]) != 0)]) if len(order) else 0
    return found


def beside_the_largest(number: Integers, group: Integers) -> Integers:
    """The items in use that are in no largest part of their group; `number` as `parts` gives it."""
    used = np.flatnonzero(group >= 0)
    if not len(used):
        return used
    largest = np.full(int(group.max()) + 1, len(number), dtype=np.int64)
    np.minimum.at(largest, group[used], number[used])
    beside: Integers = used[number[used] != largest[group[used]]]
    return beside


def bridges(left: Integers, right: Integers, items: int) -> Bridges:
    """By depth-first search (Tarjan 1974), in time O(n + p); left, right (p,) distinct pairs."""
    from scipy.sparse import csr_array

    ends, others = np.concatenate([left, right]), np.concatenate([right, left])
    graph = csr_array((np.ones(len(ends)), (ends, others)), shape=(items, items))
    near, far, size = find_bridges(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
    return Bridges(near, far, size)


@compiled
def find_bridges(begins: Integers, neighbours: Integers) -> tuple[Integers, Integers, Integers]:
    items = begins.shape[0] - 1
    entered, lowest = np.full(items, -1), np.zeros(items, dtype=np.int64)
    parent, below, root = np.full(items, -1), np.ones(items, dtype=np.int64), np.zeros(items, dtype=np.int64)
    following, path = begins[:items].copy(), np.empty(items, dtype=np.int64)
    near, far = np.empty(items, dtype=np.int64), np.empty(items, dtype=np.int64)
    found, clock = 0, 0
    for start in range(items):
        if entered[start] >= 0:
            continue
        depth = 0
        path[0], root[start] = start, start
        entered[start] = lowest[start] = clock
        clock += 1
        while depth >= 0:
            item = path[depth]
            if following[item] < begins[item + 1]:
                other = neighbours[following[item]]
                following[item] += 1
                if entered[other] < 0:
                    parent[other], root[other] = item, start
                    entered[other] = lowest[other] = clock
                    clock += 1
                    depth += 1
                    path[depth] = other
                elif other != parent[item]:
                    lowest[item] = min(lowest[item], entered[other])
                continue
            depth -= 1
            if depth >= 0:
                above = path[depth]
                lowest[above] = min(lowest[above], lowest[item])
                below[above] += below[item]
                if lowest[item] > entered[above]:
                    near[found], far[found] = above, item
                    found += 1
    size = np.empty(found, dtype=np.int64)
    for bridge in range(found):
        one = below[far[bridge]]
        size[bridge] = min(one, below[root[far[bridge]]] - one)
    return near[:found].copy(), far[:found].copy(), size


def strong_parts(left: Integers, right: Integers, outcome: Floats, items: int) -> Integers:
    """(n,) the number of each item's strongly connected part in the graph from winners to losers; ties lead both ways.

    Within such a part alone the answers bound the differences of scores from both sides (Ford 1957).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    wins, losses = outcome > 0.0, outcome < 1.0
    winner, loser = np.concatenate([left[wins], right[losses]]), np.concatenate([right[wins], left[losses]])
    graph = coo_array((np.ones(len(winner)), (winner, loser)), shape=(items, items))
    number: Integers = connected_components(graph, directed=True, connection="strong")[1].astype(np.int64)
    return number
