"""Overlap sampling: the pair whose ranges of likely scores overlap most, the usual companion of TrueSkill.

After Hees et al. 2016: ranges mean +- 3 standard deviations; their overlap over their union, times the longer range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice, best_scored
from ordinate.choosing.strategies import Situation
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import Pool
from ordinate.learning.belief import Belief


@dataclass(frozen=True)
class Overlap:
    """Asks about two items that may be in either order, at least one of which is little known."""

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        return best_scored(pool, overlaps(situation.belief()), rng)


def overlaps(belief: Belief) -> Callable[[Integers, Integers], Floats]:
    """Pairs of rows -> (least high - greatest low) / (greatest high - least low) * longer range; disjoint: below 0."""
    reach = 3.0 * np.sqrt(belief.variance)
    low, high = belief.mean - reach, belief.mean + reach

    def values(left: Integers, right: Integers) -> Floats:
        common = np.minimum(high[left], high[right]) - np.maximum(low[left], low[right])
        union = np.maximum(high[left], high[right]) - np.minimum(low[left], low[right])
        longer = 2.0 * np.maximum(reach[left], reach[right])
        overlap: Floats = common / np.where(union > 0.0, union, 1.0) * longer
        return overlap

    return values
