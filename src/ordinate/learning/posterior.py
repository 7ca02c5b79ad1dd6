"""What a model makes of the answers: a belief about its items, and coefficients that carry over to new ones.

n  study items     m  new items     k  scaled feature columns
theta  coefficients     zeta_i  what theta does not explain of item i
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import members
from ordinate.learning.belief import Belief, FactoredBelief, ProjectedBelief, blocks, mean_row
from ordinate.learning.linear_scores import linear_scores, linear_scores_double


class Spread(Protocol):
    """Second moments of theta and the scores."""

    @property
    def coefficients(self) -> Floats:
        """(k, k) Cov(theta)."""

    @property
    def score_map(self) -> Floats | Singles:
        """(n, k): Cov(theta, f) = coefficients @ score_map.T"""

    @property
    def variance(self) -> Floats:
        """(n,) Var(f)."""

    def with_mean(self, rows: Integers) -> Floats:
        """Cov(f_i, the mean score of the rows), for each of the rows."""

    def belief(self, mean: Floats) -> Belief:
        """A new belief about the scores, which shares no array that it may change (`DenseBelief.settle`)."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """A Gaussian posterior over theta and the scores of the study's items.

    mean               (n,) of the scores
    coefficients       (k,) mean of theta; k = 0 for a model that ignores features
    find_spread        gives the covariances: what only needs the mean does not wait for them
    new_item_variance  prior variance of zeta of an item outside the study
    """

    mean: Floats
    coefficients: Floats
    find_spread: Callable[[], Spread]
    new_item_variance: float

    @cached_property
    def spread(self) -> Spread:
        return self.find_spread()

    @cached_property
    def belief(self) -> Belief:
        return self.spread.belief(self.mean)

    def centred(self, group: Integers) -> tuple[Floats, Floats]:
        """Scores minus the mean score of their group, and standard errors of that difference, each (n,).

        Items of group -1 get nan.
        """
        scores, errors = np.full(len(group), np.nan), np.full(len(group), np.nan)
        variance = self.spread.variance
        for rows in members(group):
            with_mean = self.spread.with_mean(rows)
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
        spread = features @ self.spread.coefficients
        variance = np.einsum("mk,mk->m", spread, features) + self.new_item_variance
        for rows in members(study_group):
            chosen = np.flatnonzero(group == study_group[rows[0]])
            if not len(chosen):
                continue
            scores[chosen] -= self.mean[rows].mean()
            mean_variance = self.spread.with_mean(rows).mean()
            variance[chosen] += mean_variance - 2.0 * spread[chosen] @ mean_row(self.spread.score_map, rows)
        return scores, np.sqrt(np.maximum(variance, 0.0))


@dataclass(frozen=True, eq=False)
class FactoredSpread:
    """Of a model whose belief is factored: theta's covariance, the factor it gives the scores, and a residual."""

    coefficients: Floats
    score_map: Floats
    factor: Floats
    residual: Floats

    @cached_property
    def variance(self) -> Floats:
        return self.belief(np.empty(0)).variance

    def with_mean(self, rows: Integers) -> Floats:
        factor = self.factor[rows]
        covariance: Floats = (factor @ factor.sum(axis=0) + self.residual[rows]) / len(rows)
        return covariance

    def belief(self, mean: Floats) -> FactoredBelief:
        return FactoredBelief(mean, self.factor, self.residual)


@dataclass(frozen=True, eq=False)
class ProjectedSpread:
    """`FactoredSpread` of many items, whose features (n, k) are float32: nothing else of that size is made."""

    coefficients: Floats
    score_map: Singles
    root: Floats
    residual: Floats

    @cached_property
    def variance(self) -> Floats:
        return self.belief(np.empty(len(self.residual))).variance

    def with_mean(self, rows: Integers) -> Floats:
        towards = self.coefficients @ mean_row(self.score_map, rows)
        covariance = self.residual[rows] / len(rows)
        for block in blocks(len(rows)):
            covariance[block] += linear_scores(self.score_map[rows[block]], towards)
        return covariance

    def belief(self, mean: Floats) -> ProjectedBelief:
        return ProjectedBelief(mean, self.score_map, self.residual, self.root)


def factored(coefficients: Floats, features: Any, root: Floats, residual: Floats) -> Spread:
    """The spread of scores features @ theta + zeta with Cov(theta) = root @ root.T and Var(zeta) = residual (n,)."""
    if features.dtype == np.float32:
        return ProjectedSpread(coefficients, features, root, residual)
    return FactoredSpread(coefficients, features, features @ root, residual)
