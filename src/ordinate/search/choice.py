"""A choice, and what it may be made by: a utility of m and v, or any score of pairs. When two of them tie."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ordinate import kernels
from ordinate.types import Floats, Integers

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


Score = Callable[[Integers, Integers], Floats]
"""Rows left (P,), right (P,) -> (P,) finite worths; of a pair always the same bits, whichever side is which."""


class CurvaturePower(NamedTuple):
    """sigma'(m)^exponent * v: the utility with a compiled scan. Exponent 2 is GURO, 0 is NormMin."""

    exponent: int

    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        utility: Floats = kernels.power_utilities(margin, variance, self.exponent)
        return utility


def floor_of(value: float, tolerance: float = TIE) -> float:
    """The least value that ties with this one."""
    return value - tolerance * abs(value)
