"""All pairs, lazily: a row's old maximum bounds its new one, so only rows that could still win are looked at again.

    n  items of all groups, group after group     u_ij  utility of m_ij and v_ij, of the pair i < j, in row i

Between refits m stays and every answer takes a rank-one piece off the covariance, so no u_ij rises that does not fall
where v rises (Minoux 1978: lazy greedy). Open queries only take more off, so a bound under the answers alone also holds
with any of them: bounds of that kind survive whatever becomes of a query. Those with the open queries taken off hold
while more are added.

A pool may lack pairs, and another annotator's pool lacks others. Pairs that some pool lacked are kept apart from the
rows' maxima and, where a pool has them, looked at one by one; so a row's bound holds for every pool.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ordinate.choosing.search import row_loops
from ordinate.choosing.search.choice import ROUNDING, TIE, Choice, CurvaturePower, Rising, floor_of, pair_priorities
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import AllPairs, PairList
from ordinate.learning.belief import Belief, History, difference, tiles
from ordinate.learning.logistic import WIDEST

_BLOCK = 16
"""Rows looked at together: one matrix product; more would look at rows that the first of them rule out."""

_FEW = 64
"""Pairs that a pool may lack, beyond what earlier ones did, and still have all of them put apart."""


_NOTHING = np.empty(0)


class _Level:
    """Row maxima, right up to rounding where they are `fresh`, upper bounds elsewhere, for beliefs after `history`."""

    def __init__(self, history: History, upper: Floats) -> None:
        self.history, self.upper, self.fresh = history, upper, np.zeros(len(upper), dtype=np.bool_)

    def copied(self) -> _Level:
        other = _Level(self.history, self.upper.copy())
        other.fresh = self.fresh.copy()
        return other

    def move_on(self, history: History) -> bool:
        """To a belief that continues the one before; False where this one does not."""
        if history is not self.history:
            if not history.continues(self.history):
                return False
            self.history = history
            self.fresh[:] = False
        return True


class _Group(NamedTuple):
    """One group: where its rows lie among all rows, the items they are of, and exp(+-mean) if that is in range."""

    number: int
    begin: int
    end: int
    rows: Integers
    growth: Floats | None
    decay: Floats | None


class RowBounds:
    """For one division into groups, one fit and one utility; it holds on to bounds, never to a belief."""

    def __init__(self, pool: AllPairs, utility: Rising, answered: Belief) -> None:
        self._division, self._utility = pool.rows, utility
        self._groups = _groups(pool.rows, answered.mean)
        self._order = np.concatenate(pool.rows)
        self._number = np.repeat(np.arange(len(pool.rows)), [len(rows) for rows in pool.rows])
        self._apart = _Apart(pool)
        self._answered = _Level(answered.history, np.full(len(self._order), np.inf))
        self._with_open: _Level | None = None
        # A variance is a difference of terms of this size, so this is what its rounding is relative to; a sum of k
        # products is off by at most about k roundings of it, and so is every piece taken off since the fit.
        largest = max(float(answered.variance.max()), float(np.diagonal(answered.base).max(initial=0.0)))
        terms = answered.factor.shape[1] + 16
        self._rounding = 16.0 * terms * np.finfo(np.float64).eps * largest * utility.steepest

    def serves(self, pool: AllPairs, utility: Rising, answered: Belief) -> bool:
        """Whether the bounds hold for these, moving them on to this belief if they do."""
        return pool.rows is self._division and utility == self._utility and self._answered.move_on(answered.history)

    def maxima(self, answered: Belief) -> Floats:
        """(rows of all groups,) the largest utility of each row's pairs, allowed or not, up to rounding and `slack`."""
        self._look_at_all(self._answered, answered)
        return self._answered.upper

    def slack(self, belief: Belief) -> float:
        """What the rounding of variances may change of a utility."""
        slack: float = self._rounding * (1 + belief.history.length)
        return slack

    def best(self, answered: Belief, belief: Belief, pool: AllPairs, seed: np.uint64) -> Choice:
        """The best pair under `belief`, which is `answered` with any open queries taken off."""
        new = self._apart.lacked(pool)
        if len(new) <= _FEW:
            if len(new):
                self._put_apart(pool, new)
            return self._best(answered, belief, pool, seed)
        # Pairs put apart are looked at for every pool that has them. Where a pool lacks many, as one without some item
        # does, a copy of the bounds serves it, and here only those go apart that would be in the way again.
        other = copy.copy(self)
        other._apart, other._answered = self._apart.copied(), self._answered.copied()
        other._with_open = None if self._with_open is None else self._with_open.copied()
        other._put_apart(pool, new)
        choice = other._best(answered, belief, pool, seed)
        lacked = pool.pairs_of(new)
        values = self._utility(*difference(belief, lacked.left, lacked.right))
        self._put_apart(pool, new[values >= floor_of(choice.utility)])
        return choice

    def _put_apart(self, pool: AllPairs, ranks: Integers) -> None:
        rows = self._apart.add(pool, ranks)
        # A row that loses a pair keeps its bound, but that need no longer be the worth of a pair it has.
        for level in (self._answered, self._with_open):
            if level is not None:
                level.fresh[rows] = False

    def _best(self, answered: Belief, belief: Belief, pool: AllPairs, seed: np.uint64) -> Choice:
        free = self._apart.allowed(pool)
        values = self._utility(*difference(belief, free.left, free.right)) if free.size else _NOTHING
        lower = float(values.max(initial=-math.inf))
        slack = self.slack(belief)
        level, looked = self._level(belief.history), free.size

        while True:
            # What is not fresh may besides have risen as far as the utility strays from never doing so.
            lower, stale, unknown, rows = row_loops.could_win(
                level.upper,
                level.fresh,
                self._answered.fresh,
                self._utility.wobble,
                slack,
                self._utility.faint,
                ROUNDING,
                lower,
                TIE,
                _BLOCK,
            )
            if not stale:
                break
            if unknown and level is not self._answered:
                looked += self._look(self._answered, answered, rows, stale)
                np.minimum(level.upper, self._answered.upper, out=level.upper, where=~level.fresh)
            else:
                looked += self._look(level, belief, rows, stale)

        reached = floor_of(lower)
        finalists = row_loops.finalists(level.upper, level.fresh, slack, ROUNDING, reached)
        return self._settle(belief, finalists, free, values, (reached, slack), seed, looked)

    def _level(self, history: History) -> _Level:
        if history is self._answered.history:
            return self._answered
        if self._with_open is None or not self._with_open.move_on(history):
            self._with_open = _Level(history, self._answered.upper.copy())
        return self._with_open

    def _look(self, level: _Level, belief: Belief, rows: Integers, stale: int) -> int:
        """Make these of the stale rows fresh, or all where that is most of them; how many pairs that took."""
        if level.upper[rows].max() == math.inf or (stale > len(self._order) // 2 and level.fresh.any()):
            return self._look_at_all(level, belief)
        looked = 0
        for group, positions in self._by_group(rows):
            first = int(positions[0])
            tile = belief.covariance(group.rows[positions], _span(group.rows[first:]))
            self._scan(level, belief, group, positions, first, tile)
            looked += tile.size
        level.fresh[rows] = True
        return looked

    def _look_at_all(self, level: _Level, belief: Belief) -> int:
        for group in self._groups:
            for first, tile in tiles(belief, group.rows):
                self._scan(level, belief, group, np.arange(first, first + len(tile)), first, tile)
        level.fresh[:] = True
        return sum(len(group.rows) * (len(group.rows) - 1) // 2 for group in self._groups)

    def _by_group(self, rows: Integers) -> Iterator[tuple[_Group, Integers]]:
        """The groups that some of all rows (ascending) are in, each with their positions in it."""
        if len(self._groups) == 1:
            if len(rows):
                yield self._groups[0], rows
            return
        numbers = self._number[rows]
        for number in np.unique(numbers):
            yield self._groups[number], rows[numbers == number] - self._groups[number].begin

    def _scan(
        self, level: _Level, belief: Belief, group: _Group, positions: Integers, first: int, tile: Floats
    ) -> None:
        variance, maxima = belief.variance[group.rows], level.upper[group.begin : group.end]
        where, mask = (positions, first), self._apart.within(group)
        if not isinstance(self._utility, CurvaturePower):
            mean = belief.mean[group.rows]
            margins = mean[positions][:, None] - mean[first:]
            variances = np.maximum(variance[positions][:, None] + variance[first:] - 2.0 * tile, 0.0)
            worths = self._utility(margins.ravel(), variances.ravel()).reshape(tile.shape)
            row_loops.largest_in_rows(worths, *where, *mask, maxima)
            return
        exponent = self._utility.exponent
        if group.growth is not None and group.decay is not None:
            row_loops.row_maxima(tile, *where, variance, group.growth, group.decay, exponent, *mask, maxima)
        else:
            row_loops.row_maxima_wide(tile, *where, variance, belief.mean[group.rows], exponent, *mask, maxima)

    def _settle(
        self,
        belief: Belief,
        finalists: Integers,
        free: PairList,
        values: Floats,
        reached: tuple[float, float],
        seed: np.uint64,
        looked: int,
    ) -> Choice:
        """The exact best of the finalists' rows and the free pairs; of those that tie, the one of highest priority."""
        best, found = float(values.max(initial=-math.inf)), []
        for group, positions in self._by_group(finalists):
            one = self._exact(belief, group, positions, reached, best, seed)
            best = max(best, one[0])
            found.append((one, group, positions))
        floor, tied = floor_of(best), []
        for one, group, positions in found:
            if floor <= one[0] < best:  # which was not known yet when this group was settled
                one = self._exact(belief, group, positions, reached, best, seed)
            if one[0] >= floor:
                tied.append((int(one[4]), *one[1:4]))
        if free.size:
            near = np.flatnonzero(values >= floor)
            priorities = pair_priorities(seed, free.left[near], free.right[near])
            tied += zip(priorities.tolist(), free.left[near], free.right[near], values[near], strict=True)
        _, i, j, value = max(tied)
        return Choice(int(i), int(j), float(value), looked)

    def _exact(
        self,
        belief: Belief,
        group: _Group,
        positions: Integers,
        reached: tuple[float, float],
        elsewhere: float,
        seed: np.uint64,
    ) -> tuple[float, int, int, float, np.uint64]:
        """What `row_loops.settle_near_ties` says of these rows; reached: with its slack."""
        start, column = self._apart.within(group)
        if isinstance(self._utility, CurvaturePower):
            settled: tuple[float, int, int, float, np.uint64] = row_loops.settle_near_ties(
                positions,
                group.rows,
                belief.mean,
                belief.variance,
                belief.base,
                belief.residual,
                belief.factor,
                belief.sign,
                self._utility.exponent,
                start,
                column,
                *reached,
                elsewhere,
                TIE,
                seed,
            )
            return settled
        columns = []
        for position in positions:
            others = np.delete(group.rows, column[start[position] : start[position + 1]])
            others = others[np.searchsorted(others, group.rows[position], side="right") :]
            columns.append((np.full(len(others), group.rows[position]), others))
        item, other = map(np.concatenate, zip(*columns, strict=True))
        values = self._utility(*difference(belief, item, other))
        best = float(values.max(initial=-math.inf))
        tied = np.flatnonzero(values >= floor_of(max(best, elsewhere)))
        if not len(tied):
            return best, -1, -1, -math.inf, np.uint64(0)
        priorities = pair_priorities(seed, item[tied], other[tied])
        first = tied[int(np.argmax(priorities))]
        return best, int(item[first]), int(other[first]), float(values[first]), priorities.max()


class _Apart:
    """The pairs that some pool so far lacked: left out of every row's maximum, and looked at one by one."""

    def __init__(self, pool: AllPairs) -> None:
        self._ranks = np.empty(0, dtype=np.int64)
        self._masks = [(np.zeros(len(rows) + 1, dtype=np.int64), self._ranks) for rows in pool.rows]
        self._begins = np.cumsum([0, *map(len, pool.rows)])

    def within(self, group: _Group) -> tuple[Integers, Integers]:
        """Columns of each row of a group, as the kernels take them."""
        return self._masks[group.number]

    def copied(self) -> _Apart:
        other = copy.copy(self)
        other._masks = [(start.copy(), column) for start, column in self._masks]
        return other

    def lacked(self, pool: AllPairs) -> Integers:
        """The ranks that this pool lacks and that are not apart yet."""
        ranks: Integers = row_loops.sorted_difference(pool.masked, self._ranks)
        return ranks

    def add(self, pool: AllPairs, new: Integers) -> Integers:
        """Put pairs apart; the places, among all rows, of the rows that lose one."""
        touched = [np.empty(0, dtype=np.int64)]
        numbers = np.searchsorted(pool.starts, new, side="right") - 1
        for number in np.unique(numbers):
            old = self._ranks[slice(*np.searchsorted(self._ranks, pool.starts[number : number + 2]))]
            here = new[numbers == number]
            start, column = self._masks[number]
            first, second = pool.positions(int(number), here)
            start[1:] += np.cumsum(np.bincount(first, minlength=len(start) - 1))
            self._masks[number] = start, np.insert(column, np.searchsorted(old, here), second)
            touched.append(self._begins[number] + first)
        self._ranks = np.insert(self._ranks, np.searchsorted(self._ranks, new), new)
        return np.concatenate(touched)

    def allowed(self, pool: AllPairs) -> PairList:
        """The pairs put apart that this pool does not lack."""
        if not len(self._ranks):
            return PairList.of(self._ranks, self._ranks)
        return pool.pairs_of(row_loops.sorted_difference(self._ranks, pool.masked))


def _groups(division: list[Integers], mean: Floats) -> list[_Group]:
    groups, begin = [], 0
    for number, rows in enumerate(division):
        scores = mean[rows]
        scores = scores - 0.5 * (scores.max() + scores.min())
        narrow = scores.max() <= WIDEST
        growth, decay = (np.exp(scores), np.exp(-scores)) if narrow else (None, None)
        groups.append(_Group(number, begin, begin + len(rows), rows, growth, decay))
        begin += len(rows)
    return groups


def _span(rows: Integers) -> Integers | slice:
    """The rows as a slice where they follow one another, which spares a copy."""
    if rows[-1] - rows[0] == len(rows) - 1:
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows
