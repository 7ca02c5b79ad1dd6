"""Many items in blocks of similar ones, and bounds of m and v for the pairs of two blocks, a tile of pairs.

    w_i = (features_i - centre) @ root, with the centre of the item's group     g  the direction of w that scores follow
    u  items, block after block     b  blocks     t  tiles     k  columns

    v_ij = |w_i - w_j|^2 + residual_i + residual_j
        <= (g w_i - g w_j)^2 + (across_i + across_j)^2 + residual_i + residual_j

by the triangle inequality, where across_i is the length of w_i without its part along g. With that part the bound would
be loose: the scores are known least along g, and the scores of a good pair are close to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.limits import SINGLE_ROUNDING, Limits
from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import Division
from ordinate.learning.belief import ManyItemsBelief
from ordinate.learning.belief.projected import row_blocks

_BELOW_ONE, _CHANCE = 0.99, 1e-9
_HEAVY = 0.5
"""Items of more than this share of the largest weight are in blocks of their own: a mark in a block of lighter items
would raise the bounds of all pairs with that block."""
_TWO = np.float32(2.0)


class Tiles(NamedTuple):
    """Blocks of items, of which the first ones can be searched, and every two blocks of one group.

    Above the item limit, only the items with the largest variance bounds are searched. The blocks of the others are
    large; they only bound what their pairs may reach.

    rows, factor, squared  (u,), (u, k), (u,) of the items to search, block after block: rows, w, |w|^2 + residual
    begins                 (c + 1,) where each of the c <= b blocks to search begins, and their end
    first, second          (t,) the blocks of each tile
    gap, variance          (t,) the least |m| and the largest v that a pair of the tile may have
    longest                (b,) the largest |w|^2 + residual
    weight                 (u,) of the items to search
    heaviest               (b,) the largest weight
    """

    rows: Integers
    factor: Singles
    squared: Singles
    begins: Integers
    first: Integers
    second: Integers
    gap: Floats
    variance: Floats
    longest: Floats
    weight: Floats
    heaviest: Floats

    @property
    def heaviest_pair(self) -> Floats:
        """(t,) at least the largest product of the weights of a pair."""
        product: Floats = self.heaviest[self.first] * self.heaviest[self.second]
        return product

    @classmethod
    def of(
        cls,
        belief: ManyItemsBelief,
        division: Division,
        centres: Singles,
        most: int,
        limits: Limits,
        weights: Floats | None = None,
    ) -> Tiles:
        """Of the items of all groups, of which `most` are searched.

        centres (groups, k): any points; bounds are tighter the nearer they are to the means of the groups.
        weights (n,): see `MonotoneUtility`.
        """
        items, factor = _measured(belief, division, centres, most, limits)
        weight = np.ones(len(items.rows)) if weights is None else weights[items.rows]
        width = (np.square(items.across) + items.residual) * weight
        heavy = weight > _HEAVY * weight.max()
        order, begins, searched = _arranged(items.group, heavy, width, items.score, most, limits)
        items, weight = items.at(order), weight[order]
        starts, inner = begins[:-1], order[: begins[searched]]
        low, high = (bound.reduceat(items.score, starts) for bound in (np.minimum, np.maximum))
        near, far = (bound.reduceat(items.along, starts) for bound in (np.minimum, np.maximum))
        across, residual = (np.maximum.reduceat(values, starts) for values in (items.across, items.residual))
        blocks_of = np.argsort(items.group[starts], kind="stable")
        ends = np.append(np.flatnonzero(np.diff(items.group[starts][blocks_of])) + 1, len(starts))
        first, second, gap, variance = tile_bounds(blocks_of, ends, low, high, near, far, across, residual)
        # A block of one item has no pair with itself.
        variance[(first == second) & (np.diff(begins)[first] == 1)] = 0.0
        rows, squared = items.rows[: len(inner)], items.squared + items.residual
        w = factor[inner] if len(factor) else _factor(belief, rows, division, centres, limits)
        return cls(
            rows,
            w,
            squared[: len(rows)].astype(np.float32),
            begins[: searched + 1],
            first,
            second,
            gap,
            variance * (1.0 + SINGLE_ROUNDING),
            np.maximum.reduceat(squared, starts),
            weight[: len(inner)],
            np.maximum.reduceat(weight, starts),
        )


class _Items(NamedTuple):
    """Of items: rows, groups, scores, residuals; of their w the squared length, g w and the length across g; (u,)."""

    rows: Integers
    group: Integers
    score: Floats
    residual: Floats
    squared: Floats
    along: Floats
    across: Floats

    def at(self, places: Integers) -> _Items:
        return _Items(
            self.rows[places],
            self.group[places],
            self.score[places],
            self.residual[places],
            self.squared[places],
            self.along[places],
            self.across[places],
        )


def group_centres(features: Singles, division: Division) -> Singles:
    """(groups, k) the mean of each group's features."""
    means = np.zeros((len(division.rows), features.shape[1]), dtype=np.float32)
    for block in row_blocks(len(division.order)):
        rows = division.order[block]
        starts = np.flatnonzero(np.diff(division.number[rows], prepend=-1))
        groups = division.number[rows[starts]]
        means[groups] += np.add.reduceat(features[rows], starts, dtype=np.float64) / division.sizes[groups, None]
    return means


def _measured(
    belief: ManyItemsBelief, division: Division, centres: Singles, most: int, limits: Limits
) -> tuple[_Items, Singles]:
    """All items, ascending, and their w (u, k); no w for more than `most` items."""
    rows = np.sort(division.order)
    group, score = division.number[rows], belief.mean[rows]
    within = score - (np.bincount(group, score) / division.sizes)[group]
    sample = slice(None, None, max(len(rows) // limits.direction_sample, 1))
    direction = _score_direction(
        _factor(belief, rows[sample], division, centres, limits).astype(np.float64), within[sample]
    )
    factor = np.empty((len(rows) if len(rows) <= most else 0, centres.shape[1]), dtype=np.float32)
    squared, along = np.empty((2, len(rows)))
    for block, part in _factors(belief, rows, division, centres, limits):
        squared[block], along[block] = lengths(part), part @ direction
        if len(factor):
            factor[block] = part
    across = np.sqrt(np.maximum(squared - along * along, 0.0) + SINGLE_ROUNDING * squared)
    items = _Items(rows, group, score, belief.residual[rows], squared, along, across)
    return items, factor


def _factor(belief: ManyItemsBelief, rows: Integers, division: Division, centres: Singles, limits: Limits) -> Singles:
    """(r, k) w of some items."""
    return np.concatenate([part for _, part in _factors(belief, rows, division, centres, limits)])


def _factors(
    belief: ManyItemsBelief, rows: Integers, division: Division, centres: Singles, limits: Limits
) -> Iterator[tuple[slice, Singles]]:
    """w of some items, as many (r, k) at a time as stay in a core's cache."""
    for start in range(0, len(rows), limits.rows_at_once):
        block = slice(start, start + limits.rows_at_once)
        part = rows[block]
        yield block, belief.single_factor(part, centres[division.number[part]] if len(centres) > 1 else centres)


def _score_direction(factor: Floats, scores: Floats) -> Singles:
    """(k,) g of length 1, by least squares over some items; 0 where no direction says anything about the scores."""
    slope = np.linalg.lstsq(factor.T @ factor, factor.T @ scores, rcond=None)[0]
    length = max(float(np.linalg.norm(slope)), float(np.finfo(np.float64).tiny))
    unit: Singles = (slope / length).astype(np.float32)
    return unit


def _arranged(
    group: Integers, heavy: NDArray[np.bool_], width: Floats, score: Floats, most: int, limits: Limits
) -> tuple[Integers, Integers, int]:
    """The order of the items, where each block begins in it and the total, and how many blocks are searched.

    By group, heavy items apart from others, in shells of similar width, by score. Shells of wider items hold fewer: the
    best pairs are there.
    """
    searched = np.ones(len(group), dtype=np.bool_)
    if len(group) > most:
        # A few heavy items are searched however narrow they are: what an answer is to tell is of the other item.
        few = 2 * np.count_nonzero(heavy) <= most
        searched[np.argpartition(np.where(heavy & few, np.inf, width), -most)[:-most]] = False
    part = 2 * group + ~heavy
    inner, inner_begins = _in_blocks(part[searched], width[searched], score[searched], limits.block)
    size = 1 + (len(group) - len(inner)) // limits.outer_blocks
    outer, outer_begins = _in_blocks(part[~searched], width[~searched], score[~searched], size)
    order = np.concatenate([np.flatnonzero(searched)[inner], np.flatnonzero(~searched)[outer]])
    return order, np.concatenate([inner_begins, len(inner) + outer_begins[1:]]), len(inner_begins) - 1


def _in_blocks(group: Integers, width: Floats, score: Floats, size: int) -> tuple[Integers, Integers]:
    """The order of items in blocks of at most this size, where each block begins, and the total."""
    if not len(group):
        return np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
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
    begins, items, among = (np.repeat(values, parts) for values in (np.cumsum(counts) - counts, counts, parts))
    return order, np.append(begins + items * _within(parts) // among, len(group))


def _within(counts: Integers) -> Integers:
    """0..count - 1 for each count, one after another."""
    numbers: Integers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return numbers


def _unit(values: Floats) -> Floats:
    """From 0 at the least to 1 at the largest; 0 where all are equal."""
    low, high = float(values.min()), float(values.max())
    scaled: Floats = (values - low) / (high - low) if high > low else np.zeros(len(values))
    return scaled


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
