"""Which items are wanted, and how surely: the first k of each group, the last k, or those above marks.

    n  items     f  their scores, of mean mu and covariance S     Phi, phi  the normal distribution and its density
    c  the score where a set ends, its boundary     z  the mean of f_l - c in its standard deviations

A boundary is uncertain too. That of a mark is the mark's score. That of the first k of a group is where k items are
expected above it; it moves with the items near it, by the shares a of their scores (implicit differentiation):

    sum_l Phi((mu_l - c) / sqrt(S_ll)) = k     a_l ~ phi((mu_l - c) / sqrt(S_ll)) / sqrt(S_ll), sum_l a_l = 1
    z_l = (mu_l - c) / sqrt(S_ll - 2 (S a)_l + a^T S a)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import Division
from ordinate.learning.belief import Belief

MARK = 3.0
"""How many times the weight of a wide open item a mark has. A comparison with a mark tells about all items' distances
to it, since all of these share its score."""
LEAST_WEIGHT = 0.01
"""Of items whose membership is known: where all memberships are known, the whole order is asked about."""
_SHARES = 256
"""Items that a boundary moves with, besides those that tie with the last of them: the others have smaller shares."""
_STEPS = 100


class Wanted(NamedTuple):
    """The items that a study is about: the first or the last so many of each group, or those above marks (rows)."""

    first: int = 0
    last: int = 0
    marks: Integers = np.empty(0, dtype=np.int64)

    def has_grades(self, group: Integers) -> bool:
        """Whether some group (n,) has several marks, and so grades between them."""
        return len(self.marks) > 0 and bool(np.bincount(group[self.marks]).max() > 1)


class Boundary(NamedTuple):
    """Where a set ends among the items of a group, `inside`: at c plus the shares of what these rows differ from mu."""

    inside: Integers
    score: float
    rows: Integers
    shares: Floats

    def distances(self, belief: Belief) -> tuple[Floats, Floats]:
        """Mean and variance of f_l - c, each (r,), of the items inside."""
        shared = belief.covariance_with(self.inside, self.rows, self.shares)
        own = float(self.shares @ belief.covariance_with(self.rows, self.rows, self.shares))
        variance = belief.variance[self.inside] - 2.0 * shared + own
        return belief.mean[self.inside] - self.score, np.maximum(variance, 0.0)


def boundaries(belief: Belief, group: Integers, wanted: Wanted) -> Iterator[Boundary]:
    """Of the set in each group, or, with several marks, of each; group (n,), negative for items not in use.

    A group of which all items are wanted, or that has no mark, has none.
    """
    division = Division.of(group)
    if len(wanted.marks):
        for mark in wanted.marks:
            inside = division.rows[division.number[mark]]
            yield Boundary(inside, float(belief.mean[mark]), np.array([mark]), np.ones(1))
        return
    above = np.full(len(division.sizes), wanted.first) if wanted.first else division.sizes - wanted.last
    spread = np.sqrt(np.maximum(belief.variance, 1e-24 * (1.0 + belief.mean**2)))
    scores = _levels(belief.mean, spread, division, above)
    for inside, score, count in zip(division.rows, scores.tolist(), above.tolist(), strict=True):
        if 0 < count < len(inside):
            shares = _shares((belief.mean[inside] - score) / spread[inside], spread[inside])
            near = np.flatnonzero(shares)
            yield Boundary(inside, score, inside[near], shares[near])


def _levels(mean: Floats, spread: Floats, division: Division, above: Integers) -> Floats:
    """(groups,) the score above which so many items are expected.

    Newton's method within a bracket, for the logarithm of the number above, or below where fewer are: far from the
    items it is nearly a parabola, and the number itself nearly flat.
    """
    from scipy.special import ndtr

    rows, number = division.order, division.number[division.order]
    mean, spread = mean[rows], spread[rows]
    starts, counts = division.begins[:-1], len(division.sizes)
    low = np.minimum.reduceat(mean - 40.0 * spread, starts)
    high = np.maximum.reduceat(mean + 40.0 * spread, starts)
    score = 0.5 * (low + high)
    # Where all or none are wanted there is no boundary; any will do.
    above = np.where((above > 0) & (above < division.sizes), above, 0.5 * division.sizes)
    side = np.where(2.0 * above <= division.sizes, 1.0, -1.0)
    wanted = np.where(side > 0.0, above, division.sizes - above)
    for _ in range(_STEPS):
        z = (mean - score[number]) / spread
        there = np.bincount(number, ndtr(side[number] * z), counts)
        slope = np.bincount(number, np.exp(-0.5 * z * z) / spread, counts) / np.sqrt(2.0 * np.pi)
        too_low = side * (there - wanted) > 0.0
        low, high = np.where(too_low, score, low), np.where(too_low, high, score)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = score + side * there * np.log(there / wanted) / slope
        inside = (step >= low) & (step <= high)  # false for nan, true where it has arrived
        following = np.where(inside, step, 0.5 * (low + high))
        close = np.abs(following - score) <= 1e-12 * (1.0 + np.abs(score))
        score = following
        if close.all():
            break
    return score


def _shares(z: Floats, spread: Floats) -> Floats:
    """(r,) the shares of a boundary; 0 but for the largest ones."""
    logs = -0.5 * z * z - np.log(spread)
    shares: Floats = np.exp(logs - logs.max())
    if len(shares) > _SHARES:
        shares[shares < np.partition(shares, -_SHARES)[-_SHARES]] = 0.0
    shares /= shares.sum()
    return shares


def item_weights(belief: Belief, group: Integers, wanted: Wanted) -> Floats:
    """(n,) how much the questions of an aim are to be about each item: from above 0 to 1.

    Twice the standard deviation of its membership, 2 sqrt(Phi(z) Phi(-z)), and at least `LEAST_WEIGHT`. A mark, one in
    each group, has more.
    """
    from scipy.special import ndtr

    found = np.full(len(group), LEAST_WEIGHT)
    for boundary in boundaries(belief, group, wanted):
        distance, variance = boundary.distances(belief)
        z = distance / np.sqrt(np.maximum(variance, 1e-24))
        deviation = 2.0 * np.sqrt(ndtr(z) * ndtr(-z))
        found[boundary.inside] = np.clip(deviation, LEAST_WEIGHT, 1.0)
    if len(wanted.marks):
        found /= MARK
        found[wanted.marks] = 1.0
    return found
