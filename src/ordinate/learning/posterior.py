"""What a model learns from the answers: a belief about its items, and coefficients that carry over to new ones.

n  study items     m  new items     k  scaled feature columns     f  scores (n,)
theta  coefficients (k,)     zeta_i  what theta does not explain of item i
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import members
from ordinate.learning.belief import Belief, KeptBelief, KeptCovariance
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.belief.projected import ProjectedBelief, mean_row, row_blocks
from ordinate.learning.linear_scores import linear_scores, linear_scores_double


class PosteriorCovariance(Protocol):
    """Second moments of theta and f."""

    @property
    def coefficients(self) -> Floats:
        """(k, k) Cov(theta)."""

    @property
    def score_map(self) -> Floats | Singles:
        """(n, k): Cov(theta, f) = coefficients @ score_map.T"""

    @property
    def variance(self) -> Floats:
        """(n,) Var(f)."""

    def with_mean_score(self, rows: Integers) -> Floats:
        """(r,) Cov(f_i, the mean score of the rows), for each of the rows (r,)."""

    def random_pairs(self, left: Integers, right: Integers) -> Floats:
        """(P,) Var(f_i - f_j) of pairs that are drawn at random, for a mean over many: on average as it is."""

    def compared_pairs(self, left: Integers, right: Integers) -> Floats:
        """(P,) Var(f_i - f_j) of pairs that answers compare, without an n x n matrix where there are many items."""

    def belief(self, mean: Floats) -> Belief:
        """The belief with this mean (n,)."""

    def kept(self) -> KeptCovariance:
        """The covariance for refits that renew the mean alone, in memory of its own."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """A Gaussian posterior over theta and the scores of the study's items.

    mean               (n,) of the scores
    coefficients       (k,) mean of theta; k = 0 for a model that ignores features
    find_covariance    gives the covariance: what needs the mean alone does not wait for it
    new_item_variance  prior variance of zeta of an item outside the study
    further            further answers -> the posterior after them too; only of models that take one
                       answer after another
    """

    mean: Floats
    coefficients: Floats
    find_covariance: Callable[[], PosteriorCovariance]
    new_item_variance: float
    further: Callable[[Any], Posterior] | None = None

    @cached_property
    def covariance(self) -> PosteriorCovariance:
        return self.find_covariance()

    @cached_property
    def belief(self) -> Belief:
        return self.covariance.belief(self.mean)

    def scores_covariance(self) -> Floats:
        """(n, n) Cov(f). Of many items it may not fit in memory."""
        covariance = self.belief.covariance(slice(None), slice(None))
        np.fill_diagonal(covariance, self.belief.variance)
        return covariance

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """(size, n) joint draws of the scores."""
        return self.belief.sample(size, rng)

    def centred(self, group: Integers) -> tuple[Floats, Floats]:
        """Scores minus the mean score of their group, and standard errors of that difference, each (n,).

        Items of group -1 get nan.
        """
        scores, errors = np.full(len(group), np.nan), np.full(len(group), np.nan)
        variance = self.covariance.variance
        for rows in members(group):
            with_mean = self.covariance.with_mean_score(rows)
            scores[rows] = self.mean[rows] - self.mean[rows].mean()
            errors[rows] = np.sqrt(np.maximum(variance[rows] - 2.0 * with_mean + with_mean.mean(), 0.0))
        return scores, errors

    def predict(self, features: Floats, group: Integers, study_group: Integers) -> tuple[Floats, Floats]:
        """Scores and standard errors, each (m,), of items outside the study, from scaled features (m, k).

        Centred like the study's own: minus the mean score of the study's items of the same group. Where the study has
        none, the score is relative to the prior mean.
        """
        features = features[:, : len(self.coefficients)]
        scores = linear_scores_double(features, self.coefficients)
        products = features @ self.covariance.coefficients
        variance = np.einsum("mk,mk->m", products, features) + self.new_item_variance
        for rows in members(study_group):
            chosen = np.flatnonzero(group == study_group[rows[0]])
            if not len(chosen):
                continue
            scores[chosen] -= self.mean[rows].mean()
            mean_variance = self.covariance.with_mean_score(rows).mean()
            variance[chosen] += mean_variance - 2.0 * products[chosen] @ mean_row(self.covariance.score_map, rows)
        return scores, np.sqrt(np.maximum(variance, 0.0))


@dataclass(frozen=True, eq=False)
class FactoredCovariance:
    """Of a model whose belief is factored: Cov(f) = factor @ factor.T + diag(residual).

    coefficients  (k, k) Cov(theta)
    score_map     (n, k)
    factor        (n, k)
    residual      (n,)
    """

    coefficients: Floats
    score_map: Floats
    factor: Floats
    residual: Floats

    @cached_property
    def variance(self) -> Floats:
        return self.belief(np.empty(0)).variance

    def with_mean_score(self, rows: Integers) -> Floats:
        factor = self.factor[rows]
        covariance: Floats = (factor @ factor.sum(axis=0) + self.residual[rows]) / len(rows)
        return covariance

    def random_pairs(self, left: Integers, right: Integers) -> Floats:
        return self.belief(np.zeros(len(self.residual))).differences(left, right)[1]

    compared_pairs = random_pairs

    def belief(self, mean: Floats) -> FactoredBelief:
        return FactoredBelief(mean, self.factor, self.residual)

    def kept(self) -> KeptCovariance:
        return KeptBelief(self.belief(np.empty(0)))


@dataclass(frozen=True, eq=False)
class ProjectedCovariance:
    """`FactoredCovariance` of many items, with the factor score_map @ root, which is never computed for all of them.

    score_map  (n, k) float32, the features
    root       (k, k)
    """

    coefficients: Floats
    score_map: Singles
    root: Floats
    residual: Floats

    @cached_property
    def variance(self) -> Floats:
        return self.belief(np.empty(len(self.residual))).variance

    def with_mean_score(self, rows: Integers) -> Floats:
        direction = self.coefficients @ mean_row(self.score_map, rows)
        covariance = self.residual[rows] / len(rows)
        for block in row_blocks(len(rows)):
            covariance[block] += linear_scores(self.score_map[rows[block]], direction)
        return covariance

    def random_pairs(self, left: Integers, right: Integers) -> Floats:
        return self.belief(np.zeros(len(self.residual))).differences(left, right)[1]

    compared_pairs = random_pairs

    def belief(self, mean: Floats) -> ProjectedBelief:
        return ProjectedBelief(mean, self.score_map, self.residual, self.root)

    def kept(self) -> KeptCovariance:
        return KeptBelief(self.belief(np.empty(0)))


def factored_covariance(coefficients: Floats, features: Any, root: Floats, residual: Floats) -> PosteriorCovariance:
    """Of scores features @ theta + zeta with Cov(theta) = root @ root.T (k, k) and Var(zeta) = residual (n,).

    features (n, k): float64, or float32 of many items.
    """
    if features.dtype == np.float32:
        return ProjectedCovariance(coefficients, features, root, residual)
    return FactoredCovariance(coefficients, features, features @ root, residual)
