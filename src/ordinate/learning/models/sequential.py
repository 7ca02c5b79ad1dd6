"""Sequential posterior updates: each answer's estimate is the prior of the next (the paper, appendix on BayesGURO).

    X (n, k) features     Cov(theta) (k, k)     V (n,) variances of zeta     O(k^2) per answer

Nothing is fitted again: an answer moves mean and covariance once, with the curvature at its own estimate. The cross
terms of theta and zeta are dropped, as in `factored`. Unlike in the other models, the order of the answers matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.linear_scores import linear_scores
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import root_of
from ordinate.learning.models.one_by_one import replay_sequential
from ordinate.learning.posterior import Posterior, PosteriorCovariance, factored_covariance


class _State(NamedTuple):
    """After some answers: theta (k,), Cov(theta) (k, k), zeta (n,) and its variances (n,)."""

    theta: Floats
    covariance: Floats
    zeta: Floats
    residual: Floats


@dataclass(frozen=True)
class Sequential:
    """The contextual model, or with an item variance above 0 the hybrid one, by one Laplace step per answer."""

    coefficient_variance: float = 2.0
    item_variance: float = 0.0
    dense = False

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        items, columns = features.shape
        prior = _State(
            np.zeros(columns),
            self.coefficient_variance * np.eye(columns),
            np.zeros(items),
            np.full(items, self.item_variance),
        )
        return self._after(prior, np.ascontiguousarray(features), answers)

    def _after(self, earlier: _State, features: Floats, answers: Answers) -> Posterior:
        now = _State(*(values.copy() for values in earlier))
        replay_sequential(features, *answers[:3], *now)

        def covariance_of_fit() -> PosteriorCovariance:
            return factored_covariance(now.covariance, features, root_of(now.covariance), now.residual)

        return Posterior(
            linear_scores(features, now.theta) + now.zeta,
            now.theta,
            covariance_of_fit,
            self.item_variance,
            lambda further: self._after(now, features, further),
        )
