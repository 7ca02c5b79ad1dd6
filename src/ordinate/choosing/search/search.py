"""The best pair of a pool under a utility: one face for every way of finding it.

The pair of the largest utility is the one that the plain formula, evaluated for every pair, would give, and a tie is
broken at random (`choice`). A utility that only decreases as answers come in is searched lazily: all pairs in
`segments`, a list of pairs in `listed`, many items in `many_items`. Any other score is evaluated for every pair, block
by block.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ordinate.choosing.search.choice import BestSoFar, Choice
from ordinate.choosing.search.free_items import best_with_free_items, of_one_weight
from ordinate.choosing.search.limits import LIMITS, Limits
from ordinate.choosing.search.listed import ListSearch
from ordinate.choosing.search.many_items import ManyItemsSearch
from ordinate.choosing.search.segments import SegmentSearch
from ordinate.choosing.search.utility import CurvaturePower, MonotoneUtility, Score, Utility, of_pairs
from ordinate.data.pairs import AllPairs, Division, PairList, Pool
from ordinate.errors import PoolExhausted
from ordinate.learning.belief import Belief, ManyItemsBelief


class Search(Protocol):
    def best(self, answered: Belief, belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
        """The pair of the pool with the largest utility under `belief`; ties at random. Raises PoolExhausted if empty.

        answered  the belief after the answers alone; `belief` is that one with any open queries taken off
        """

    def promising(self, answered: Belief, pool: Pool, rng: np.random.Generator) -> Pool:
        """The pairs to choose from for a strategy that is not a utility of m and v: the pool, or its best part."""


class LazySearch:
    """The search of a study. What one search leaves for the next may be dropped at any moment: no choice changes.

    Of more than `most_pairs` pairs the choice is near the best, under a bound, where the utility is monotone; any other
    utility chooses among the promising pairs.
    """

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._segments: SegmentSearch | None = None
        self._listed: ListSearch | None = None
        self._many: ManyItemsSearch | None = None

    def best(self, answered: Belief, belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
        if pool.size == 0:
            raise PoolExhausted("no pair is left to ask")
        if isinstance(pool, AllPairs) and isinstance(utility, MonotoneUtility):
            seed = rng.integers(0, 2**64, dtype=np.uint64)
            if (many := answered.many_items) is not None and (shrunk := belief.many_items) is not None:
                found = self._among_many(many, pool, utility).best(many, shrunk, pool, seed)
                if found is not None:
                    return found
            if pool.size <= self._limits.most_pairs:
                return self._among_all(belief, pool, utility, BestSoFar(seed))
        elif isinstance(pool, PairList) and isinstance(utility, MonotoneUtility) and answered.many_items is None:
            if self._listed is None or not self._listed.serves(answered, pool, utility):
                self._listed = ListSearch(answered, pool, utility)
            return self._listed.best(answered, belief, pool, rng.integers(0, 2**64, dtype=np.uint64))
        pool = self.promising(answered, pool, rng)
        return best_scored(pool, lambda left, right: of_pairs(utility, belief, left, right), rng, self._limits)

    def promising(self, answered: Belief, pool: Pool, rng: np.random.Generator) -> Pool:
        """Of more than `most_pairs` pairs: those of large sigma'(m)^2 v, and `sampled_pairs` random ones."""
        many = answered.many_items
        if pool.size <= self._limits.most_pairs or many is None or not isinstance(pool, AllPairs):
            return pool
        listed = self._among_many(many, pool, CurvaturePower(2)).listed(many, pool)
        sample = pool.sample(self._limits.sampled_pairs, rng).without(listed.left, listed.right)
        return PairList.of(np.concatenate([listed.left, sample.left]), np.concatenate([listed.right, sample.right]))

    def _among_all(self, belief: Belief, pool: AllPairs, utility: MonotoneUtility, best: BestSoFar) -> Choice:
        division, evaluated, free = pool.division, 0, belief.free
        if free is not None and utility.weights is not None:
            free = of_one_weight(free, utility.weights, pool)
        if free is not None and free[division.order].any():
            evaluated = best_with_free_items(belief, pool, free, utility, best)
            division = Division.of(np.where(free, -1, pool.group))
        if division.starts[-1]:
            if self._segments is None or not self._segments.serves(division, utility):
                self._segments = SegmentSearch(division, utility)
            evaluated += self._segments.look(belief, pool, best)
        return best.choice(evaluated)

    def _among_many(self, answered: ManyItemsBelief, pool: AllPairs, utility: MonotoneUtility) -> ManyItemsSearch:
        if self._many is None or not self._many.serves(answered, pool, utility):
            self._many = ManyItemsSearch(answered, pool, utility, self._limits)
        return self._many


def best_pair(belief: Belief, pool: Pool, utility: Utility, rng: np.random.Generator) -> Choice:
    """`Search.best` of a first search, without open queries."""
    return LazySearch().best(belief, belief, pool, utility, rng)


def best_scored(pool: Pool, score: Score, rng: np.random.Generator, limits: Limits = LIMITS) -> Choice:
    """The pair of the pool with the largest score; ties at random. Raises PoolExhausted on an empty pool.

    Block by block, so memory stays at a block even where all pairs tie. Of more than `most_pairs` pairs, only
    `sampled_pairs` random ones are evaluated.
    """
    if pool.size == 0:
        raise PoolExhausted("no pair is left to ask")
    if pool.size > limits.most_pairs:
        pool = pool.sample(limits.sampled_pairs, rng)
    best = BestSoFar(rng.integers(0, 2**64, dtype=np.uint64))
    for block in pool.blocks():
        best.add(block.left, block.right, score(block.left, block.right))
    return best.choice(pool.size)
