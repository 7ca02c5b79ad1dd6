"""The hybrid model in the paper's form: the same MAP, and a covariance that treats each item's term as independent.

    X (n, k) features     Cov(theta) (k, k)     V (n,) variances of zeta     posterior O(k^2 + n), O(k^2) per answer

The covariance is built as in the paper's appendix: rank-one updates over the answers in turn, cross terms dropped, here
with the weights at the current MAP instead of those when each answer came.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.linear_scores import linear_scores
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import root_of
from ordinate.learning.models.map_estimate import Compared, Prior, map_estimate
from ordinate.learning.models.one_by_one import replay_factored
from ordinate.learning.models.sites import Sites, mean_given
from ordinate.learning.posterior import Posterior, PosteriorCovariance, factored_covariance


@dataclass(frozen=True)
class FactoredHybrid:
    """Linear in the features plus a term per item, with the paper's factored covariance, for many items."""

    coefficient_variance: float = 2.0
    item_variance: float = 1.0
    likelihood: Likelihood = LOGISTIC
    dense = False

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        compared = self.compared(features, answers)
        theta, zeta = map_estimate(self.prior, compared, self.likelihood)
        mean = linear_scores(features, theta)
        mean[compared.rows] += zeta

        def covariance_of_fit() -> PosteriorCovariance:
            weight = self.likelihood.weight(mean[answers.left] - mean[answers.right], answers)
            return self._covariance(features, answers.left, answers.right, weight)

        return Posterior(mean, theta, covariance_of_fit, self.item_variance)

    @property
    def prior(self) -> Prior:
        return Prior(self.coefficient_variance, self.item_variance)

    def with_prior(self, prior: Prior) -> FactoredHybrid:
        return replace(self, coefficient_variance=prior.coefficients, item_variance=prior.items)

    def with_likelihood(self, likelihood: Likelihood) -> FactoredHybrid:
        return replace(self, likelihood=likelihood)

    def compared(self, features: Floats, answers: Answers) -> Compared:
        return Compared.of(features, answers)

    def given(self, features: Floats, compared: Compared, sites: Sites) -> Posterior:
        rows, _, pairs = compared
        theta, zeta = mean_given(self.prior, compared, sites)
        mean = linear_scores(features, theta)
        mean[rows] += zeta
        covariance = self._covariance(features, rows[pairs.left], rows[pairs.right], sites.weight)
        return Posterior(mean, theta, lambda: covariance, self.item_variance)

    def _covariance(self, features: Floats, left: Integers, right: Integers, weight: Floats) -> PosteriorCovariance:
        covariance = self.coefficient_variance * np.eye(features.shape[1])
        residual = np.full(len(features), self.item_variance)
        replay_factored(features, left, right, weight, covariance, residual)
        return factored_covariance(covariance, features, root_of(covariance), residual)
