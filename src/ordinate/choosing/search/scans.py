"""The compiled loops of the search among too many pairs: bounds of tiles, their widest pairs.

u  items, block after block     b  blocks     t  tiles: pairs of blocks     k  columns     w  a factor's rows
"""

from __future__ import annotations

import numpy as np

from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers, Singles

_TWO = np.float32(2.0)


@fast
def lengths(factor: Singles) -> Floats:
    """(u,) squared lengths of the rows of a factor (u, k)."""
    squared = np.empty(factor.shape[0])
    for row in range(factor.shape[0]):
        total = np.float32(0.0)
        for column in range(factor.shape[1]):
            total += factor[row, column] * factor[row, column]
        squared[row] = total
    return squared


@compiled
def tile_bounds(
    blocks: Integers,
    ends: Integers,
    low: Floats,
    high: Floats,
    near: Floats,
    far: Floats,
    reach: Floats,
    residual: Floats,
) -> tuple[Integers, Integers, Floats, Floats]:
    """Every two blocks of one group and every block with itself: the two, |m| at least and v at most; each (t,).

    The blocks of a group end before blocks[ends[g]]; low, high .. residual (b,) are what `tiles` says of each block.
    """
    count, begin = 0, 0
    for end in ends:
        count += (end - begin) * (end - begin + 1) // 2
        begin = end
    first, second = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    gap, variance = np.empty(count), np.empty(count)
    tile, begin = 0, 0
    for end in ends:
        for one in range(begin, end):
            for other in range(one, end):
                a, b = blocks[one], blocks[other]
                first[tile], second[tile] = a, b
                gap[tile] = max(low[a] - high[b], low[b] - high[a], 0.0)
                apart = max(far[a] - near[b], far[b] - near[a])
                wide = reach[a] + reach[b]
                variance[tile] = apart * apart + wide * wide + residual[a] + residual[b]
                tile += 1
        begin = end
    return first, second, gap, variance


@fast
def wide_pairs(
    factor: Singles,
    lengths: Singles,
    begins: Integers,
    first: Integers,
    second: Integers,
    needed: Singles,
    room: int,
) -> tuple[int, Integers, Integers, Singles]:
    """How many tiles were looked at, and their pairs of at least the variance needed: places and variance, each (p,).

    factor (u, k), and lengths (u,) the squared lengths of its rows with the residual; block b begins at begins[b].
    A tile is of the blocks first[t], second[t], and its pairs need the variance needed[t]. It ends where the next
    tile's pairs might not fit into the room.
    """
    widest = np.diff(begins).max()
    products = np.empty(widest * widest, dtype=np.float32)
    left, right = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    variance = np.empty(room, dtype=np.float32)
    count, done = 0, 0
    for tile in range(first.shape[0]):
        top, bottom = begins[first[tile]], begins[first[tile] + 1]
        start, stop = begins[second[tile]], begins[second[tile] + 1]
        size = stop - start
        if count + (bottom - top) * size > room:
            break
        product = products[: (bottom - top) * size].reshape(bottom - top, size)
        np.dot(factor[top:bottom], factor[start:stop].T, product)
        others = lengths[start:stop]
        for row in range(bottom - top):
            enough = needed[tile] - lengths[top + row]
            along = product[row]
            # Counted first: unlike what follows, that goes many columns at a time.
            met = 0
            for column in range(size):
                met += 1 if others[column] - _TWO * along[column] >= enough else 0
            if met:
                for column in range(row + 1 if top == start else 0, size):
                    if others[column] - _TWO * along[column] >= enough:
                        left[count], right[count] = top + row, start + column
                        variance[count] = lengths[top + row] + others[column] - _TWO * along[column]
                        count += 1
        done += 1
    return done, left[:count], right[:count], variance[:count]
