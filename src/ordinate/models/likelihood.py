"""The logistic likelihood of comparisons, and damped Newton, which finds the MAP (the paper's MAP equation).

p  distinct pairs asked     m = f_left - f_right  (p,)     a tie counts half a win for each side
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from ordinate.models.pair_loops import count_pairs
from ordinate.types import Floats, Integers

if TYPE_CHECKING:
    from ordinate.models import Answers

_CONVERGED = 1e-12
"""Newton decrement squared at which one more full step leaves an error of 1e-12 posterior standard deviations."""
_MOST_STEPS = 500


class PairCounts(NamedTuple):
    """Sufficient statistics: how often each distinct pair was asked and how often its left item won."""

    left: Integers
    right: Integers
    asked: Floats
    wins: Floats

    @classmethod
    def of(cls, answers: Answers, items: int) -> PairCounts:
        return cls(*count_pairs(*answers, items))

    def log_likelihood(self, margin: Floats) -> float:
        losses = self.asked - self.wins
        return -float(self.wins @ np.logaddexp(0.0, -margin) + losses @ np.logaddexp(0.0, margin))

    def residual(self, margin: Floats) -> Floats:
        """(p,) d log-likelihood / d margin: wins minus expected wins."""
        residual: Floats = self.wins - self.asked * expit(margin)
        return residual

    def weight(self, margin: Floats) -> Floats:
        """(p,) minus its second derivative: asked * sigma'(margin)."""
        weight: Floats = self.asked * expit(margin) * expit(-margin)
        return weight

    def scatter(self, values: Floats, items: int) -> Floats:
        """(n,) sum over pairs of values * (e_left - e_right)."""
        return _sums(self.left, values, items) - _sums(self.right, values, items)

    def degree(self, weight: Floats, items: int) -> Floats:
        """(n,) total weight of each item's pairs: the diagonal of the Laplacian."""
        return _sums(self.left, weight, items) + _sums(self.right, weight, items)


def _sums(places: Integers, values: Floats, size: int) -> Floats:
    """(size,) the sum of the values at each place."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


def newton(
    objective: Callable[[Floats], float], step: Callable[[Floats], tuple[Floats, Floats]], start: Floats
) -> Floats:
    """The maximum of a strictly concave objective by damped Newton; converges for every comparison data.

    step(x) gives the gradient and the Newton direction. Early, nearly separable data sends undamped steps away.
    """
    point, value = start, objective(start)
    for _ in range(_MOST_STEPS):
        gradient, direction = step(point)
        decrement = float(gradient @ direction)
        rounding = 1e-14 * abs(value)
        if decrement <= max(_CONVERGED, 0.1 * rounding):
            return point + direction
        length = 1.0
        # Differences of the objective below its rounding say nothing, so they do not shorten a step.
        while (moved := objective(nearer := point + length * direction)) < value + 1e-4 * length * decrement - rounding:
            length /= 2.0
            if length < 1e-12:
                raise ArithmeticError("Newton's method found no step that improves the fit; please report the study")
        point, value = nearer, moved
    raise ArithmeticError(f"Newton's method did not converge in {_MOST_STEPS} steps; please report the study")
