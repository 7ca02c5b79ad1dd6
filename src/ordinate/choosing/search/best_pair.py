"""The pair of largest utility, the same one a look at every pair with the plain formula would give.

A sieve of tiles (a matrix product and one compiled pass) finds rows' maxima up to rounding; see `row_bounds`. Rows that
come within rounding of the best are scored again by the canonical formula, pair by pair in one order of summation, and
pairs within 1e-9 of the best, relatively, count as tied: a tie goes to the highest pseudo-random priority. So neither
the tiling nor the sums' order decides, nor what earlier searches left behind. Worths that may fall where v rises
are taken by the plain formula, block by block, of every pair.

    v_ij = variance_i + variance_j - 2 covariance_ij     m_ij = mean_i - mean_j
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.choosing.search.choice import Choice, CurvaturePower, Rising, Score, Utility, floor_of, pair_priorities
from ordinate.choosing.search.large import MOST_PAIRS, Large
from ordinate.choosing.search.pair_bounds import PairBounds
from ordinate.choosing.search.row_bounds import RowBounds
from ordinate.data.pairs import AllPairs, PairList, Pool
from ordinate.errors import PoolExhausted
from ordinate.learning.belief import Belief, ProjectedBelief, difference

SAMPLED_PAIRS = 200_000


class Bounds:
    """What one search leaves for the next to look at less. May be dropped at any moment without changing a choice."""

    def __init__(self) -> None:
        self._rows: RowBounds | None = None
        self._pairs: PairBounds | None = None
        self._large: Large | None = None

    def best(
        self,
        answered: Belief,
        belief: Belief,
        pool: Pool,
        utility: Utility,
        rng: np.random.Generator,
    ) -> Choice:
        """The pair of the pool with the largest utility; ties at random. Raises PoolExhausted on an empty pool.

        Of more than MOST_PAIRS pairs, one near the largest (`large`), or the best of the promising ones where the
        utility does not rise with v. `belief` is `answered`, the belief after the answers alone, with any open queries
        taken off.
        """
        if pool.size == 0:
            raise PoolExhausted("no pair is left to ask")
        few = pool.size <= MOST_PAIRS
        if isinstance(pool, AllPairs) and isinstance(utility, Rising):
            seed = rng.integers(0, 2**64, dtype=np.uint64)
            if isinstance(answered, ProjectedBelief) and isinstance(belief, ProjectedBelief):
                search = self._large_for(answered, pool, utility)
                near = search.best(answered, belief, pool, seed)
                if near is not None and (not few or floor_of(near.utility) > search.rest(answered, pool)):
                    return near
            if few:
                if self._rows is None or not self._rows.serves(pool, utility, answered):
                    self._rows = RowBounds(pool, utility, answered)
                return self._rows.best(answered, belief, pool, seed)
        elif isinstance(pool, PairList) and isinstance(utility, Rising) and not isinstance(answered, ProjectedBelief):
            if self._pairs is None or not self._pairs.serves(pool, utility, answered):
                self._pairs = PairBounds(pool, utility, answered)
            return self._pairs.best(answered, belief, pool, rng.integers(0, 2**64, dtype=np.uint64))
        pool = self.promising(answered, pool, rng)
        return best_scored(pool, lambda left, right: utility(*difference(belief, left, right)), rng)

    def promising(self, answered: Belief, pool: Pool, rng: np.random.Generator) -> Pool:
        """For a strategy that no utility of m and v stands for: the pairs to choose from.

        The pool; of more than MOST_PAIRS pairs, those of large sigma'(m)^2 v and SAMPLED_PAIRS random ones.
        """
        if pool.size <= MOST_PAIRS or not isinstance(answered, ProjectedBelief) or not isinstance(pool, AllPairs):
            return pool
        listed = self._large_for(answered, pool, CurvaturePower(2)).listed(answered, pool)
        some = pool.sample(SAMPLED_PAIRS, rng).without(listed.left, listed.right)
        return PairList.of(np.concatenate([listed.left, some.left]), np.concatenate([listed.right, some.right]))

    def _large_for(self, answered: ProjectedBelief, pool: AllPairs, utility: Rising) -> Large:
        if self._large is None or not self._large.serves(pool, utility, answered.features):
            self._large = Large(pool, utility, answered.features)
        return self._large


def best_pair(belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
    """`Bounds.best` of a first search."""
    return Bounds().best(belief, belief, pool, utility, rng)


def best_scored(pool: Pool, score: Score, rng: np.random.Generator) -> Choice:
    """The pair of the pool with the largest score; ties at random. Raises PoolExhausted on an empty pool.

    Two passes over blocks of pairs: the first finds the best score, the second the tied pair of highest priority in the
    blocks that reach it. So memory stays at a block even where all pairs tie. Of more than MOST_PAIRS pairs, only
    SAMPLED_PAIRS random ones are looked at.
    """
    if pool.size == 0:
        raise PoolExhausted("no pair is left to ask")
    if pool.size > MOST_PAIRS:
        pool = pool.sample(SAMPLED_PAIRS, rng)
    seed = rng.integers(0, 2**64, dtype=np.uint64)
    maxima = [float(score(block.left, block.right).max(initial=-math.inf)) for block in pool.blocks()]
    floor = floor_of(max(maxima))
    highest, choice = -1, Choice(-1, -1, math.nan)
    for block, maximum in zip(pool.blocks(), maxima, strict=True):
        if maximum < floor:
            continue
        values = score(block.left, block.right)
        tied = np.flatnonzero(values >= floor)
        priorities = pair_priorities(seed, block.left[tied], block.right[tied])
        first = int(np.argmax(priorities))
        if int(priorities[first]) > highest:
            highest, place = int(priorities[first]), tied[first]
            choice = Choice(int(block.left[place]), int(block.right[place]), float(values[place]), pool.size)
    return choice
