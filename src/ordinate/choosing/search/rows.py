"""All pairs, searched lazily: an old row maximum bounds the new one, so only rows that may win are evaluated.

    n  items of all groups, group after group     u_ij  utility of m_ij and v_ij, of the pair i < j, in row i
    b  rows of a tile     c  columns     mask_column[mask_start[i]:mask_start[i + 1]]  ascending columns row i lacks

Between refits m stays and every answer takes a rank-one piece off the covariance, so no u_ij of a monotone utility
increases (Minoux 1978: lazy greedy). Open queries only take more off, so a bound under the answers alone also holds
with any of them: such bounds survive whatever becomes of a query. Bounds under the open queries hold while more are
added.

A tile of covariances (a matrix product and one compiled pass) gives row maxima up to rounding. The pairs of the rows
that come within rounding of the best are evaluated again by the canonical formula, with one order of summation, so
neither the tiling nor the order of sums decides, nor what earlier searches left behind.

A pool may lack pairs that another annotator's pool has. Pairs that some pool lacked are masked: they are left out of
the row maxima and evaluated one by one for the pools that have them. So the bound of a row holds for every pool.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import BestSoFar, Choice, tie_floor
from ordinate.choosing.search.limits import PRODUCT_ROUNDING
from ordinate.choosing.search.utility import CurvaturePower, MonotoneUtility, power_utility
from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import AllPairs, Division, PairList
from ordinate.learning.belief import Belief, History, tiles
from ordinate.learning.belief.loops import Pieces, difference_variance, quick_variance
from ordinate.learning.logistic import WIDEST

NO_PAIR = -1e300
"""The maximum of a row that has no pair."""
_BLOCK = 16
"""Rows evaluated together, by one matrix product; more would include rows that the first of them rule out."""
_FEW = 64
"""Pairs that a pool may lack, beyond what earlier ones lacked, and still have all of them masked."""
_MASKED_AT_FIRST = 1 << 14
"""Pairs that the first pool may lack and still have all of them masked: the same annotator usually comes again."""
_SETTLED_PAIRS = 1 << 15
"""Pairs evaluated together by the canonical formula; all pairs may tie."""


class RowSearch:
    """For one division into groups, one fit and one utility. It keeps bounds, never a belief."""

    def __init__(self, answered: Belief, pool: AllPairs, utility: MonotoneUtility) -> None:
        self._division, self._utility = pool.division, utility
        self._groups = _groups(pool.division, answered.mean)
        self._masked = _MaskedPairs(pool.division)
        self._answered = _Bounds(answered.history, np.full(len(pool.division.order), np.inf))
        self._with_open: _Bounds | None = None
        self._most_masked = _MASKED_AT_FIRST
        self._rounding = answered.rounding * utility.max_slope

    def serves(self, answered: Belief, pool: AllPairs, utility: MonotoneUtility) -> bool:
        """Whether the bounds hold for these; they then move on to this belief."""
        same = pool.division is self._division and utility == self._utility
        return same and self._answered.move_on(answered.history)

    def maxima(self, answered: Belief) -> Floats:
        """(rows of all groups,) the largest utility in each row, of all its pairs but masked ones, up to `slack`."""
        self._evaluate_all(self._answered, answered)
        return self._answered.upper

    def slack(self, belief: Belief) -> float:
        """What the rounding of variances may change of a utility."""
        return self._rounding * (1 + belief.history.length)

    def best(self, answered: Belief, belief: Belief, pool: AllPairs, seed: np.uint64) -> Choice:
        """The best pair under `belief`, which is `answered` with any open queries taken off."""
        new = self._masked.not_masked_yet(pool)
        most, self._most_masked = self._most_masked, _FEW
        if len(new) <= most:
            if len(new):
                self._mask(pool, new)
            return self._best(answered, belief, pool, seed)
        # Masked pairs are evaluated for every pool that has them. Where a pool lacks many, as one without some item
        # does, a copy of the bounds serves it, and here only those are masked that would win again.
        other = copy.copy(self)
        other._masked, other._answered = self._masked.copied(), self._answered.copied()
        other._with_open = None if self._with_open is None else self._with_open.copied()
        other._mask(pool, new)
        choice = other._best(answered, belief, pool, seed)
        lacked = pool.pairs_of(new)
        utilities = self._utility(*belief.differences(lacked.left, lacked.right))
        self._mask(pool, new[utilities >= tie_floor(choice.utility)])
        return choice

    def _mask(self, pool: AllPairs, ranks: Integers) -> None:
        rows = self._masked.add(pool, ranks)
        # A row that loses a pair keeps its bound, but the bound need no longer be the utility of a pair it has.
        for bounds in (self._answered, self._with_open):
            if bounds is not None:
                bounds.current[rows] = False

    def _best(self, answered: Belief, belief: Belief, pool: AllPairs, seed: np.uint64) -> Choice:
        allowed = self._masked.allowed(pool)
        best, evaluated = BestSoFar(seed), allowed.size
        if evaluated:
            utilities = self._utility(*belief.differences(allowed.left, allowed.right))
            best.add(allowed.left, allowed.right, utilities)
        bounds, slack = self._bounds(belief.history), self.slack(belief)
        lower = best.utility
        while True:
            lower, count, unknown, rows = candidate_rows(
                bounds.upper,
                bounds.current,
                self._answered.current,
                self._utility.relative_tolerance,
                self._utility.absolute_tolerance,
                slack,
                lower,
                _BLOCK,
            )
            if not count:
                break
            if unknown and bounds is not self._answered:
                evaluated += self._evaluate(self._answered, answered, rows, count)
                np.minimum(bounds.upper, self._answered.upper, out=bounds.upper, where=~bounds.current)
            else:
                evaluated += self._evaluate(bounds, belief, rows, count)
        reached = tie_floor(lower)
        finalists = finalist_rows(bounds.upper, bounds.current, slack, reached)
        for group, positions in self._by_group(finalists):
            together = max(1, _SETTLED_PAIRS // len(group.rows))
            for start in range(0, len(positions), together):
                part = positions[start : start + together]
                best.add(*self._near_ties(belief, group, part, max(best.floor, reached), slack))
        return best.choice(evaluated)

    def _bounds(self, history: History) -> _Bounds:
        if history is self._answered.history:
            return self._answered
        if self._with_open is None or not self._with_open.move_on(history):
            self._with_open = _Bounds(history, self._answered.upper.copy())
        return self._with_open

    def _evaluate(self, bounds: _Bounds, belief: Belief, rows: Integers, count: int) -> int:
        """Make the bounds of these of `count` candidate rows current, or all bounds where most rows are candidates.

        Returns how many pairs that took.
        """
        size = len(self._division.order)
        if bounds.upper[rows].max() == math.inf or (count > size // 2 and bounds.current.any()):
            return self._evaluate_all(bounds, belief)
        evaluated = 0
        for group, positions in self._by_group(rows):
            first = int(positions[0])
            tile = belief.covariance(group.rows[positions], _span(group.rows[first:]))
            self._scan(bounds, belief, group, positions, first, tile)
            evaluated += tile.size
        bounds.current[rows] = True
        return evaluated

    def _evaluate_all(self, bounds: _Bounds, belief: Belief) -> int:
        for group in self._groups:
            for first, tile in tiles(belief, group.rows):
                self._scan(bounds, belief, group, np.arange(first, first + len(tile)), first, tile)
        bounds.current[:] = True
        return int(self._division.starts[-1])

    def _by_group(self, rows: Integers) -> Iterator[tuple[_Group, Integers]]:
        """The groups that some of all rows (ascending) are in, each with their positions in it."""
        if len(self._groups) == 1:
            if len(rows):
                yield self._groups[0], rows
            return
        numbers = np.searchsorted(self._division.begins, rows, side="right") - 1
        for number in np.unique(numbers):
            yield self._groups[number], rows[numbers == number] - self._groups[number].begin

    def _scan(
        self, bounds: _Bounds, belief: Belief, group: _Group, positions: Integers, first: int, tile: Floats
    ) -> None:
        variance, maxima = belief.variance[group.rows], bounds.upper[group.begin : group.end]
        where, mask = (positions, first), self._masked.within(group)
        if not isinstance(self._utility, CurvaturePower):
            mean = belief.mean[group.rows]
            margins = mean[positions][:, None] - mean[first:]
            variances = np.maximum(variance[positions][:, None] + variance[first:] - 2.0 * tile, 0.0)
            utilities = self._utility(margins.ravel(), variances.ravel()).reshape(tile.shape)
            largest_in_rows(utilities, *where, *mask, maxima)
            return
        exponent = self._utility.exponent
        if group.growth is not None and group.decay is not None:
            row_maxima(tile, *where, variance, group.growth, group.decay, exponent, *mask, maxima)
        else:
            row_maxima_wide(tile, *where, variance, belief.mean[group.rows], exponent, *mask, maxima)

    def _near_ties(
        self, belief: Belief, group: _Group, positions: Integers, floor: float, slack: float
    ) -> tuple[Integers, Integers, Floats]:
        """Pairs of the rows at these positions, by the canonical formula: all that reach the floor, or more."""
        start, column = self._masked.within(group)
        if isinstance(self._utility, CurvaturePower):
            found: tuple[Integers, Integers, Floats] = near_ties(
                positions,
                group.rows,
                belief.mean,
                belief.variance,
                belief.pieces,
                self._utility.exponent,
                start,
                column,
                floor,
                slack,
            )
            return found
        columns = []
        for position in positions:
            others = np.delete(group.rows, column[start[position] : start[position + 1]])
            others = others[np.searchsorted(others, group.rows[position], side="right") :]
            columns.append((np.full(len(others), group.rows[position]), others))
        left, right = map(np.concatenate, zip(*columns, strict=True))
        return left, right, self._utility(*belief.differences(left, right))


class _Bounds:
    """Row maxima for beliefs after `history`: right up to rounding where they are `current`, upper bounds elsewhere."""

    def __init__(self, history: History, upper: Floats) -> None:
        self.history, self.upper, self.current = history, upper, np.zeros(len(upper), dtype=np.bool_)

    def copied(self) -> _Bounds:
        other = _Bounds(self.history, self.upper.copy())
        other.current = self.current.copy()
        return other

    def move_on(self, history: History) -> bool:
        """To a belief that continues the one before; False where this one does not."""
        if history is not self.history:
            if not history.continues(self.history):
                return False
            self.history = history
            self.current[:] = False
        return True


class _Group(NamedTuple):
    """One group: where its rows lie among all rows, the items they are of, and exp(+-mean) if that is in range."""

    number: int
    begin: int
    end: int
    rows: Integers
    growth: Floats | None
    decay: Floats | None


class _MaskedPairs:
    """The pairs that some pool so far lacked: left out of the row maxima, and evaluated one by one."""

    def __init__(self, division: Division) -> None:
        self._ranks = np.empty(0, dtype=np.int64)
        self._masks = [(np.zeros(size + 1, dtype=np.int64), self._ranks) for size in division.sizes]

    def within(self, group: _Group) -> tuple[Integers, Integers]:
        """mask_start (rows + 1,) and mask_column of a group."""
        return self._masks[group.number]

    def copied(self) -> _MaskedPairs:
        other = copy.copy(self)
        other._masks = [(start.copy(), column) for start, column in self._masks]
        return other

    def not_masked_yet(self, pool: AllPairs) -> Integers:
        """The ranks that this pool lacks and that are not masked here."""
        ranks: Integers = sorted_difference(pool.masked, self._ranks)
        return ranks

    def add(self, pool: AllPairs, new: Integers) -> Integers:
        """Mask pairs; returns the places, among all rows, of the rows that lose one."""
        touched = [np.empty(0, dtype=np.int64)]
        numbers = np.searchsorted(pool.starts, new, side="right") - 1
        for number in np.unique(numbers):
            old = self._ranks[slice(*np.searchsorted(self._ranks, pool.starts[number : number + 2]))]
            here = new[numbers == number]
            start, column = self._masks[number]
            first, second = pool.positions(int(number), here)
            start[1:] += np.cumsum(np.bincount(first, minlength=len(start) - 1))
            self._masks[number] = start, np.insert(column, np.searchsorted(old, here), second)
            touched.append(pool.division.begins[number] + first)
        self._ranks = np.insert(self._ranks, np.searchsorted(self._ranks, new), new)
        return np.concatenate(touched)

    def allowed(self, pool: AllPairs) -> PairList:
        """The masked pairs that this pool has."""
        if not len(self._ranks):
            return PairList.of(self._ranks, self._ranks)
        return pool.pairs_of(sorted_difference(self._ranks, pool.masked))


def _groups(division: Division, mean: Floats) -> list[_Group]:
    groups = []
    for number, rows in enumerate(division.rows):
        scores = mean[rows]
        scores = scores - 0.5 * (scores.max() + scores.min())
        narrow = scores.max() <= WIDEST
        growth, decay = (np.exp(scores), np.exp(-scores)) if narrow else (None, None)
        begin, end = division.begins[number : number + 2].tolist()
        groups.append(_Group(number, begin, end, rows, growth, decay))
    return groups


def _span(rows: Integers) -> Integers | slice:
    """The rows as a slice where they follow one another, which spares a copy."""
    if rows[-1] - rows[0] == len(rows) - 1:
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


@fast
def row_maxima(
    covariance: Floats,
    positions: Integers,
    first: int,
    variance: Floats,
    growth: Floats,
    decay: Floats,
    exponent: int,
    mask_start: Integers,
    mask_column: Integers,
    maxima: Floats,
) -> None:
    """The largest sigma'(m_ij)^exponent * v_ij of each row of a tile of covariances, over the columns after it.

    covariance (b, c): rows `positions` against columns first..; growth = exp(mean), decay = exp(-mean), so that
    sigma'(m) = r / (1 + r)^2 with r = growth_i * decay_j needs no exp per pair. Columns mask_column[mask_start[i]:
    mask_start[i + 1]] (ascending) are left out. Writes into maxima (n,) at the positions.
    """
    columns = covariance.shape[1]
    for tile_row in range(covariance.shape[0]):
        row = positions[tile_row]
        best = NO_PAIR
        begin = row + 1 - first
        mask = mask_start[row]
        while begin < columns:
            end = columns
            if mask < mask_start[row + 1]:
                end = mask_column[mask] - first
                mask += 1
            if exponent == 0:
                for column in range(begin, end):
                    gap_variance = variance[row] + variance[first + column] - 2.0 * covariance[tile_row, column]
                    best = max(best, gap_variance)
            else:
                for column in range(begin, end):
                    gap_variance = variance[row] + variance[first + column] - 2.0 * covariance[tile_row, column]
                    ratio = growth[row] * decay[first + column]
                    share = 1.0 / (1.0 + ratio)
                    slope = ratio * share * share
                    best = max(best, slope * slope * gap_variance)
            begin = end + 1
        maxima[row] = best


@fast
def row_maxima_wide(
    covariance: Floats,
    positions: Integers,
    first: int,
    variance: Floats,
    mean: Floats,
    exponent: int,
    mask_start: Integers,
    mask_column: Integers,
    maxima: Floats,
) -> None:
    """`row_maxima` for scores so far apart that exp(mean) would overflow: one exp per pair."""
    columns = covariance.shape[1]
    for tile_row in range(covariance.shape[0]):
        row = positions[tile_row]
        best = NO_PAIR
        begin = row + 1 - first
        mask = mask_start[row]
        while begin < columns:
            end = columns
            if mask < mask_start[row + 1]:
                end = mask_column[mask] - first
                mask += 1
            for column in range(begin, end):
                gap_variance = variance[row] + variance[first + column] - 2.0 * covariance[tile_row, column]
                fall = math.exp(-abs(mean[row] - mean[first + column]))
                slope = fall / ((1.0 + fall) * (1.0 + fall))
                best = max(best, gap_variance if exponent == 0 else slope * slope * gap_variance)
            begin = end + 1
        maxima[row] = best


@compiled
def largest_in_rows(
    utilities: Floats,
    positions: Integers,
    first: int,
    mask_start: Integers,
    mask_column: Integers,
    maxima: Floats,
) -> None:
    """`row_maxima` of utilities (b, c) that are known already."""
    for tile_row in range(utilities.shape[0]):
        row = positions[tile_row]
        best, mask = NO_PAIR, mask_start[row]
        for column in range(row + 1 - first, utilities.shape[1]):
            if mask < mask_start[row + 1] and mask_column[mask] == first + column:
                mask += 1
            else:
                best = max(best, utilities[tile_row, column])
        maxima[row] = best


@compiled
def candidate_rows(
    upper: Floats,
    current: NDArray[np.bool_],
    current_answered: NDArray[np.bool_],
    relative_tolerance: float,
    absolute_tolerance: float,
    slack: float,
    lower: float,
    most: int,
) -> tuple[float, int, bool, Integers]:
    """The rows that are not `current` and might hold a pair that beats the best one or ties with it.

    upper (n,)  the maximum of a row up to rounding and `slack` where it is `current`; elsewhere an upper bound, up to
                the tolerances of the utility besides
    current_answered (n,)  whether the maximum under the answers alone is current
    lower       some pair has at least this utility

    Returns a better `lower`; how many such rows there are; whether some of them are not even `current_answered`, in
    which case only those are counted and returned; and up to `most` of them, those with the highest bounds, ascending.
    """
    best = NO_PAIR
    for row in range(upper.shape[0]):
        if current[row]:
            best = max(best, upper[row])
    if best > NO_PAIR:
        lower = max(lower, best - PRODUCT_ROUNDING * abs(best) - slack)
    floor = tie_floor(lower)
    rows, bounds = np.empty(most, dtype=np.int64), np.empty(most)
    count, kept, unknown = 0, 0, False
    for row in range(upper.shape[0]):
        if current[row] or upper[row] == NO_PAIR:
            continue
        bound = upper[row] * (1.0 + relative_tolerance)
        bound += PRODUCT_ROUNDING * abs(bound) + slack + absolute_tolerance
        if bound < floor or (unknown and current_answered[row]):
            continue
        if not current_answered[row] and not unknown:
            count, kept, unknown = 0, 0, True
        count += 1
        place = kept
        while place > 0 and bounds[place - 1] < upper[row]:
            place -= 1
        if place < most:
            kept = min(kept + 1, most)
            for later in range(kept - 1, place, -1):
                rows[later], bounds[later] = rows[later - 1], bounds[later - 1]
            rows[place], bounds[place] = row, upper[row]
    return lower, count, unknown, np.sort(rows[:kept])


@compiled
def finalist_rows(upper: Floats, current: NDArray[np.bool_], slack: float, floor: float) -> Integers:
    """The current rows whose maximum (see `candidate_rows`) may reach the floor, ascending."""
    rows = np.empty(upper.shape[0], dtype=np.int64)
    count = 0
    for row in range(upper.shape[0]):
        most = upper[row] + PRODUCT_ROUNDING * abs(upper[row]) + slack
        if current[row] and upper[row] > NO_PAIR and most >= floor:
            rows[count] = row
            count += 1
    return rows[:count].copy()


@compiled
def near_ties(
    positions: Integers,
    rows: Integers,
    mean: Floats,
    variance: Floats,
    pieces: Pieces,
    exponent: int,
    mask_start: Integers,
    mask_column: Integers,
    floor: float,
    slack: float,
) -> tuple[Integers, Integers, Floats]:
    """The pairs that reach the floor, of those whose first item is at one of `positions`: rows i < j, utility; (p,).

    positions index `rows` (c,), the ascending rows of the group's items; variance (n,) is marginal. The utility has the
    same bits wherever it is computed. Pairs that miss the floor by more than the `slack` of their rounding are skipped.
    """
    base, residual, factor, sign = pieces
    most = positions.shape[0] * rows.shape[0]
    left, right, utilities = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most)
    count, needed = 0, floor - slack
    for position in positions:
        mask = mask_start[position]
        i = rows[position]
        deviation = math.sqrt(variance[i])
        for other in range(position + 1, rows.shape[0]):
            if mask < mask_start[position + 1] and mask_column[mask] == other:
                mask += 1
                continue
            j = rows[other]
            widest = deviation + math.sqrt(variance[j])
            margin = mean[i] - mean[j]
            # The largest that v can be spares most pairs the sum over columns.
            if power_utility(margin, widest * widest, exponent) < needed:
                continue
            if power_utility(margin, quick_variance(base, residual, factor, sign, i, j), exponent) < needed:
                continue
            utility = power_utility(margin, difference_variance(base, residual, factor, sign, i, j), exponent)
            if utility >= floor:
                left[count], right[count], utilities[count] = i, j, utility
                count += 1
    return left[:count].copy(), right[:count].copy(), utilities[:count].copy()


@compiled
def sorted_difference(some: Integers, others: Integers) -> Integers:
    """The numbers of one ascending array that another does not hold."""
    kept = np.empty(some.shape[0], dtype=np.int64)
    count, other = 0, 0
    for number in some:
        while other < others.shape[0] and others[other] < number:
            other += 1
        if other == others.shape[0] or others[other] != number:
            kept[count] = number
            count += 1
    return kept[:count].copy()
