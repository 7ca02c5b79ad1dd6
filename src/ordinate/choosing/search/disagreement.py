"""The pair whose answer draws of the scores disagree about most, without evaluating every pair.

    S  draws     d_s  draw s of f_i - f_j     m, v  their mean and sample variance     u  sample variance of sigma(d_s)

u takes S sigmoids per pair. The m and v of many pairs come out of one matrix product, and u is no more than either of

    S / (S - 1) phi(m^2 + (S - 1) v / S),  phi(y) = tanh(sqrt(y) / 2)^2 / 4
        u <= sum_s (sigma(d_s) - 1/2)^2 / (S - 1), a sum of phi(d_s^2), and phi is concave (its slope, tanh(x / 2) /
        (8 x cosh(x / 2)^2) at y = x^2, falls), so that Jensen's inequality takes the mean inside.
    t^2 v,  t the slope of the steepest line from (m, sigma(m)) to the curve within r of m
        u <= sum_s (sigma(d_s) - sigma(m))^2 / (S - 1) and |sigma(d_s) - sigma(m)| <= t |d_s - m|. No such line is
        steeper than the steepest line to any point, nor than the curve at the point within r of m nearest to 0.

So u is evaluated only where both reach the best so far. Items of large variance come first, since v is at most
(sd_i + sd_j)^2 and u at most v / 16: the search ends where no other pair can reach the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Self

import numpy as np

from ordinate.choosing.search.choice import BestSoFar, Choice
from ordinate.choosing.search.limits import BOUND_ROUNDING, LIMITS, SIGMOID_ROUNDING, Limits
from ordinate.choosing.search.search import best_scored
from ordinate.choosing.search.utility import Score
from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import AllPairs, Pool

_FEWEST = 256
"""With fewer pairs per group, on average, all are evaluated: that takes no longer."""
_FIRST = 8
"""Rows in the first tile: their best pair is what all others must reach."""
_TILE_CELLS = 1 << 17
_STEP = 1.0 / 32.0
_CELLS = 1024
"""The bounds are tabulated in steps of |m| and of y up to 32; a value is an upper bound for all of its step."""


def most_disagreement(
    pool: Pool, draws: Floats, disagreement: Score, rng: np.random.Generator, limits: Limits = LIMITS
) -> Choice:
    """What `best_scored` gives, `disagreement` being the sample variance of sigma(f_i - f_j) over draws (S, n)."""
    if not isinstance(pool, AllPairs) or not _FEWEST * max(len(pool.rows), 1) <= pool.size <= limits.most_pairs:
        return best_scored(pool, disagreement, rng, limits)
    best, evaluated = BestSoFar(rng.integers(0, 2**64, dtype=np.uint64)), 0
    for number in range(len(pool.rows)):
        group = _Group.of(pool, number, draws)
        for begin, end in group.tiles():
            if group.upper_bound(begin) < best.floor:
                break
            left, right = group.candidates(begin, end, best.floor)
            best.add(np.minimum(left, right), np.maximum(left, right), disagreement(left, right))
            evaluated += len(left)
    return best.choice(evaluated)


class _Group(NamedTuple):
    """The items of a group, those of the largest variance first.

    rows       (c,)
    mean, variance, deviation  (c,) of each item's draws
    residuals  (c, S) of the draws from their mean, over sqrt(S - 1)
    farthest   (c,) the largest distance of a draw from the mean
    share      (S - 1) / S
    mask       the pairs that the pool lacks: where the columns that each row lacks begin, and these, ascending
    """

    rows: Integers
    mean: Floats
    residuals: Singles
    variance: Floats
    deviation: Floats
    farthest: Floats
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

    def upper_bound(self, row: int) -> float:
        """No u of this row and those after it is larger."""
        return float(self.variance[row]) / 4.0 * (1.0 + BOUND_ROUNDING) + SIGMOID_ROUNDING

    def candidates(self, begin: int, end: int, floor: float) -> tuple[Integers, Integers]:
        """Rows of the pairs of a tile whose bounds reach the floor."""
        widest = (self.deviation[begin] + self.deviation) ** 2 / 16.0 * (1.0 + BOUND_ROUNDING) + SIGMOID_ROUNDING
        last = len(widest) - int(np.searchsorted(widest[::-1], floor))
        if last <= begin:
            return self.rows[:0], self.rows[:0]
        covariance = self.residuals[begin:end] @ self.residuals[begin:last].T
        # A product of S terms is off by about S roundings of the variances that it is of.
        slack = 8.0 * (self.residuals.shape[1] + 16) * float(np.finfo(np.float32).eps) * float(self.variance[0])
        place, other = _candidates(
            covariance, begin, self.mean, self.variance, self.farthest, self.share, slack, _bounds(), *self.mask, floor
        )
        return self.rows[place], self.rows[other]


@compiled
def _candidates(
    covariance: Singles,
    begin: int,
    mean: Floats,
    variance: Floats,
    farthest: Floats,
    share: float,
    slack: float,
    bounds: Floats,
    mask_start: Integers,
    mask_column: Integers,
    floor: float,
) -> tuple[Integers, Integers]:
    """Positions (first < second) of the pairs whose bounds reach the floor, in a tile that begins at row `begin`."""
    rows, columns = covariance.shape
    first, second = np.empty(rows * columns, dtype=np.int64), np.empty(rows * columns, dtype=np.int64)
    last, count = bounds.shape[1] - 1.0, 0
    reached = (floor - SIGMOID_ROUNDING) / (1.0 + BOUND_ROUNDING)
    for row in range(rows):
        here = begin + row
        mask = mask_start[here]
        for column in range(row + 1, columns):
            there = begin + column
            if mask < mask_start[here + 1] and mask_column[mask] == there:
                mask += 1
                continue
            gap_variance = max(variance[here] + variance[there] - 2.0 * covariance[row, column], 0.0) + slack
            # No line is steeper than 1 / 4, which spares most pairs the tables.
            if gap_variance < 16.0 * reached:
                continue
            gap = abs(mean[here] - mean[there])
            nearest = max(gap - farthest[here] - farthest[there], 0.0)
            slope = min(bounds[0, int(min(gap / _STEP, last))], bounds[1, int(min(nearest / _STEP, last))])
            square = gap * gap + share * gap_variance
            cell = int(min(square / _STEP, last))
            if min(slope * gap_variance, (bounds[2, cell] + bounds[3, cell] * square) / share) >= reached:
                first[count], second[count] = here, there
                count += 1
    return first[:count], second[:count]


@cache
def _bounds() -> Floats:
    """(4, cells): t^2 of the steepest lines from |m|; sigma'(x)^2; a and b of a + b y >= phi(y).

    Each value holds in all of its cell, and the last ones beyond the table.
    """
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
