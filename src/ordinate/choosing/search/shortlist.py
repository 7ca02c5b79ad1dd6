"""Several choices from one look at all pairs: the best ones are listed, and serve while no other can be better.

Choices for several people at once differ by the open queries alone, and each of these takes a rank-one piece off the
covariance. So no pair rises that does not fall where v rises: a pair that is not listed stays below what it was worth
at most, and while a listed one is worth more than that, it is the best of all (Minoux 1978: lazy greedy).
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.choosing.search import row_loops
from ordinate.choosing.search.best_pair import Bounds
from ordinate.choosing.search.choice import ROUNDING, Choice, Rising, Utility, floor_of, pair_priorities
from ordinate.choosing.search.large import MOST_PAIRS
from ordinate.choosing.search.row_bounds import RowBounds
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import AllPairs, PairList, Pool
from ordinate.learning.belief import Belief, ProjectedBelief, difference

_SHARE = 16
"""The list holds the best pairs of one row in this many, those of the highest maxima, and of _FEWEST at least."""
_FEWEST = 64
_LONGEST = 4096
_BLOCK = 32
"""Rows looked at together."""


class Shortlist:
    """The search of one batch: each of its beliefs is an earlier one with more open queries taken off."""

    def __init__(self, otherwise: Bounds) -> None:
        self._otherwise = otherwise
        self._listed: _Listed | None = None

    def best(self, answered: Belief, belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
        """The pair that `Bounds.best` gives."""
        if isinstance(pool, AllPairs) and isinstance(utility, Rising) and not isinstance(belief, ProjectedBelief):
            before = rng.bit_generator.state
            choice = self._listed_best(belief, pool, utility, rng.integers(0, 2**64, dtype=np.uint64))
            if choice is not None:
                return choice
            rng.bit_generator.state = before
        return self._otherwise.best(answered, belief, pool, utility, rng)

    def promising(self, answered: Belief, pool: Pool, rng: np.random.Generator) -> Pool:
        """As `Bounds.promising`."""
        return self._otherwise.promising(answered, pool, rng)

    def _listed_best(self, belief: Belief, pool: AllPairs, utility: Rising, seed: np.uint64) -> Choice | None:
        if not 0 < pool.size <= MOST_PAIRS:
            return None
        if self._listed is None or not self._listed.serves(belief, pool, utility):
            self._listed = _Listed(belief, pool, utility)
        choice = self._listed.best(belief, pool, seed)
        # A list that was of no use from the start, because too many pairs tie or may not be asked, would be so again.
        if choice is None and self._listed.used:
            self._listed = _Listed(belief, pool, utility)
            choice = self._listed.best(belief, pool, seed)
        return choice


class _Listed:
    """The best pairs under a belief, also those that may not be asked, and what any other is worth at most."""

    def __init__(self, belief: Belief, pool: AllPairs, utility: Rising) -> None:
        self.used = False
        self._history, self._division, self._utility = belief.history, pool.rows, utility
        self._bounds = RowBounds(pool, utility, belief)
        self._pairs, self._rest = _best_pairs(belief, pool, utility, self._bounds)
        self._ranks = pool.ranks(self._pairs)

    def serves(self, belief: Belief, pool: AllPairs, utility: Rising) -> bool:
        same = pool.rows is self._division and utility == self._utility
        return same and belief.history.continues(self._history)

    def best(self, belief: Belief, pool: AllPairs, seed: np.uint64) -> Choice | None:
        """The best pair of the pool, unless it may be one that is not listed."""
        free = pool.holds(self._ranks)
        left, right = self._pairs.left[free], self._pairs.right[free]
        values = self._utility(*difference(belief, left, right))
        floor = floor_of(float(values.max(initial=-math.inf)))
        rest = self._rest * (1.0 + self._utility.wobble) + self._utility.faint + self._bounds.slack(belief)
        if not floor > rest + ROUNDING * abs(rest):
            return None
        self.used = True
        tied = np.flatnonzero(values >= floor)
        chosen = tied[int(np.argmax(pair_priorities(seed, left[tied], right[tied])))]
        return Choice(int(left[chosen]), int(right[chosen]), float(values[chosen]), len(left))


def _best_pairs(belief: Belief, pool: AllPairs, utility: Rising, bounds: RowBounds) -> tuple[PairList, float]:
    """The best pairs, and the largest worth among all others, up to rounding."""
    maxima = bounds.maxima(belief)
    rest, chosen = row_loops.NO_PAIR, np.arange(len(maxima))
    if len(maxima) > (count := max(_FEWEST, len(maxima) // _SHARE)):
        order = np.argpartition(maxima, -count)
        rest, chosen = float(maxima[order[:-count]].max()), np.sort(order[-count:])
    found, begin = [], 0
    for rows in pool.rows:
        here = chosen[slice(*np.searchsorted(chosen, [begin, begin + len(rows)]))] - begin
        begin += len(rows)
        for start in range(0, len(here), _BLOCK):
            block = here[start : start + _BLOCK]
            found.append(_above(rest, belief, rows[block], rows[block[0] :], utility))
    left, right, worths = map(np.concatenate, zip(*found, strict=True))
    if len(worths) > _LONGEST:
        order = np.argpartition(worths, -_LONGEST)
        rest, kept = float(worths[order[:-_LONGEST]].max()), order[-_LONGEST:]
        left, right = left[kept], right[kept]
    return PairList.of(left, right), rest


def _above(
    rest: float, belief: Belief, rows: Integers, columns: Integers, utility: Rising
) -> tuple[Integers, Integers, Floats]:
    """The pairs of ascending rows with later columns that are worth more than `rest`, and what they are worth."""
    tile = belief.covariance(rows, columns)
    variances = belief.variance[rows][:, None] + belief.variance[columns] - 2.0 * tile
    margins = belief.mean[rows][:, None] - belief.mean[columns]
    worths = utility(margins.ravel(), np.maximum(variances, 0.0).ravel()).reshape(tile.shape)
    row, column = np.nonzero((worths > rest) & (columns > rows[:, None]))
    return rows[row], columns[column], worths[row, column]
