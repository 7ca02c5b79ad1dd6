"""A choice, and what it may be made by: a utility of m and v, or any score of pairs. When two of them tie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
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
        utility: Floats = kernels.power_utilities(margin, variance, self.exponent)
        return utility


def floor_of(value: float, tolerance: float = TIE) -> float:
    """The least value that ties with this one."""
    return value - tolerance * abs(value)
