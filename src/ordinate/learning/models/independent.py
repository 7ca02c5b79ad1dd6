"""The independent model: a score per item and no features, plain Bradley and Terry (1952) with a Gaussian prior."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ordinate.data.arrays import Floats
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.map_estimate import Compared, Prior
from ordinate.learning.models.sites import Sites
from ordinate.learning.posterior import Posterior


@dataclass(frozen=True)
class Independent:
    """f_i ~ N(0, item_variance), unrelated to each other: the hybrid model without columns."""

    item_variance: float = 1.0
    likelihood: Likelihood = LOGISTIC
    dense = True

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        return Hybrid(item_variance=self.item_variance, likelihood=self.likelihood).fit(features[:, :0], answers)

    @property
    def prior(self) -> Prior:
        return Prior(0.0, self.item_variance)

    def with_prior(self, prior: Prior) -> Independent:
        return replace(self, item_variance=prior.items)

    def with_likelihood(self, likelihood: Likelihood) -> Independent:
        return replace(self, likelihood=likelihood)

    def compared(self, features: Floats, answers: Answers) -> Compared:
        return Compared.of(features[:, :0], answers)

    def given(self, features: Floats, compared: Compared, sites: Sites) -> Posterior:
        return Hybrid(item_variance=self.item_variance).given(features[:, :0], compared, sites)
