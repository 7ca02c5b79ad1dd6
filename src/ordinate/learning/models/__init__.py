"""Models: comparisons -> posterior. Each is a frozen dataclass of its prior variances with one method, `fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, runtime_checkable

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.posterior import Posterior

if TYPE_CHECKING:
    from ordinate.learning.models.map_estimate import Compared, Prior
    from ordinate.learning.models.sites import Sites


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


@runtime_checkable
class SiteModel(Model, Protocol):
    """A model that gives its posterior for Gaussian sites too, so that its prior variances can be fitted."""

    @property
    def prior(self) -> Prior:
        """The prior variances; 0 where the model has no such term."""

    def with_prior(self, prior: Prior) -> Self: ...

    def compared(self, features: Floats, answers: Answers) -> Compared:
        """The compared items, with the features that the model uses."""

    def given(self, features: Floats, compared: Compared, sites: Sites) -> Posterior:
        """The posterior where the answers about `compared` are these Gaussian sites."""
