"""The contextual model: f = X theta with theta ~ N(0, coefficient_variance I); Laplace posterior at the MAP.

X (n, k) features     L (n, n) Laplacian of the answered pairs, weights sigma'     theta (k,)
H = I / coefficient_variance + X^T L X, the negative Hessian
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.linear_scores import linear_scores
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import PositiveDefinite
from ordinate.learning.models.likelihood import PairCounts, sum_by_item
from ordinate.learning.models.map_estimate import Compared, Prior, map_estimate
from ordinate.learning.models.pair_loops import laplacian_columns
from ordinate.learning.models.sites import Sites, mean_given
from ordinate.learning.posterior import Posterior, PosteriorCovariance, factored_covariance


@dataclass(frozen=True)
class Contextual:
    """Scores are linear in the features (the paper, f_theta). The variance grows with k, not with n."""

    coefficient_variance: float = 2.0
    likelihood: Likelihood = LOGISTIC
    dense = False

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        compared = self.compared(features, answers)
        theta, _ = map_estimate(self.prior, compared, self.likelihood)

        def covariance_of_fit() -> PosteriorCovariance:
            _, _, weight, _ = self.likelihood.evaluate(compared.pairs, compared.features @ theta)
            return self._covariance(features, compared, weight)

        return Posterior(linear_scores(features, theta), theta, covariance_of_fit, new_item_variance=0.0)

    @property
    def prior(self) -> Prior:
        return Prior(self.coefficient_variance, 0.0)

    def with_prior(self, prior: Prior) -> Contextual:
        return replace(self, coefficient_variance=prior.coefficients)

    def with_likelihood(self, likelihood: Likelihood) -> Contextual:
        return replace(self, likelihood=likelihood)

    def compared(self, features: Floats, answers: Answers) -> Compared:
        return Compared.of(features, answers)

    def given(self, features: Floats, compared: Compared, sites: Sites) -> Posterior:
        theta, _ = mean_given(self.prior, compared, sites)
        covariance = self._covariance(features, compared, sites.weight)
        return Posterior(linear_scores(features, theta), theta, lambda: covariance, new_item_variance=0.0)

    def margins_given(self, compared: Compared, sites: Sites) -> tuple[Floats, Floats]:
        """Mean and variance (p,) of the compared pairs' margins, where the answers are these sites."""
        _, features, pairs = compared
        factor = features @ self._root(compared, sites.weight)
        shift = sum_by_item(pairs, sites.shift, len(features), -1.0)
        belief = FactoredBelief(factor @ (shift @ factor), factor, np.zeros(len(features)))
        return belief.differences(pairs.left, pairs.right)

    def _covariance(self, features: Floats, compared: Compared, weight: Floats) -> PosteriorCovariance:
        root = self._root(compared, weight)
        return factored_covariance(root @ root.T, features, root, np.zeros(len(features)))

    def _root(self, compared: Compared, weight: Floats) -> Floats:
        """(k, k) root of Cov(theta) = H^-1."""
        precise = information(compared.features, compared.pairs, weight)
        return PositiveDefinite(precise, 1.0 / self.coefficient_variance).inverse_root()


def information(features: Floats, pairs: PairCounts, weight: Floats) -> Floats:
    """(k, k) X^T L X, the sum over pairs of weight * z z^T, z = x_left - x_right: k^2 per item, k per pair."""
    # L is blind to an offset of all rows, which would only cost digits.
    centred = features - features.mean(axis=0) if len(features) else features
    product = centred.T @ laplacian_columns(pairs.left, pairs.right, weight, features)
    symmetric: Floats = 0.5 * (product + product.T)
    return symmetric
