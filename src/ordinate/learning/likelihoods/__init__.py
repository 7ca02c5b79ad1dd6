"""Likelihoods: the probability of the answers to a pair, given the difference m of its scores. A file each.

A likelihood decides the fit alone. Between refits, and in the utilities of the strategies, the curvature is always the
logistic one; so the unit of the scores must be that of the logistic likelihood, in which sigma(m) is the chance to win.

n  items     p  distinct pairs     T  answers     m = f_left - f_right     a tie counts half a win for each side
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ordinate.data.arrays import Floats

if TYPE_CHECKING:
    from ordinate.learning.models.likelihood import PairCounts


class Likelihood(Protocol):
    def evaluate(self, pairs: PairCounts, scores: Floats) -> tuple[float, Floats, Floats, Floats]:
        """At scores (n,): the log-likelihood, its gradient by item (n,), the weights (p,), and their sums by item (n,).

        The weight of a pair is minus the second derivative of the log-likelihood by its m. It must not be negative.
        """

    def weight(self, margin: Floats, outcome: Floats) -> Floats:
        """(T,) the weights of single answers: outcome 1 left won, 0 right won, 0.5 a tie, at margins (T,)."""
