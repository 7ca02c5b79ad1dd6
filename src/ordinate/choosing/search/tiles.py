"""Many items in blocks of similar ones, and bounds of m and v for the pairs of two blocks, a tile of pairs.

    w, g, across, width  of an item: see `measures`     u  items, block after block     b  blocks     t  tiles

    v_ij = |w_i - w_j|^2 + residual_i + residual_j
        <= (g w_i - g w_j)^2 + (across_i + across_j)^2 + residual_i + residual_j

by the triangle inequality. Without g the bound would be loose: the scores are known least along g, and the scores of a
good pair are close to each other.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from ordinate.choosing.search.limits import SINGLE_ROUNDING, Limits
from ordinate.choosing.search.measures import Measures, Measuring
from ordinate.choosing.search.utility import MonotoneUtility
from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.learning.belief import ManyItemsBelief

_BELOW_ONE, _CHANCE = 0.99, 1e-9
_TWO = np.float32(2.0)


class Tiles(NamedTuple):
    """Every two blocks of one group, and every block with itself.

    first, second  (t,) the blocks of each tile
    gap, variance  (t,) the least |m| and the largest v that a pair of the tile may have
    longest        (b,) the largest |w|^2 + residual
    heaviest       (b,) the largest weight
    """

    first: Integers
    second: Integers
    gap: Floats
    variance: Floats
    longest: Floats
    heaviest: Floats

    @property
    def heaviest_pair(self) -> Floats:
        """(t,) at least the largest product of the weights of a pair."""
        product: Floats = self.heaviest[self.first] * self.heaviest[self.second]
        return product

    def upper_bounds(self, utility: MonotoneUtility) -> Floats:
        """(t,) of the utility of a pair of each tile."""
        bounds: Floats = utility.upper_bound(utility(self.gap, self.variance)) * self.heaviest_pair
        return bounds

    @classmethod
    def of(cls, items: Measures, begins: Integers) -> Self:
        """items (u,) block after block; begins (b + 1,) where each block begins, and their end."""
        starts = begins[:-1]
        low, high = (bound.reduceat(items.score, starts) for bound in (np.minimum, np.maximum))
        near, far = (bound.reduceat(items.along, starts) for bound in (np.minimum, np.maximum))
        across, residual = (np.maximum.reduceat(values, starts) for values in (items.across, items.residual))
        blocks_of = np.argsort(items.group[starts], kind="stable")
        ends = np.append(np.flatnonzero(np.diff(items.group[starts][blocks_of])) + 1, len(starts))
        first, second, gap, variance = tile_bounds(blocks_of, ends, low, high, near, far, across, residual)
        # A block of one item has no pair with itself.
        variance[(first == second) & (np.diff(begins)[first] == 1)] = 0.0
        variance *= 1.0 + SINGLE_ROUNDING
        longest = np.maximum.reduceat(items.squared + items.residual, starts)
        return cls(first, second, gap, variance, longest, np.maximum.reduceat(items.weight, starts))


class Searched(NamedTuple):
    """The items to search, block after block. Above the item limit, these are the widest ones.

    items   (u,)
    factor  (u, k) their w
    begins  (b + 1,) where each block begins, and their end
    tiles   the pairs of the blocks
    """

    items: Measures
    factor: Singles
    begins: Integers
    tiles: Tiles

    @classmethod
    def of(
        cls, belief: ManyItemsBelief, measuring: Measuring, most: int, limits: Limits, weights: Floats | None = None
    ) -> Self:
        """Of the items of all groups, of which `most` are searched; weights (n,): see `MonotoneUtility`."""
        items, factor = measuring.searched(belief, most, weights)
        order, begins = _in_blocks(items, limits.block)
        items = items.at(order)
        np.take(factor, order, axis=0, out=measuring.room(1, len(order)), mode="clip")
        return cls(items, measuring.room(1, len(order)), begins, Tiles.of(items, begins))


def bound_of_others(
    belief: ManyItemsBelief, measuring: Measuring, most: int, limits: Limits, utility: MonotoneUtility
) -> float:
    """Upper bound of the utility of every pair with an item that is not among the `most` searched; there are others.

    The blocks of the others are large.
    """
    items = measuring.every(belief, utility.weights)
    searched = measuring.widest(belief, most, utility.weights)
    others = np.setdiff1d(np.arange(len(items.rows)), searched, assume_unique=True)
    inner, inner_begins = _in_blocks(items.at(searched), limits.block)
    outer, outer_begins = _in_blocks(items.at(others), 1 + len(others) // limits.outer_blocks)
    items = items.at(np.concatenate([searched[inner], others[outer]]))
    tiles = Tiles.of(items, np.concatenate([inner_begins, len(inner) + outer_begins[1:]]))
    blocks = len(inner_begins) - 1
    with_others = np.maximum(tiles.first, tiles.second) >= blocks
    return float(tiles.upper_bounds(utility)[with_others].max(initial=0.0))


def _in_blocks(items: Measures, size: int) -> tuple[Integers, Integers]:
    """The order of items in blocks of at most this size, where each block begins, and the total.

    By group, heavy items apart from others, in shells of similar width, by score. Shells of wider items hold fewer: the
    best pairs are there.
    """
    group, width, score = 2 * items.group + ~items.heavy, items.width, items.score
    # One number to sort by: the group, and within it from the widest to the narrowest. Only the value where a shell
    # begins is used, not the order of equal ones, which differs from machine to machine.
    place = group + _BELOW_ONE * (1.0 - _unit(width))
    sizes = np.bincount(group)
    sizes = sizes[sizes > 0]
    shells = 1 + np.sqrt(sizes / size).astype(np.int64) // 2
    part = _within(shells) / np.repeat(shells, shells)
    begins = np.repeat(np.cumsum(sizes) - sizes, shells) + (np.repeat(sizes, shells) * part**1.5).astype(np.int64)
    shell = np.searchsorted(np.sort(place)[begins], place, side="right")
    # In random order where scores are equal, since of equal pairs those found first are listed.
    chance = np.random.default_rng(len(group)).random(len(group))
    order = np.argsort(shell + _BELOW_ONE * _unit(score) + _CHANCE * chance, kind="stable")
    counts = np.bincount(shell)
    counts = counts[counts > 0]
    parts = -(-counts // size)
    # Of each part of a shell: where the shell begins, its items, and its number of parts.
    begins, counts, among = (np.repeat(values, parts) for values in (np.cumsum(counts) - counts, counts, parts))
    return order, np.append(begins + counts * _within(parts) // among, len(group))


def _within(counts: Integers) -> Integers:
    """0..count - 1 for each count, one after another."""
    numbers: Integers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return numbers


def _unit(values: Floats) -> Floats:
    """From 0 at the least to 1 at the largest; 0 where all are equal."""
    low, high = float(values.min()), float(values.max())
    scaled: Floats = (values - low) / (high - low) if high > low else np.zeros(len(values))
    return scaled


@compiled
def tile_bounds(
    blocks: Integers,
    ends: Integers,
    low: Floats,
    high: Floats,
    near: Floats,
    far: Floats,
    across: Floats,
    residual: Floats,
) -> tuple[Integers, Integers, Floats, Floats]:
    """Every two blocks of one group and every block with itself: the two, the least |m|, the largest v; each (t,).

    The blocks of group g end before blocks[ends[g]]. Of each block (b,): low, high  least and largest score; near, far
    least and largest g w; across, residual  the largest ones.
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
                along = max(far[a] - near[b], far[b] - near[a])
                wide = across[a] + across[b]
                variance[tile] = along * along + wide * wide + residual[a] + residual[b]
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
    """How many tiles were evaluated, and their pairs of at least the variance needed: places and variance, each (p,).

    factor (u, k), and lengths (u,) the squared lengths of its rows with the residual; block b begins at begins[b].
    A tile is of the blocks first[t], second[t], and its pairs need the variance needed[t]. It ends where the next
    tile's pairs might not fit into the room.
    """
    widest = 0
    for block in range(begins.shape[0] - 1):
        widest = max(widest, begins[block + 1] - begins[block])
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
