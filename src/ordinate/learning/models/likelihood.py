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
SLIGHTLY, MUCH = 1, 2
"""Strengths of answers."""


class Kinds(NamedTuple):
    """The answers in more detail than wins: G kinds, of which those of pair k are begins[k] to begins[k + 1].

    begins     (p + 1,)
    outcome    (G,) 1 the pair's left item won, 0 its right one, 0.5 a tie
    strength      (G,) 0 no strength, SLIGHTLY, MUCH
    sharpness  (G,) what the margin is multiplied by
    lean       (G,) what is added to that product
    size       (G,) how many answers
    """

    begins: Integers
    outcome: Floats
    strength: Integers
    sharpness: Floats
    lean: Floats
    size: Floats

    @classmethod
    def single(cls, answers: Answers) -> Kinds | None:
        """Each answer on its own; None where nobody asks for kinds."""
        if answers.strength is None:
            return None
        total = len(answers.outcome)
        sharpness = np.ones(total) if answers.sharpness is None else answers.sharpness
        lean = np.zeros(total) if answers.lean is None else answers.lean
        size = np.ones(total) if answers.share is None else answers.share
        return cls(np.arange(total + 1), answers.outcome, answers.strength, sharpness, lean, size)

    @classmethod
    def of(cls, answers: Answers, left: Integers, right: Integers, items: int) -> Kinds | None:
        """By pair of these (p,), which are in ascending order; None where nobody asks for kinds."""
        if (each := cls.single(answers)) is None:
            return None
        low, high = np.minimum(answers.left, answers.right), np.maximum(answers.left, answers.right)
        pair = np.searchsorted(left * items + right, low * items + high)
        outcome = np.where(answers.left == low, each.outcome, 1.0 - each.outcome)
        lean = np.where(answers.left == low, each.lean, -each.lean)
        persons, person = np.unique(each.sharpness + 1j * lean, return_inverse=True)
        code = (pair * 3 + np.rint(2.0 * outcome).astype(np.int64)) * 3 + each.strength
        found, kind = np.unique(code * len(persons) + person.reshape(-1), return_inverse=True)
        rest, person = np.divmod(found, max(len(persons), 1))
        rest, strength = np.divmod(rest, 3)
        pair, outcome_code = np.divmod(rest, 3)
        return cls(
            np.searchsorted(pair, np.arange(len(left) + 1)),
            0.5 * outcome_code,
            strength,
            persons.real[person],
            persons.imag[person],
            np.bincount(kind.reshape(-1), each.size, len(found)).astype(np.float64),
        )


class PairCounts(NamedTuple):
    """Sufficient statistics: how often each distinct pair was asked and how often its left item won.

    kinds  the same in more detail; None: a tie is half a win for each side, and all answers count alike
    """

    left: Integers
    right: Integers
    asked: Floats
    wins: Floats
    kinds: Kinds | None = None

    @classmethod
    def of(cls, answers: Answers, items: int) -> PairCounts:
        # Columns of a larger array, too, are one kind of array for the compiled loop: each kind is compiled on its own.
        left, right = np.ascontiguousarray(answers.left), np.ascontiguousarray(answers.right)
        counted = count_pairs(left, right, np.ascontiguousarray(answers.outcome), items)
        return cls(*counted, Kinds.of(answers, *counted[:2], items))

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
