"""A choice, and what it may be made by: a utility of m and v, or any score of pairs. When two of them tie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.logistic import logistic_slope

TIE = 1e-9
"""Utilities this close, relatively, are equal."""
ROUNDING = 1e-10
"""More than what the product form of sigma' can be off by, relatively."""


class Choice(NamedTuple):
    """A pair of item rows, unordered, what choosing it was worth to the strategy, and how many pairs were looked at."""

    left: int
    right: int
    utility: float
    looked: int = 0


class Utility(Protocol):
    """A function of m and v of the difference of two scores, elementwise over arrays of one shape; symmetric in m."""

    def __call__(self, margin: Floats, variance: Floats) -> Floats: ...


class Rising(ABC):
    """A utility, never below 0, that does not fall where v rises: what it was bounds what it is after more answers.

    Nor does it rise with |m|, so what is known of a number of pairs bounds them all.

    steepest  at least its largest derivative by v
    wobble    by how much, relatively, it may fall after all, as what is read off a table may
    faint     by how much besides
    """

    steepest: float
    wobble = 0.0
    faint = 0.0

    @abstractmethod
    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        """As of any `Utility`."""


Score = Callable[[Integers, Integers], Floats]
"""Rows left (P,), right (P,) -> (P,) finite worths; of a pair always the same bits, whichever side is which."""


@dataclass(frozen=True)
class CurvaturePower(Rising):
    """sigma'(m)^exponent * v: the utility with a compiled scan. Exponent 2 is GURO, 0 is NormMin."""

    exponent: int

    @property
    def steepest(self) -> float:  # type: ignore[override]
        return 1.0 if self.exponent == 0 else 1.0 / 16.0

    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        utility: Floats = power_utilities(margin, variance, self.exponent)
        return utility


def floor_of(value: float, tolerance: float = TIE) -> float:
    """The least value that ties with this one."""
    return value - tolerance * abs(value)


@compiled
def pair_priority(seed: np.uint64, i: int, j: int) -> np.uint64:
    """A pseudo-random 64-bit number of the pair i < j (splitmix64): ties go to the largest, in whatever order met."""
    state = (np.uint64(i) << np.uint64(32)) ^ np.uint64(j) ^ seed
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


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


@compiled
def pair_priorities(seed: np.uint64, left: Integers, right: Integers) -> NDArray[np.uint64]:
    """`pair_priority` of each pair, (P,)."""
    values = np.empty(left.shape[0], dtype=np.uint64)
    for pair in range(left.shape[0]):
        values[pair] = pair_priority(seed, min(left[pair], right[pair]), max(left[pair], right[pair]))
    return values
