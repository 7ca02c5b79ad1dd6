"""The exact best pair of many items in many small groups, lazily: old maxima of groups bound the new ones.

Between refits variances only shrink, so what the best pair of a group was worth bounds what it is worth now. Groups are
looked at from the highest bound down, in float32, until none can hold the best pair any more; the pairs of those that
come within rounding of it are scored again by the canonical formula (`best_scored`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ordinate.belief import ProjectedBelief, mean_row
from ordinate.search.choice import CurvaturePower, floor_of
from ordinate.search.pools import AllPairs, PairList
from ordinate.search.scans import group_maxima, lengths
from ordinate.types import Floats, Integers

_PAIRS_EACH = 50
"""Up to so many pairs for each item, on average, groups are small."""
_AT_ONCE = 1 << 15
_SINGLE = 1e-4
"""More than what a worth in float32 is off by, relatively, and its variance relative to the largest one."""


def small(pool: AllPairs) -> bool:
    return pool.size <= _PAIRS_EACH * len(pool.group)


class SmallGroups:
    """For one division into groups, one fit and one utility; what is kept may be dropped without changing a choice."""

    def __init__(self, pool: AllPairs, utility: CurvaturePower, answered: ProjectedBelief) -> None:
        self._division, self._utility, self._history = pool.division, utility, answered.history
        self._middle = mean_row(answered.features, pool.division.order).astype(np.float32)
        self._upper = np.full(len(pool.rows), math.inf)

    def serves(self, pool: AllPairs, utility: CurvaturePower, answered: ProjectedBelief) -> bool:
        """Whether the bounds hold for these, moving them on to this belief if they do."""
        if (
            pool.division is not self._division
            or utility != self._utility
            or not answered.history.continues(self._history)
        ):
            return False
        self._history = answered.history
        return True

    def near_best(self, answered: ProjectedBelief, belief: ProjectedBelief, pool: AllPairs) -> tuple[PairList, int]:
        """The pairs of the pool whose group may hold the best one under `belief`, and how many were looked at.

        `belief` is `answered` with any open queries taken off.
        """
        order = np.argsort(-self._upper, kind="stable")
        reach, lower, looked = np.full(len(order), -1.0), -1.0, 0
        for groups in self._some(order):
            if self._upper[groups[0]] < floor_of(lower):
                break
            maxima, values, slack = self._maxima(belief, pool, groups)
            if belief is answered:
                self._upper[groups] = maxima * (1.0 + _SINGLE) + slack
            reach[groups] = np.where(values < 0.0, -1.0, values * (1.0 + _SINGLE) + slack)
            lower = max(lower, float(values.max()) * (1.0 - _SINGLE) - slack)
            looked += int((self._division.starts[groups + 1] - self._division.starts[groups]).sum())
        near = np.flatnonzero((reach >= floor_of(lower)) & (reach >= 0.0))
        ranks = np.concatenate([np.arange(*self._division.starts[group : group + 2]) for group in near])
        return pool.pairs_of(np.setdiff1d(ranks, pool.masked, assume_unique=True)), looked

    def _some(self, order: Integers) -> Iterator[Integers]:
        """These groups, some at a time."""
        pairs = np.diff(self._division.starts)[order]
        order = order[pairs > 0]
        part = np.cumsum(pairs[pairs > 0]) // _AT_ONCE
        yield from np.split(order, np.flatnonzero(np.diff(part)) + 1)

    def _maxima(self, belief: ProjectedBelief, pool: AllPairs, groups: Integers) -> tuple[Floats, Floats, float]:
        """(g,) what the best pair of each group is worth, what the best one that the pool has is, and their error."""
        division = self._division
        sizes = division.sizes[groups]
        ends = np.cumsum(sizes)
        rows = division.order[_ranges(division.begins[groups], sizes)]
        about: Any = belief.features[rows]
        factor = (about - self._middle) @ belief.root.astype(np.float32)
        residual = belief.residual[rows]
        masked = np.searchsorted(pool.masked, division.starts[[groups, groups + 1]])
        lacked = pool.pairs_of(pool.masked[_ranges(masked[0], masked[1] - masked[0])])
        before = np.repeat(ends - sizes, masked[1] - masked[0])
        one, other = np.sort(division.position[[lacked.left, lacked.right]], axis=0) + before
        maxima, values = np.empty((2, len(groups)))
        group_maxima(factor, residual, belief.mean[rows], ends, self._utility.exponent, one, other, maxima, values)
        widest = float(lengths(factor).max() + residual.max())
        return maxima, values, 0.1 * _SINGLE * self._utility.steepest * widest


def _ranges(begins: Integers, sizes: Integers) -> Integers:
    """begin, begin + 1 ... of each range, one range after another."""
    offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers: Integers = np.repeat(begins, sizes) + offsets
    return numbers
