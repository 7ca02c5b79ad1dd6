"""Models: comparisons -> posterior. Each is a frozen dataclass of its prior variances with one method, `fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.posterior import Posterior

if TYPE_CHECKING:
    from ordinate.learning.likelihoods import Likelihood
    from ordinate.learning.models.map_estimate import Compared, Prior
    from ordinate.learning.models.sites import Sites


class Answers(NamedTuple):
    """T comparisons by rows of the items, in log order.

    outcome    (T,) 1 left won, 0 right won, 0.5 a tie
    strength      (T,) 0 no strength, SLIGHTLY, MUCH; None: kinds of answers are not told apart
    sharpness  (T,) what the margin is multiplied by, for the person who answered; None: 1
    share      (T,) how much of an answer each is, where one person's answers about a pair are not independent; None: 1
    lean       (T,) what is added to that product, where the person who answered prefers a side; None: 0
    """

    left: Integers
    right: Integers
    outcome: Floats
    strength: Integers | None = None
    sharpness: Floats | None = None
    share: Floats | None = None
    lean: Floats | None = None

    def those(self, chosen: NDArray[np.bool_] | Integers | slice) -> Answers:
        columns: Any = (None if column is None else column[chosen] for column in self)
        return Answers(*columns)

    @property
    def telling(self) -> NDArray[np.bool_]:
        """(T,) which of them say anything of the items: not those of people whose margins are multiplied by 0."""
        return np.ones(len(self.outcome), dtype=np.bool_) if self.sharpness is None else self.sharpness > 0.0

    def of_compared(self) -> tuple[Integers, Answers]:
        """The rows (r,) of the items that they compare, ascending, and the answers by places among these."""
        rows, places = np.unique(np.concatenate([self.left, self.right]), return_inverse=True)
        left, right = np.split(places.reshape(-1), 2)
        return rows, self._replace(left=left, right=right)


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
    def likelihood(self) -> Likelihood: ...

    @property
    def prior(self) -> Prior:
        """The prior variances; 0 where the model has no such term."""

    def with_prior(self, prior: Prior) -> Self: ...

    def with_likelihood(self, likelihood: Likelihood) -> Self: ...

    def compared(self, features: Floats, answers: Answers) -> Compared:
        """The compared items, with the features that the model uses."""

    def given(self, features: Floats, compared: Compared, sites: Sites) -> Posterior:
        """The posterior where the answers about `compared` are these Gaussian sites."""
