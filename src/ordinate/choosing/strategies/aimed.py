"""Aimed: GURO for a study that is to find some items, such as the ten best, instead of the whole order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice, CurvaturePower, best_scored
from ordinate.choosing.strategies import Situation
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import Pool
from ordinate.learning.belief import Belief
from ordinate.learning.membership import Goal, boundaries


@dataclass(frozen=True)
class Aimed:
    """GURO's utility times how open it is, for each item of the pair, whether it is wanted; without an aim, GURO.

    The weights of the items stay until the next refit, so that the bounds of a search hold. For marks among few items
    it is instead the pair whose answer takes most off the variance of what is wanted, which needs no weights but looks
    at every pair.

    most_items  more than these are too many for that
    """

    most_items: int = 250

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        goal = situation.goal()
        if goal is not None and len(goal.wanted.marks) and len(goal.group) <= self.most_items:
            return best_scored(pool, membership_variance(situation.belief(), goal), rng)
        utility = CurvaturePower(2, None if goal is None else goal.weights)
        return situation.search().best(situation.answered(), situation.belief(), pool, utility, rng)


def membership_variance(belief: Belief, goal: Goal) -> Callable[[Integers, Integers], Floats]:
    """Pairs of rows -> how much an answer takes off the variance of the items' memberships, summed over items and sets.

    An item is in a set with the probability Phi(z), z the mean of f_l - c in its standard deviations. What an answer of
    curvature s moves the mean of f_l - c by has the variance (D_li - D_lj)^2 s / (1 + s v_ij), D_l the covariances of
    f_l - c with the scores. So the probability's has, to first order, W_l = phi(z_l)^2 / Var(f_l - c) times that.
    """
    every = np.arange(len(goal.group))
    moved = np.zeros((len(every), len(every)))
    for boundary in boundaries(belief, goal.group, goal.wanted):
        inside = boundary.inside
        distance, variance = boundary.distances(belief)
        known = variance <= 1e-12  # as that of the mark itself
        variance = np.where(known, 1.0, variance)
        weight = np.where(known, 0.0, np.exp(-distance * distance / variance) / (2.0 * np.pi * variance))
        covariance = belief.covariance(inside, every)
        covariance[np.arange(len(inside)), inside] = belief.variance[inside]
        gaps = covariance - belief.covariance_with(every, boundary.rows, boundary.shares)
        moved += gaps.T @ (weight[:, None] * gaps)
    own = np.diagonal(moved)

    def values(left: Integers, right: Integers) -> Floats:
        # Ordered, so that (i, j) and (j, i) get the same bits.
        i, j = np.minimum(left, right), np.maximum(left, right)
        margins, variances = belief.differences(i, j)
        decay = np.exp(-np.abs(margins))
        slope = decay / ((1.0 + decay) * (1.0 + decay))
        taken: Floats = np.maximum(own[i] + own[j] - 2.0 * moved[i, j], 0.0) * slope / (1.0 + slope * variances)
        return taken

    return values
