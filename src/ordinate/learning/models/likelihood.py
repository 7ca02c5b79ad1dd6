"""The logistic likelihood of comparisons, and damped Newton, which finds the MAP (the paper's MAP equation).

p  distinct pairs asked     m = f_left - f_right  (p,)     a tie counts half a win for each side
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.models.pair_loops import count_pairs

if TYPE_CHECKING:
    from ordinate.learning.models import Answers

_CONVERGED = 1e-13
"""Newton decrement squared at which one more full step leaves an error of 1e-13 posterior standard deviations, times
the largest of a compared margin's, which is in the hundreds where the prior is wide and the answers agree."""
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

    def weight(self, margin: Floats) -> Floats:
        """(p,) minus the second derivative of the log-likelihood by the margin: asked * sigma'(margin)."""
        from scipy.special import expit

        weight: Floats = self.asked * expit(margin) * expit(-margin)
        return weight

    def weight_at(self, scores: Floats) -> Floats:
        """(p,) `weight` at the margins of these scores (n,)."""
        return self.weight(scores[self.left] - scores[self.right])


def sum_by_item(pairs: PairCounts, values: Floats, items: int, sign: float = 1.0) -> Floats:
    """(items,) sums of the values (p,) of the pairs with the item on the left, plus sign * those on the right."""
    # Pair by pair, so that the sums have the bits of those that the likelihood's loop makes.
    ends, both = np.column_stack(pairs[:2]).ravel(), np.column_stack([values, sign * values]).ravel()
    total: Floats = np.bincount(ends, both, items).astype(np.float64)
    return total


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
