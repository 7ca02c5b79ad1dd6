"""Models: comparisons -> posterior. Each is a frozen dataclass of its prior variances with one method, `fit`."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.posterior import Posterior


class Answers(NamedTuple):
    """T comparisons by rows of the items, in log order. outcome: 1 left won, 0 right won, 0.5 a tie."""

    left: Integers
    right: Integers
    outcome: Floats


class Model(Protocol):
    @property
    def dense(self) -> bool:
        """Whether a fit computes the covariance of all items with all, which takes n^2 memory and n^3 time."""

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        """The posterior after these answers, from scaled features (n, k); starts cold, defined for any answers."""
