"""Likelihoods: the probability of the answers to a pair, given the difference m of its scores. A file each.

A likelihood decides the fit alone. Between refits, and in the utilities of the strategies, the curvature is always the
logistic one; so the unit of the scores must be that of the logistic likelihood, in which sigma(m) is the chance to win.

n  items     p  distinct pairs     T  answers     m = f_left - f_right

A tie counts half a win for each side, unless a likelihood tells kinds of answers apart (`by_kind`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ordinate.data.arrays import Floats

if TYPE_CHECKING:
    from ordinate.learning.models import Answers
    from ordinate.learning.models.likelihood import PairCounts


class Likelihood(Protocol):
    def evaluate(self, pairs: PairCounts, scores: Floats) -> tuple[float, Floats, Floats, Floats]:
        """At scores (n,): the log-likelihood, its gradient by item (n,), the weights (p,), and their sums by item (n,).

        The weight of a pair is minus the second derivative of the log-likelihood by its m. It must not be negative.
        """

    def weight(self, margin: Floats, answers: Answers) -> Floats:
        """(T,) the weights of single answers at margins (T,)."""

    def slope(self, margin: Floats, answers: Answers) -> Floats:
        """(T,) the first derivatives of the logarithms of the likelihoods of single answers at margins (T,)."""

    def wins(self, margin: Floats, variance: Floats, answers: Answers) -> Floats:
        """(T,) the probability that left wins given that it is no tie, for margins of these means and variances.

        By MacKay (1992): sigma(x), x of variance v, has about the mean sigma(E x / sqrt(1 + pi v / 8)).
        """
