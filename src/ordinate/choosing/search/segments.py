"""All pairs, searched lazily: each row of the pair matrix is cut into segments, and each segment has an upper bound.

    n  items of all groups, group after group     s  segments of all rows     v_ij  variance of f_i - f_j
    segment  up to 64 pairs of one item with later items of its group, every eighth of 512
    apart    a pair that some pool lacked, taken out of its segment; it has a bound of its own

Between refits m stays and every answer takes variance off, so no utility that is monotone in v increases: an old
maximum of a segment is an upper bound (Minoux 1978: lazy greedy). A question evaluates only the segments whose bounds
reach the best pair found, those of the highest bounds first. Their pairs are evaluated by the canonical formula, so
neither the bounds nor the segments decide which pair is chosen.

After a refit a sieve gives new bounds to all segments: tile by tile, in float32, with more than its rounding added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import BestSoFar
from ordinate.choosing.search.limits import SINGLE_ROUNDING
from ordinate.choosing.search.utility import CurvaturePower, MonotoneUtility, of_pairs
from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import AllPairs, Division
from ordinate.learning.belief import Belief, History

_TILE_ROWS, _TILE_COLUMNS = 256, 512
"""A tile in float32 (512 KB) stays in a core's cache between its product and its scan."""
_PARTS = 8
"""Segments of a row in a tile. Each has every eighth column, so that halving the row again and again, which compilers
turn into few instructions, leaves the maxima of all."""
_FIRST, _MOST = 8, 2048
"""Segments evaluated together: few at first, since their best pair rules out most of the others, then ever more."""
_COSTLY = 64
"""Bounds for all segments take less time than the evaluation of one in this many."""
_FAR = 40.0
"""Scores farther than this from the middle are moved there for the sieve, so that exp stays in range. That moves no two
scores apart."""
_EMPTY = -1.0
"""The bound of a segment without pairs, and of one that this search has evaluated: below every utility."""


class SegmentSearch:
    """For one division into groups and one utility. It keeps bounds, never a belief."""

    def __init__(self, division: Division, utility: MonotoneUtility) -> None:
        self._division, self._utility = division, utility
        self._layout = _Layout.of(division)
        self._apart = _Apart(len(self._layout.order))
        # The bounds of segments, and the largest of each row, hold for the belief of this history.
        self._upper, self._highest = np.empty(self._layout.starts[-1]), np.empty(len(self._layout.order))
        self._history: History | None = None
        self._rounding = self._largest = 0.0

    def serves(self, division: Division, utility: MonotoneUtility) -> bool:
        return division is self._division and utility == self._utility

    def look(self, belief: Belief, pool: AllPairs, best: BestSoFar) -> int:
        """Keep the best of the pairs of the pool that are in the division; returns how many were evaluated."""
        sieved = not self._hold_for(belief)
        if sieved:
            self._sieve(belief)
            self._apart.upper[:] = math.inf
        slack = self._rounding * self._utility.max_slope * (1 + belief.history.length)
        # No bounds hold while some are being replaced: after an interrupt they would be incomplete.
        self._history, most = None, _FIRST
        done = [self._look(belief, pool, best, slack, most)]
        evaluated = done[0].pairs + self._apart.look(belief, pool, self._utility, best, slack)
        while len(done[-1].segments) == most:
            if not sieved and self._many_reach(best.floor - slack):
                self._sieve(belief)
                done, sieved = [], True
            most = min(4 * most, _MOST)
            done.append(self._look(belief, pool, best, slack, most))
            evaluated += done[-1].pairs
        for look in done:
            self._upper[look.segments] = look.bounds
        update_highest(self._upper, self._layout.starts, np.concatenate([look.rows for look in done]), self._highest)
        self._history = belief.history
        return evaluated + sieved * int(self._division.starts[-1])

    def _many_reach(self, floor: float) -> bool:
        """Whether the bounds have become so loose that new ones take less time than what they leave to evaluate."""
        most = len(self._upper) // _COSTLY
        return count_reaching(self._upper, self._highest, self._layout.starts, floor, most) > most

    def _hold_for(self, belief: Belief) -> bool:
        """Whether the bounds hold for this belief, raised a little where that is what it takes."""
        growth = math.inf if self._history is None else belief.history.growth_since(self._history)
        if 1.0 < growth < math.inf:
            for bounds in (self._upper, self._highest, self._apart.upper):
                bounds[:] = self._utility.grown(bounds, growth * (1.0 + SINGLE_ROUNDING), self._largest)
        return growth < math.inf

    def _look(self, belief: Belief, pool: AllPairs, best: BestSoFar, slack: float, most: int) -> _Look:
        """Evaluate the segments of the highest bounds that reach the best pair; keep the best pair of the pool.

        Pairs that would win, were they in the pool, are taken apart.
        """
        rows, segments = promising(self._upper, self._highest, self._layout.starts, max(best.floor - slack, 0.0), most)
        first, second, ends = pairs_of_segments(rows, segments, *self._layout[1:], *self._apart.mask)
        left, right = self._layout.order[first], self._layout.order[second]
        utilities = of_pairs(self._utility, belief, left, right)
        reaching = np.flatnonzero(utilities >= best.floor)
        division = pool.division
        ranks, held = ranks_in_pool(
            left[reaching],
            right[reaching],
            division.number,
            division.position,
            division.sizes,
            division.starts,
            pool.masked,
        )
        best.add(left[reaching[held]], right[reaching[held]], utilities[reaching[held]])
        lacked = ~held & (utilities[reaching] >= best.floor)
        if lacked.any():
            places = reaching[lacked]
            bounds = self._utility.upper_bound(utilities[places])
            self._apart.add(ranks[lacked], left[places], right[places], first[places], second[places], bounds)
            utilities[places] = _EMPTY
        self._upper[segments] = _EMPTY
        return _Look(rows, segments, self._utility.upper_bound(largest_of_parts(utilities, ends)), len(utilities))

    def _sieve(self, belief: Belief) -> None:
        """New bounds for all segments."""
        layout, utility = self._layout, self._utility
        single = _SingleCovariance(belief, layout.order)
        self._rounding, self._largest = belief.rounding, 4.0 * float(belief.variance.max())
        weight = np.empty(0, dtype=np.float32)
        if utility.weights is not None:
            weight = utility.weights[layout.order].astype(np.float32)
        scores = _Scores.of(belief.mean[layout.order], self._division.begins[:-1])
        for begin, end in zip(self._division.begins[:-1].tolist(), self._division.begins[1:].tolist(), strict=True):
            for top, left, tile in single.tiles(begin, end):
                where = tile, top, left, single.variance, layout.begin, layout.starts, *self._apart.mask
                if isinstance(utility, CurvaturePower):
                    scales = scores.growth, scores.decay, weight
                    power_bounds(*where, *scales, single.error, utility.exponent, self._upper)
                else:
                    unit = np.float32(single.unit)
                    table_bounds(*where, scores.scores, scores.error, single.error, unit, _table(utility), self._upper)
        if isinstance(utility, CurvaturePower):
            self._upper *= single.unit * (1.0 + SINGLE_ROUNDING)
        update_highest(self._upper, layout.starts, np.arange(len(layout.order)), self._highest)


class _Look(NamedTuple):
    """Segments that were evaluated, their rows and new bounds, and how many pairs they have."""

    rows: Integers
    segments: Integers
    bounds: Floats
    pairs: int


class _Layout(NamedTuple):
    """Where the segments are. A row is an item's place among those of all groups, group after group.

    order       (n,) the item of each row
    begin, end  (n,) the rows of its group
    starts      (n + 1,) the first of its segments, and their total

    The columns of a group are cut every 512, counted from its beginning, and each of these blocks into 8 segments. A
    row has the blocks from the one that its next row is in.
    """

    order: Integers
    begin: Integers
    end: Integers
    starts: Integers

    @classmethod
    def of(cls, division: Division) -> Self:
        begin, end = (np.repeat(edge, division.sizes) for edge in (division.begins[:-1], division.begins[1:]))
        rows = np.arange(len(division.order))
        blocks = -((begin - end) // _TILE_COLUMNS) - (rows + 1 - begin) // _TILE_COLUMNS
        counts = np.where(rows + 1 < end, blocks * _PARTS, 0)
        return cls(division.order, begin, end, np.append(0, np.cumsum(counts)))


class _Apart:
    """The pairs taken out of their segments, by rank, and an upper bound of each; all (a,)."""

    def __init__(self, rows: int) -> None:
        none = np.empty(0, dtype=np.int64)
        self._ranks, self._left, self._right, self.upper = none, none, none, np.empty(0)
        self.mask = np.zeros(rows + 1, dtype=np.int64), none
        """For compiled loops: where the columns that each row lacks begin (n + 1,), and these, ascending."""

    def add(
        self, ranks: Integers, left: Integers, right: Integers, row: Integers, column: Integers, upper: Floats
    ) -> None:
        order = np.argsort(ranks)
        at, start = np.searchsorted(self._ranks, ranks[order]), self.mask[0]
        self._ranks = np.insert(self._ranks, at, ranks[order])
        self._left, self._right = np.insert(self._left, at, left[order]), np.insert(self._right, at, right[order])
        self.upper = np.insert(self.upper, at, upper[order])
        # Ranks go row by row, so the same places are right for the columns.
        lacking = np.bincount(row, minlength=len(start) - 1)
        self.mask = start + np.append(0, np.cumsum(lacking)), np.insert(self.mask[1], at, column[order])

    def look(self, belief: Belief, pool: AllPairs, utility: MonotoneUtility, best: BestSoFar, slack: float) -> int:
        """Evaluate those of the pool whose bounds reach the best pair; returns how many."""
        near = np.flatnonzero(self.upper >= best.floor - slack)
        near = near[pool.holds(self._ranks[near])]
        utilities = of_pairs(utility, belief, self._left[near], self._right[near])
        self.upper[near] = utility.upper_bound(utilities)
        best.add(self._left[near], self._right[near], utilities)
        return len(near)


class _Scores(NamedTuple):
    """Scores (n,) in float32 about the middle of each group, the error of a difference, and exp(+-score)."""

    scores: Singles
    error: np.float32
    growth: Singles
    decay: Singles

    @classmethod
    def of(cls, mean: Floats, begins: Integers) -> Self:
        """mean (n,) of the rows; begins (groups,) the first row of each group."""
        middle = 0.5 * (np.maximum.reduceat(mean, begins) + np.minimum.reduceat(mean, begins))
        scores = mean - np.repeat(middle, np.diff(np.append(begins, len(mean))))
        scores = np.clip(scores, -_FAR, _FAR)
        error = np.float32(_FAR * 2.0**-22)
        return cls(
            scores.astype(np.float32), error, np.exp(scores).astype(np.float32), np.exp(-scores).astype(np.float32)
        )


class _SingleCovariance:
    """The covariance of a belief for the sieve: in float32, of the rows, in a unit in which the largest term is 1.

    variance  (n,) so that v_ij = variance_i + variance_j - 2 * cell, up to `error`
    """

    def __init__(self, belief: Belief, order: Integers) -> None:
        self._order = order
        self._base, residual, factor, self._sign = belief.pieces
        factor = factor[order] - factor[order].mean(axis=0)
        squared, residual = np.einsum("nk,nk->n", factor, factor), residual[order]
        base = np.diagonal(self._base)[order] if len(self._base) else np.zeros(len(order))
        largest = float((squared + residual + base).max())
        self.unit = largest if largest > 0.0 else 1.0
        self.variance = ((self._sign * squared + residual + base) / self.unit).astype(np.float32)
        self._factor = (factor / math.sqrt(self.unit)).astype(np.float32)
        # Each of k products is off by at most k + 4 roundings of a term up to 1, and few more numbers are added.
        self.error = np.float32(2.0**-24 * (4 * factor.shape[1] + 32))
        self._memory = np.empty(_TILE_ROWS * _TILE_COLUMNS, dtype=np.float32)

    def tiles(self, begin: int, end: int) -> Iterator[tuple[int, int, Singles]]:
        """The first row and the first column of blocks that cover the upper triangle of rows begin..end - 1.

        A block is overwritten by the next one.
        """
        for top in range(begin, end, _TILE_ROWS):
            rows = slice(top, min(top + _TILE_ROWS, end))
            block = begin + (top - begin) // _TILE_COLUMNS * _TILE_COLUMNS
            for left in range(block, end, _TILE_COLUMNS):
                columns = slice(left, min(left + _TILE_COLUMNS, end))
                tile = self._memory[: (rows.stop - top) * (columns.stop - left)].reshape(rows.stop - top, -1)
                np.matmul(self._factor[rows], self._factor[columns].T, out=tile)
                if len(self._base):
                    add_base(tile, self._sign, self._base, self._order[rows], self._order[columns], 1.0 / self.unit)
                yield top, left, tile


_GAPS, _GAP_STEP = 128, 16.0
"""The table has rows for |m| from 0 on, 16 to a unit; the last one holds for all larger ones."""
_OCTAVES, _SMALLEST = 24, -14
"""Its columns are for v from 2^-14 on, 64 to an octave; the last one holds for all larger ones."""
_SHIFT = 17
"""Bits of a float32 below those that tell its column."""


@cache
def _table(utility: MonotoneUtility) -> Singles:
    """(gaps, variances) an upper bound of the utility in each cell: its value for the least |m| and the largest v."""
    gap = np.arange(_GAPS) / _GAP_STEP
    variance = (np.arange((_SMALLEST + 127) << 6, (_SMALLEST + 127 + _OCTAVES) << 6, dtype=np.int32) + 1) << _SHIFT
    largest = variance.view(np.float32).astype(np.float64)
    largest[-1] = 1e300
    values = utility(np.repeat(gap, len(largest)), np.tile(largest, len(gap))).reshape(len(gap), len(largest))
    return (utility.upper_bound(values) * (1.0 + SINGLE_ROUNDING)).astype(np.float32)


@fast
def add_base(tile: Singles, sign: float, base: Floats, rows: Integers, columns: Integers, scale: float) -> None:
    """tile (b, c) = sign * tile + scale * base[rows][:, columns], in place; rows and columns ascend."""
    first, count = columns[0], len(columns)
    contiguous = columns[count - 1] - first == count - 1
    for row in range(tile.shape[0]):
        cells, whole = tile[row], base[rows[row]]
        if contiguous:
            part = whole[first : first + count]
            for column in range(count):
                cells[column] = sign * cells[column] + scale * part[column]
        else:
            for column in range(count):
                cells[column] = sign * cells[column] + scale * whole[columns[column]]


@fast
def power_bounds(
    tile: Singles,
    top: int,
    left: int,
    variance: Singles,
    begin: Integers,
    starts: Integers,
    mask_start: Integers,
    mask_column: Integers,
    growth: Singles,
    decay: Singles,
    weight: Singles,
    error: np.float32,
    exponent: int,
    upper: Floats,
) -> None:
    """The largest sigma'(m)^exponent * (v + error) of each segment in a tile of covariances; -1 where it has no pair.

    tile (b, c): rows top.. against columns left..; growth = exp(score), decay = exp(-score), so that sigma'(m) =
    r / (1 + r)^2 with r = growth_i * decay_j needs no exp per pair. weight (n,) of the rows, or (0,). Writes into
    upper (s,).
    """
    one, two = np.float32(1.0), np.float32(2.0)
    columns = tile.shape[1]
    others, falls = variance[left : left + columns], decay[left : left + columns]
    values = np.empty(_TILE_COLUMNS, dtype=np.float32)
    for tile_row in range(tile.shape[0]):
        row = top + tile_row
        own, rise, cells = variance[row] + error, growth[row], tile[tile_row]
        if exponent == 0:
            for column in range(columns):
                values[column] = own + others[column] - two * cells[column]
        else:
            for column in range(columns):
                ratio = rise * falls[column]
                share = one / (one + ratio)
                slope = ratio * share * share
                values[column] = slope * slope * (own + others[column] - two * cells[column])
        if len(weight):
            mine, theirs = weight[row], weight[left : left + columns]
            for column in range(columns):
                values[column] *= mine * theirs[column]
        keep_maxima(values, columns, row, left, begin, starts, mask_start, mask_column, upper)


@fast
def table_bounds(
    tile: Singles,
    top: int,
    left: int,
    variance: Singles,
    begin: Integers,
    starts: Integers,
    mask_start: Integers,
    mask_column: Integers,
    score: Singles,
    gap_error: np.float32,
    error: np.float32,
    unit: np.float32,
    table: Singles,
    upper: Floats,
) -> None:
    """`power_bounds` for a utility that is known by the table of its bounds."""
    two, nothing, step = np.float32(2.0), np.float32(0.0), np.float32(_GAP_STEP)
    last_gap, last, offset = np.float32(table.shape[0] - 1), table.shape[1] - 1, (_SMALLEST + 127) << 6
    columns = tile.shape[1]
    others, scores = variance[left : left + columns], score[left : left + columns]
    values, gaps = np.empty(_TILE_COLUMNS, dtype=np.float32), np.empty(_TILE_COLUMNS, dtype=np.int32)
    bits = values.view(np.int32)
    for tile_row in range(tile.shape[0]):
        row = top + tile_row
        own, middle, cells = variance[row] + error, score[row], tile[tile_row]
        for column in range(columns):
            values[column] = max(unit * (own + others[column] - two * cells[column]), nothing)
            gaps[column] = int(min(max(abs(middle - scores[column]) - gap_error, nothing) * step, last_gap))
        for column in range(columns):
            bits[column] = min(max((bits[column] >> _SHIFT) - offset, 0), last)
        for column in range(columns):
            values[column] = table[gaps[column], bits[column]]
        keep_maxima(values, columns, row, left, begin, starts, mask_start, mask_column, upper)


@fast
def keep_maxima(
    values: Singles,
    columns: int,
    row: int,
    left: int,
    begin: Integers,
    starts: Integers,
    mask_start: Integers,
    mask_column: Integers,
    upper: Floats,
) -> None:
    """Write the largest values of a row's segments in a tile into upper (s,); values (512,) are overwritten."""
    none = np.float32(_EMPTY)
    block = (left - begin[row]) // _TILE_COLUMNS - (row + 1 - begin[row]) // _TILE_COLUMNS
    if block < 0 or starts[row] == starts[row + 1]:
        return
    for column in range(row + 1 - left):
        values[column] = none
    for column in range(columns, _TILE_COLUMNS):
        values[column] = none
    for mask in range(mask_start[row], mask_start[row + 1]):
        if left <= mask_column[mask] < left + columns:
            values[mask_column[mask] - left] = none
    half = _TILE_COLUMNS // 2
    while half >= _PARTS:
        for column in range(half):
            one, other = values[column], values[column + half]
            values[column] = one if one > other else other
        half //= 2
    for part in range(_PARTS):
        upper[starts[row] + block * _PARTS + part] = values[part]


@compiled
def promising(upper: Floats, highest: Floats, starts: Integers, floor: float, most: int) -> tuple[Integers, Integers]:
    """The segments whose bounds reach the floor, and their rows, the highest first; the `most` highest of more.

    upper (s,) the bounds; highest (n,) no less than the largest of each row.
    """
    rows, segments, bounds = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most)
    kept = 0
    for row in range(highest.shape[0]):
        if highest[row] < floor or (kept == most and highest[row] <= bounds[most - 1]):
            continue
        for segment in range(starts[row], starts[row + 1]):
            bound = upper[segment]
            if bound < floor or (kept == most and bound <= bounds[most - 1]):
                continue
            place = min(kept, most - 1)
            while place > 0 and bounds[place - 1] < bound:
                rows[place], segments[place], bounds[place] = rows[place - 1], segments[place - 1], bounds[place - 1]
                place -= 1
            rows[place], segments[place], bounds[place] = row, segment, bound
            kept = min(kept + 1, most)
    return rows[:kept].copy(), segments[:kept].copy()


@compiled
def count_reaching(upper: Floats, highest: Floats, starts: Integers, floor: float, enough: int) -> int:
    """How many segments have bounds that reach the floor; more than `enough` are not counted to the end."""
    count = 0
    for row in range(highest.shape[0]):
        if highest[row] >= floor:
            for segment in range(starts[row], starts[row + 1]):
                count += upper[segment] >= floor
            if count > enough:
                break
    return count


@compiled
def update_highest(upper: Floats, starts: Integers, rows: Integers, highest: Floats) -> None:
    """Write into highest (n,), at these rows, the largest bound of the row's segments."""
    for row in rows:
        largest = _EMPTY
        for segment in range(starts[row], starts[row + 1]):
            largest = max(largest, upper[segment])
        highest[row] = largest


@compiled
def pairs_of_segments(
    rows: Integers,
    segments: Integers,
    begin: Integers,
    end: Integers,
    starts: Integers,
    mask_start: Integers,
    mask_column: Integers,
) -> tuple[Integers, Integers, Integers]:
    """The pairs of these segments that are not apart, as rows (p,) and columns (p,), and where each segment's end."""
    first, second = np.empty((2, len(rows) * (_TILE_COLUMNS // _PARTS)), dtype=np.int64)
    ends, count = np.empty(len(rows), dtype=np.int64), 0
    for number in range(len(rows)):
        row = rows[number]
        block, part = divmod(segments[number] - starts[row], _PARTS)
        first_column = begin[row] + (block + (row + 1 - begin[row]) // _TILE_COLUMNS) * _TILE_COLUMNS
        mask = mask_start[row]
        for column in range(first_column + part, min(first_column + _TILE_COLUMNS, end[row]), _PARTS):
            if column <= row:
                continue
            while mask < mask_start[row + 1] and mask_column[mask] < column:
                mask += 1
            if mask == mask_start[row + 1] or mask_column[mask] != column:
                first[count], second[count] = row, column
                count += 1
        ends[number] = count
    return first[:count].copy(), second[:count].copy(), ends


@compiled
def ranks_in_pool(
    left: Integers,
    right: Integers,
    number: Integers,
    position: Integers,
    sizes: Integers,
    starts: Integers,
    masked: Integers,
) -> tuple[Integers, NDArray[np.bool_]]:
    """`AllPairs.ranks` of pairs of rows (p,), left < right, and whether they are in the pool, in one pass."""
    ranks, held = np.empty(len(left), dtype=np.int64), np.empty(len(left), dtype=np.bool_)
    for pair in range(len(left)):
        group, first, second = number[left[pair]], position[left[pair]], position[right[pair]]
        rank = starts[group] + first * (2 * sizes[group] - first - 1) // 2 + second - first - 1
        low, high = 0, len(masked)
        while low < high:
            middle = (low + high) // 2
            if masked[middle] < rank:
                low = middle + 1
            else:
                high = middle
        ranks[pair], held[pair] = rank, low == len(masked) or masked[low] != rank
    return ranks, held


@compiled
def largest_of_parts(values: Floats, ends: Integers) -> Floats:
    """The largest value of each part of an array (p,); `_EMPTY` of a part without any."""
    largest, begin = np.empty(len(ends)), 0
    for part in range(len(ends)):
        most = _EMPTY
        for place in range(begin, ends[part]):
            most = max(most, values[place])
        largest[part] = most
        begin = ends[part]
    return largest
