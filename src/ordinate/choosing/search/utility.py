"""What a pair may be chosen by: a utility of m and v, the mean and variance of f_i - f_j, or any score of pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.belief import Belief
from ordinate.learning.logistic import logistic_slope

_Value = TypeVar("_Value", float, Floats)


class Utility(Protocol):
    """A function of m and v, elementwise over arrays of one shape; symmetric in m."""

    def __call__(self, margin: Floats, variance: Floats) -> Floats: ...


class MonotoneUtility(ABC):
    """A utility of at least 0 that does not decrease with v and does not increase with |m|.

    So its value before an answer is an upper bound of its value after it, and the smallest |m| and the largest v of a
    set of pairs bound all of the set.

    weights             (n,) of items, above 0 and at most 1: a pair's utility is times those of its two items; None: 1
    max_slope           at least its largest derivative by v
    relative_tolerance  by how much, relatively, it may break that rule, as values read off a table may
    absolute_tolerance  by how much besides
    """

    weights: Floats | None = None
    max_slope: float
    relative_tolerance = 0.0
    absolute_tolerance = 0.0

    @abstractmethod
    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        """As of any `Utility`."""

    def upper_bound(self, value: _Value) -> _Value:
        """The most it may be where v is smaller, or |m| larger, than where it had this value."""
        return value * (1.0 + self.relative_tolerance) + self.absolute_tolerance

    def grown(self, value: Floats, growth: float, largest: float) -> Floats:
        """The most they may be where each v, at most `largest`, is up to `growth` > 1 times what it was."""
        return value + self.max_slope * (growth - 1.0) * largest


Score = Callable[[Integers, Integers], Floats]
"""Rows left (P,), right (P,) -> (P,) finite scores; the same bits for (i, j) and (j, i)."""


def of_pairs(utility: Utility, belief: Belief, left: Integers, right: Integers) -> Floats:
    """The utilities of pairs (P,), with the weights of their items; the same bits for (i, j) and (j, i)."""
    values = utility(*belief.differences(left, right))
    weights = utility.weights if isinstance(utility, MonotoneUtility) else None
    return values if weights is None else values * (weights[left] * weights[right])


@dataclass(frozen=True, eq=False)
class CurvaturePower(MonotoneUtility):
    """sigma'(m)^exponent * v: the utility with a compiled scan. Exponent 2 is GURO, 0 is NormMin.

    Equal ones have the very same weights.
    """

    exponent: int
    weights: Floats | None = field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CurvaturePower):
            return NotImplemented
        return self.exponent == other.exponent and self.weights is other.weights

    def __hash__(self) -> int:
        return hash((self.exponent, id(self.weights)))

    @property
    def max_slope(self) -> float:  # type: ignore[override]
        return 1.0 if self.exponent == 0 else 1.0 / 16.0

    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        utility: Floats = power_utilities(margin, variance, self.exponent)
        return utility

    def grown(self, value: Floats, growth: float, largest: float) -> Floats:
        with np.errstate(over="ignore"):  # an infinite bound is a bound, too
            return value * growth


@compiled
def power_utility(margin: float, variance: float, exponent: int) -> float:
    """sigma'(m)^exponent * v for the exponents 0 and 2."""
    if exponent == 0:
        return variance
    slope = logistic_slope(margin)
    return slope * slope * variance


@compiled
def power_utilities(margin: Floats, variance: Floats, exponent: int) -> Floats:
    """`power_utility` of each pair, (P,)."""
    values = np.empty(margin.shape[0])
    for pair in range(margin.shape[0]):
        values[pair] = power_utility(margin[pair], variance[pair], exponent)
    return values
