"""The pair of largest utility, the same one a look at every pair with the plain formula would give.

A sieve of tiles (a matrix product and one compiled pass) finds each row's maximum up to rounding. Rows that come within
rounding of the best are scored again by the canonical formula, one pair at a time in one order of summation, and pairs
within 1e-9 of the best, relatively, count as tied: a tie goes to the highest pseudo-random priority. So neither the
tiling nor the sums' order decides. Worths without a compiled pass are taken by the plain formula, block by block.

    n  items of a group     v_ij = variance_i + variance_j - 2 covariance_ij     m_ij = mean_i - mean_j
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ordinate import kernels
from ordinate.belief import Belief, difference, tiles
from ordinate.errors import PoolExhausted
from ordinate.search.pools import AllPairs, Pool
from ordinate.types import Floats, Integers

TIE = 1e-9
"""Utilities this close, relatively, are equal."""
_ROUNDING = 1e-10
"""More than what the product form of sigma' can be off by, relatively."""


class Choice(NamedTuple):
    """A pair of item rows, unordered, and what choosing it was worth to the strategy."""

    left: int
    right: int
    utility: float


class Utility(Protocol):
    """A function of m and v of the difference of two scores, elementwise over arrays of one shape; symmetric in m."""

    def __call__(self, margin: Floats, variance: Floats) -> Floats: ...


Score = Callable[[Integers, Integers], Floats]
"""Rows left (P,), right (P,) -> (P,) finite worths; of a pair always the same bits, whichever side is which."""


class CurvaturePower(NamedTuple):
    """sigma'(m)^exponent * v: the utility with a compiled scan. Exponent 2 is GURO, 0 is NormMin."""

    exponent: int

    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        utility: Floats = kernels.power_utilities(margin, variance, self.exponent)
        return utility


def best_pair(belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
    """The pair of the pool with the largest utility; ties at random. Raises PoolExhausted on an empty pool."""
    if pool.size == 0:
        raise PoolExhausted("no pair is left to ask")
    if isinstance(pool, AllPairs) and isinstance(utility, CurvaturePower):
        return _best_of_all(belief, pool, utility, rng.integers(0, 2**64, dtype=np.uint64))
    return best_scored(pool, lambda left, right: utility(*difference(belief, left, right)), rng)


def best_scored(pool: Pool, score: Score, rng: np.random.Generator) -> Choice:
    """The pair of the pool with the largest score; ties at random. Raises PoolExhausted on an empty pool.

    Two passes over blocks of pairs: the first finds the best score, the second the tied pair of highest priority in the
    blocks that reach it. So memory stays at a block even where all pairs tie.
    """
    if pool.size == 0:
        raise PoolExhausted("no pair is left to ask")
    seed = rng.integers(0, 2**64, dtype=np.uint64)
    maxima = [float(score(block.left, block.right).max(initial=-math.inf)) for block in pool.blocks()]
    floor = _floor(max(maxima), TIE)
    highest, choice = -1, Choice(-1, -1, math.nan)
    for block, maximum in zip(pool.blocks(), maxima, strict=True):
        if maximum < floor:
            continue
        values = score(block.left, block.right)
        tied = np.flatnonzero(values >= floor)
        priorities = kernels.pair_priorities(seed, block.left[tied], block.right[tied])
        first = int(np.argmax(priorities))
        if int(priorities[first]) > highest:
            highest, place = int(priorities[first]), tied[first]
            choice = Choice(int(block.left[place]), int(block.right[place]), float(values[place]))
    return choice


def _best_of_all(belief: Belief, pool: AllPairs, utility: CurvaturePower, seed: np.uint64) -> Choice:
    # A variance is a difference of terms of this size, so this is what its rounding is relative to.
    largest = max(float(belief.variance.max()), float(np.diagonal(belief.base).max(initial=0.0)))
    sieves = [_Sieve(belief, pool, number, utility.exponent, largest) for number in range(len(pool.rows))]
    reached = _floor(max(sieve.lower for sieve in sieves), TIE)
    finalists = [sieve for sieve in sieves if sieve.upper >= reached]
    best = max(sieve.settle(reached, math.inf, seed)[0] for sieve in finalists)
    tied = [sieve.settle(reached, _floor(best, TIE), seed) for sieve in finalists]
    _, i, j, value, _ = max(tied, key=lambda settled: (settled[1] >= 0, settled[4]))
    return Choice(int(i), int(j), float(value))


def _floor(value: float, tolerance: float) -> float:
    return value - tolerance * abs(value)


class _Sieve:
    """Approximate row maxima of one group, and between which values the exact ones must lie."""

    def __init__(self, belief: Belief, pool: AllPairs, number: int, exponent: int, largest: float) -> None:
        self.belief, self.exponent, self.rows = belief, exponent, pool.rows[number]
        first, second = pool.masked_in(number)
        self.mask = np.searchsorted(first, np.arange(len(self.rows) + 1)), second
        mean, variance = belief.mean[self.rows], belief.variance[self.rows]
        self.maxima = _row_maxima(
            belief, self.rows, mean - 0.5 * (mean.max() + mean.min()), variance, exponent, self.mask
        )
        # A sum of k products is off by at most about k roundings of its largest term, here a variance.
        terms = belief.factor.shape[1] + 16
        self.slack = 4.0 * terms * np.finfo(np.float64).eps * largest * (1.0 if exponent == 0 else 1.0 / 16.0)

    @property
    def lower(self) -> float:
        """The best pair is worth at least this."""
        best = float(self.maxima.max())
        return best if best == kernels.NO_PAIR else _floor(best, _ROUNDING) - self.slack

    @property
    def upper(self) -> float:
        return float(self._bound().max())

    def settle(self, reached: float, floor: float, seed: np.uint64) -> tuple[float, int, int, float, int]:
        """The exact best among rows that may reach `reached`; of pairs worth `floor`, the one of highest priority."""
        belief = self.belief
        best, i, j, value, priority = kernels.settle_near_ties(
            np.flatnonzero(self._bound() >= reached),
            self.rows,
            belief.mean,
            belief.base,
            belief.residual,
            belief.factor,
            belief.sign,
            self.exponent,
            *self.mask,
            floor,
            seed,
        )
        return best, i, j, value, int(priority)

    def _bound(self) -> Floats:
        bound: Floats = self.maxima + _ROUNDING * np.abs(self.maxima) + self.slack
        return np.where(self.maxima == kernels.NO_PAIR, kernels.NO_PAIR, bound)


def _row_maxima(
    belief: Belief, rows: Integers, mean: Floats, variance: Floats, exponent: int, mask: tuple[Integers, Integers]
) -> Floats:
    maxima = np.full(len(rows), kernels.NO_PAIR)
    if mean.max() <= kernels.WIDEST:
        growth, decay = np.exp(mean), np.exp(-mean)
        for first, tile in tiles(belief, rows):
            kernels.row_maxima(tile, first, variance, growth, decay, exponent, *mask, maxima)
    else:
        for first, tile in tiles(belief, rows):
            kernels.row_maxima_wide(tile, first, variance, mean, exponent, *mask, maxima)
    return maxima
