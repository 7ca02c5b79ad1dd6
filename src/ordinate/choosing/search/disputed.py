"""The pair whose answer some draws of the scores disagree about most, without working it out for every pair.

    S  draws     d_s  draw s of f_i - f_j     m, v  their mean and sample variance     u  sample variance of sigma(d_s)

u takes S sigmoids a pair. The m and v of many pairs come out of one matrix product, and u is no more than either of

    S / (S - 1) phi(m^2 + (S - 1) v / S),  phi(y) = tanh(sqrt(y) / 2)^2 / 4
        u <= sum_s (sigma(d_s) - 1/2)^2 / (S - 1), a sum of phi(d_s^2), and phi is concave (its slope, tanh(x / 2) /
        (8 x cosh(x / 2)^2) at y = x^2, falls), so that Jensen's inequality takes the mean inside.
    t^2 v,  t the slope of the steepest line from (m, sigma(m)) to the curve within reach r of m
        u <= sum_s (sigma(d_s) - sigma(m))^2 / (S - 1) and |sigma(d_s) - sigma(m)| <= t |d_s - m|. No such line is
        steeper than the steepest one to anywhere, nor than the curve at the point within reach that is nearest to 0.

So u is worked out only where both come up to the best so far. Items of large variance come first, since v is at most
(sd_i + sd_j)^2 and u at most v / 16: the search ends where no pair of the rest comes up to the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.best_pair import best_scored
from ordinate.choosing.search.choice import Choice, Score, floor_of, pair_priorities
from ordinate.choosing.search.large import MOST_PAIRS
from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import AllPairs, Pool

_FEWEST = 256
"""Of fewer pairs a group, on average, all are worked out: that takes no longer."""
_FIRST = 8
"""Rows in the first tile: the best of them is what all others must come up to."""
_TILE_CELLS = 1 << 17
_LOOSE = 1e-6
"""More than what rounding can take off a bound, relatively."""
_FAINT = 1e-14
"""More than what the rounding of sigma can add to u."""
_STEP = 1.0 / 32.0
_CELLS = 1024
"""The bounds are read off tables in steps of |m| and of y up to 32, never below what they are anywhere in a step."""


def most_disputed(pool: Pool, draws: Floats, worth: Score, rng: np.random.Generator) -> Choice:
    """What `best_scored` says, `worth` being the sample variance of sigma(f_i - f_j) over draws (S, n)."""
    if not isinstance(pool, AllPairs) or not _FEWEST * max(len(pool.rows), 1) <= pool.size <= MOST_PAIRS:
        return best_scored(pool, worth, rng)
    seed = rng.integers(0, 2**64, dtype=np.uint64)
    best, looked, found = -math.inf, 0, []
    for number in range(len(pool.rows)):
        group = _Group.of(pool, number, draws)
        for begin, end in group.tiles():
            if group.most(begin) < floor_of(best):
                break
            left, right = group.near(begin, end, floor_of(best))
            values = worth(left, right)
            best, looked = max(best, float(values.max(initial=-math.inf))), looked + len(left)
            near = np.flatnonzero(values >= floor_of(best))
            priorities = pair_priorities(seed, left[near], right[near])
            kept = _not_outdone(values[near], priorities)
            found.append((values[near[kept]], priorities[kept], left[near[kept]], right[near[kept]]))
    values, priorities, left, right = (np.concatenate(column) for column in zip(*found, strict=True))
    tied = np.flatnonzero(values >= floor_of(best))
    place = tied[int(np.argmax(priorities[tied]))]
    i, j = sorted((int(left[place]), int(right[place])))
    return Choice(i, j, float(values[place]), looked)


def _not_outdone(values: Floats, priorities: NDArray[np.uint64]) -> Integers:
    """The places of pairs than which no other is both worth as much and of higher priority: whatever ties with the
    best in the end, the one chosen is among them, and they are few however many tie."""
    order = np.lexsort((priorities, values))[::-1]
    highest = np.maximum.accumulate(priorities[order])
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = highest[1:] > highest[:-1]
    kept: Integers = order[first]
    return kept


class _Group(NamedTuple):
    """The items of a group, largest variance first: rows (c,), and of their draws the mean, how far each is from it
    over sqrt(S - 1) (c, S), the variance, the standard deviation and the greatest distance from the mean (c,).

    share  (S - 1) / S
    mask   the pairs that the pool lacks, as in `row_loops`
    """

    rows: Integers
    mean: Floats
    apart: Singles
    variance: Floats
    deviation: Floats
    reach: Floats
    share: float
    mask: tuple[Integers, Integers]

    @classmethod
    def of(cls, pool: AllPairs, number: int, draws: Floats) -> Self:
        rows, count = pool.rows[number], len(draws)
        scores = np.ascontiguousarray(draws[:, rows].T)
        mean = scores.mean(axis=1)
        scores -= mean[:, None]
        variance = np.einsum("cs,cs->c", scores, scores) / (count - 1)
        order = np.argsort(-variance, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        one, other = (place[positions] for positions in pool.masked_in(number))
        first, second = np.minimum(one, other), np.maximum(one, other)
        start = np.searchsorted(np.sort(first), np.arange(len(order) + 1))
        return cls(
            rows[order],
            mean[order],
            (scores[order] / math.sqrt(count - 1)).astype(np.float32),
            variance[order],
            np.sqrt(variance[order]),
            np.abs(scores).max(axis=1)[order],
            (count - 1) / count,
            (start, second[np.lexsort((second, first))]),
        )

    def tiles(self) -> Iterator[tuple[int, int]]:
        """Rows begin..end - 1, against all after them."""
        begin, count = 0, len(self.rows)
        while begin < count - 1:
            end = min(count, begin + (max(16, min(256, _TILE_CELLS // (count - begin))) if begin else _FIRST))
            yield begin, end
            begin = end

    def most(self, row: int) -> float:
        """More than any u of this row and those after it."""
        return float(self.variance[row]) / 4.0 * (1.0 + _LOOSE) + _FAINT

    def near(self, begin: int, end: int, floor: float) -> tuple[Integers, Integers]:
        """The items of the pairs of a tile that are not bounded below the floor."""
        widest = (self.deviation[begin] + self.deviation) ** 2 / 16.0 * (1.0 + _LOOSE) + _FAINT
        last = len(widest) - int(np.searchsorted(widest[::-1], floor))
        if last <= begin:
            return self.rows[:0], self.rows[:0]
        covariance = self.apart[begin:end] @ self.apart[begin:last].T
        # A product of S terms is off by about S roundings of the variances that it is of.
        slack = 8.0 * (self.apart.shape[1] + 16) * float(np.finfo(np.float32).eps) * float(self.variance[0])
        place, other = _could_reach(
            covariance, begin, self.mean, self.variance, self.reach, self.share, slack, _bounds(), *self.mask, floor
        )
        return self.rows[place], self.rows[other]


@compiled
def _could_reach(
    covariance: Singles,
    begin: int,
    mean: Floats,
    variance: Floats,
    reach: Floats,
    share: float,
    slack: float,
    bounds: Floats,
    mask_start: Integers,
    mask_column: Integers,
    floor: float,
) -> tuple[Integers, Integers]:
    """Positions (first < second) of the pairs of a tile, whose rows and columns begin at `begin`, that u may reach
    the floor of."""
    rows, columns = covariance.shape
    first, second = np.empty(rows * columns, dtype=np.int64), np.empty(rows * columns, dtype=np.int64)
    last, count = bounds.shape[1] - 1.0, 0
    reached = (floor - _FAINT) / (1.0 + _LOOSE)
    for row in range(rows):
        here = begin + row
        mask = mask_start[here]
        for column in range(row + 1, columns):
            there = begin + column
            if mask < mask_start[here + 1] and mask_column[mask] == there:
                mask += 1
                continue
            spread = max(variance[here] + variance[there] - 2.0 * covariance[row, column], 0.0) + slack
            # No line is steeper than 1 / 4, which spares most pairs the tables.
            if spread < 16.0 * reached:
                continue
            gap = abs(mean[here] - mean[there])
            nearest = max(gap - reach[here] - reach[there], 0.0)
            slope = min(bounds[0, int(min(gap / _STEP, last))], bounds[1, int(min(nearest / _STEP, last))])
            square = gap * gap + share * spread
            cell = int(min(square / _STEP, last))
            if min(slope * spread, (bounds[2, cell] + bounds[3, cell] * square) / share) >= reached:
                first[count], second[count] = here, there
                count += 1
    return first[:count], second[:count]


@cache
def _bounds() -> Floats:
    """(4, cells): t^2 of the steepest lines from |m|; sigma'(x)^2; a + b y >= phi(y). Each holds in all of its cell,
    and the last ones from there on."""
    from scipy.special import expit

    left = np.arange(_CELLS) * _STEP
    # From -m the steepest line touches the curve at an x > 0 where its slope is sigma'(x), which falls in x: bisection.
    low, high = np.zeros(_CELLS), np.full(_CELLS, 50.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        steeper = expit(middle) * expit(-middle) * (middle + left) > expit(middle) - expit(-left)
        low, high = np.where(steeper, middle, low), np.where(steeper, high, middle)
    steepest = expit(low) * expit(-low)
    slope = expit(left) * expit(-left)
    # phi is concave, so its tangent at the middle of a cell is above it everywhere.
    root = np.sqrt(left + 0.5 * _STEP)
    high_at = 0.25 * np.tanh(0.5 * root) ** 2
    rise = np.tanh(0.5 * root) / (8.0 * root * np.cosh(0.5 * root) ** 2)
    table = np.array([steepest**2, slope**2, high_at - rise * (left + 0.5 * _STEP), rise])
    table[2:, -1] = 0.25, 0.0
    return table
