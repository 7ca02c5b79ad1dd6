"""Items in blocks of alike ones, and what the pairs of two blocks, a tile of pairs, are worth at most.

    w_i = (features_i - middle) @ root, of its group's middle     g  the direction of w that the scores follow
    u  items     b  blocks

    v_ij = |w_i - w_j|^2 + residual_i + residual_j
        <= (g w_i - g w_j)^2 + (reach_i + reach_j)^2 + residual_i + residual_j

by the triangle inequality, where reach_i is the length of w_i without its part along g. That part would make the bound
loose: what is known least is how far apart the scores are, and those of a good pair are near each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ordinate.choosing.search.scans import lengths, tile_bounds
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import Division
from ordinate.learning.belief import ProjectedBelief, blocks

SINGLE = 1e-5
"""More than what a squared length in float32 is off by, relatively."""
_BLOCK = 128
_REST_BLOCKS = 512
_SAMPLE = 4096
_AT_ONCE = 1024
_BELOW_ONE, _CHANCE = 0.99, 1e-9


class Tiles(NamedTuple):
    """Blocks of items, of which the first ones can be looked at, and every two blocks of one group.

    Of too many items only those that reach furthest are in blocks to look at. The blocks of the others are large, and
    there to bound what their pairs are worth.

    rows, factor, squared  (u,), (u, k) and (u,) the items to look at, block after block, w, and |w|^2 + residual
    begins                 (c + 1,) where each of the c <= b blocks to look at begins
    first, second          (t,) the blocks of each tile
    gap, variance          (t,) |m| of each of its pairs is at least, and v at most, this
    longest                (b,) the largest |w|^2 + residual
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

    @classmethod
    def of(cls, belief: ProjectedBelief, division: Division, middle: Singles, most: int) -> Tiles:
        """Of the items of all groups, `most` to look at.

        middle (groups, k) may be any points, the better the nearer to the means.
        """
        items, factor = _measured(belief, division, middle, most)
        order, begins, shown = _arranged(items.group, np.square(items.reach) + items.residual, items.score, most)
        items = items.at(order)
        starts, seen = begins[:-1], order[: begins[shown]]
        low, high = (bound.reduceat(items.score, starts) for bound in (np.minimum, np.maximum))
        near, far = (bound.reduceat(items.along, starts) for bound in (np.minimum, np.maximum))
        reach, residual = (np.maximum.reduceat(values, starts) for values in (items.reach, items.residual))
        blocks_of = np.argsort(items.group[starts], kind="stable")
        ends = np.append(np.flatnonzero(np.diff(items.group[starts][blocks_of])) + 1, len(starts))
        first, second, gap, variance = tile_bounds(blocks_of, ends, low, high, near, far, reach, residual)
        # A block of one item has no pair with itself.
        variance[(first == second) & (np.diff(begins)[first] == 1)] = 0.0
        rows, squared = items.rows[: len(seen)], items.squared + items.residual
        w = factor[seen] if len(factor) else _factor(belief, rows, division, middle)
        return cls(
            rows,
            w,
            squared[: len(rows)].astype(np.float32),
            begins[: shown + 1],
            first,
            second,
            gap,
            variance * (1.0 + SINGLE),
            np.maximum.reduceat(squared, starts),
        )


class _Items(NamedTuple):
    """Rows, groups, scores and residuals of items, each (u,), and of their w the squared length, g w and the reach."""

    rows: Integers
    group: Integers
    score: Floats
    residual: Floats
    squared: Floats
    along: Floats
    reach: Floats

    def at(self, places: Integers) -> _Items:
        return _Items(
            self.rows[places],
            self.group[places],
            self.score[places],
            self.residual[places],
            self.squared[places],
            self.along[places],
            self.reach[places],
        )


def middles(features: Singles, division: Division) -> Singles:
    """(groups, k) the mean of each group's features."""
    means = np.zeros((len(division.rows), features.shape[1]), dtype=np.float32)
    for block in blocks(len(division.order)):
        rows = division.order[block]
        starts = np.flatnonzero(np.diff(division.number[rows], prepend=-1))
        groups = division.number[rows[starts]]
        means[groups] += np.add.reduceat(features[rows], starts, dtype=np.float64) / division.sizes[groups, None]
    return means


def _measured(belief: ProjectedBelief, division: Division, middle: Singles, most: int) -> tuple[_Items, Singles]:
    """All items, in order, and their w; of more than `most` that is left out."""
    rows = np.sort(division.order)
    group, score = division.number[rows], belief.mean[rows]
    within = score - (np.bincount(group, score) / division.sizes)[group]
    some = slice(None, None, max(len(rows) // _SAMPLE, 1))
    follows = _following(_factor(belief, rows[some], division, middle).astype(np.float64), within[some])
    factor = np.empty((len(rows) if len(rows) <= most else 0, middle.shape[1]), dtype=np.float32)
    squared, along = np.empty((2, len(rows)))
    for block, part in _projected(belief, rows, division, middle):
        squared[block], along[block] = lengths(part), part @ follows
        if len(factor):
            factor[block] = part
    reach = np.sqrt(np.maximum(squared - along * along, 0.0) + SINGLE * squared)
    items = _Items(rows, group, score, belief.residual[rows], squared, along, reach)
    return items, factor


def _factor(belief: ProjectedBelief, rows: Integers, division: Division, middle: Singles) -> Singles:
    """(r, k) w of some items."""
    return np.concatenate([part for _, part in _projected(belief, rows, division, middle)])


def _projected(
    belief: ProjectedBelief, rows: Integers, division: Division, middle: Singles
) -> Iterator[tuple[slice, Singles]]:
    """w of some items, as many (r, k) at a time as stay in a core's cache."""
    features: Any = belief.features
    root = belief.root.astype(np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        part = rows[block]
        # No copy of rows that follow one another.
        about = features[part[0] : part[-1] + 1] if np.all(np.diff(part) == 1) else features[part]
        yield block, (about - (middle[division.number[part]] if len(middle) > 1 else middle)) @ root


def _following(factor: Floats, scores: Floats) -> Singles:
    """(k,) g of length 1, by least squares over some items; 0 where no direction says anything about the scores."""
    slope = np.linalg.lstsq(factor.T @ factor, factor.T @ scores, rcond=None)[0]
    length = max(float(np.linalg.norm(slope)), float(np.finfo(np.float64).tiny))
    direction: Singles = (slope / length).astype(np.float32)
    return direction


def _arranged(group: Integers, width: Floats, score: Floats, most: int) -> tuple[Integers, Integers, int]:
    """The order of the items, where each block begins in it and the total, and how many blocks can be looked at.

    By group, in shells of alike width, by score. Shells are thinner where items are wider: the best pairs are there.
    """
    shown = np.ones(len(group), dtype=np.bool_)
    if len(group) > most:
        shown[np.argpartition(width, -most)[:-most]] = False
    inner, inner_begins = _in_blocks(group[shown], width[shown], score[shown], _BLOCK)
    size = 1 + (len(group) - len(inner)) // _REST_BLOCKS
    outer, outer_begins = _in_blocks(group[~shown], width[~shown], score[~shown], size)
    order = np.concatenate([np.flatnonzero(shown)[inner], np.flatnonzero(~shown)[outer]])
    return order, np.concatenate([inner_begins, len(inner) + outer_begins[1:]]), len(inner_begins) - 1


def _in_blocks(group: Integers, width: Floats, score: Floats, size: int) -> tuple[Integers, Integers]:
    """The order of some items, in blocks of at most this size, and where each block begins, and the total."""
    if not len(group):
        return np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    # One number to sort by: the group, and within it from the widest to the narrowest. What counts is the value where a
    # shell begins, not the order of equal ones, which differs from machine to machine.
    place = group + _BELOW_ONE * (1.0 - _unit(width))
    sizes = np.bincount(group)
    sizes = sizes[sizes > 0]
    shells = 1 + np.sqrt(sizes / size).astype(np.int64) // 2
    part = _within(shells) / np.repeat(shells, shells)
    begins = np.repeat(np.cumsum(sizes) - sizes, shells) + (np.repeat(sizes, shells) * part**1.5).astype(np.int64)
    shell = np.searchsorted(np.sort(place)[begins], place, side="right")
    # In random order where scores are equal, since of equal pairs the first ones met are listed.
    chance = np.random.default_rng(len(group)).random(len(group))
    order = np.argsort(shell + _BELOW_ONE * _unit(score) + _CHANCE * chance, kind="stable")
    counts = np.bincount(shell)
    counts = counts[counts > 0]
    parts = -(-counts // size)
    # A shell of so many items in so many parts: part by part, where it begins.
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
