"""A model of features in several blocks, such as an embedding beside measurements, each with a variance of its own.

k  feature columns     c  the model's coefficient variance     d_b  what it is multiplied by for the columns of block b

Scores are X theta + zeta, where a coefficient theta_j of block b has the variance c d_b. That is the model with the
variance c for the columns sqrt(d_b) X_b. Whoever uses the posterior sees the features as they are given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.learning.belief import Belief, KeptCovariance
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.models import Answers, SiteModel
from ordinate.learning.models.hybrid import Same
from ordinate.learning.models.map_estimate import Compared, Prior
from ordinate.learning.models.sites import Sites
from ordinate.learning.posterior import Posterior, PosteriorCovariance


@dataclass(frozen=True)
class InBlocks:
    """widths  how many columns each block has     variances  d_b"""

    model: SiteModel
    widths: tuple[int, ...]
    variances: tuple[float, ...]

    @property
    def dense(self) -> bool:
        return self.model.dense

    @property
    def likelihood(self) -> Likelihood:
        return self.model.likelihood

    def with_likelihood(self, likelihood: Likelihood) -> InBlocks:
        return replace(self, model=self.model.with_likelihood(likelihood))

    @property
    def prior(self) -> Prior:
        return self.model.prior._replace(blocks=self.variances)

    def with_prior(self, prior: Prior) -> InBlocks:
        return replace(self, model=self.model.with_prior(prior), variances=prior.blocks)

    def by_column(self, variances: tuple[float, ...]) -> Floats:
        """(k,) of the columns, from those of the blocks."""
        return np.repeat(variances, self.widths)

    def scaled(self, features: Floats) -> Floats:
        """(n, k) the columns times sqrt(d_b)."""
        return _scaled(Same(features), self.widths, self.variances)

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        return self._in_given_units(self.model.fit(self.scaled(features), answers))

    def compared(self, features: Floats, answers: Answers) -> Compared:
        return self.model.compared(self.scaled(features), answers)

    def given(self, features: Floats, compared: Compared, sites: Sites) -> Posterior:
        return self._in_given_units(self.model.given(self.scaled(features), compared, sites))

    def _in_given_units(self, posterior: Posterior) -> Posterior:
        root = np.sqrt(self.by_column(self.variances))
        return replace(
            posterior,
            coefficients=root * posterior.coefficients,
            find_covariance=lambda: _InGivenUnits(posterior.covariance, root),
        )


@lru_cache(maxsize=2)  # one of choosing, one of results
def _scaled(features: Same, widths: tuple[int, ...], variances: tuple[float, ...]) -> Floats:
    given: Any = features.array
    root = np.sqrt(np.repeat(variances, widths)).astype(given.dtype)
    scaled: Floats = given * root
    return scaled


@dataclass(frozen=True, eq=False)
class _InGivenUnits:
    """The covariance of theta and f, where `covariance` is that of theta / root (k,) and f."""

    covariance: PosteriorCovariance
    root: Floats

    @property
    def coefficients(self) -> Floats:
        inside: Floats = self.root[:, None] * self.covariance.coefficients * self.root
        return inside

    @property
    def score_map(self) -> Floats | Singles:
        inside: Floats = self.covariance.score_map / self.root.astype(self.covariance.score_map.dtype)
        return inside

    @property
    def variance(self) -> Floats:
        return self.covariance.variance

    def with_mean_score(self, rows: Integers) -> Floats:
        return self.covariance.with_mean_score(rows)

    def random_pairs(self, left: Integers, right: Integers) -> Floats:
        return self.covariance.random_pairs(left, right)

    def compared_pairs(self, left: Integers, right: Integers) -> Floats:
        return self.covariance.compared_pairs(left, right)

    def belief(self, mean: Floats) -> Belief:
        return self.covariance.belief(mean)

    def kept(self) -> KeptCovariance:
        return self.covariance.kept()
