"""What a model makes of the answers: a belief about its items, and coefficients that carry over to new ones.

n  study items     m  new items     k  scaled feature columns
theta  coefficients     zeta_i  what theta does not explain of item i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinate import kernels
from ordinate.belief import Belief, members
from ordinate.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Posterior:
    """A Gaussian posterior over theta and the scores of the study's items.

    coefficients            (k,) mean of theta; k = 0 for a model that ignores features
    coefficient_covariance  (k, k)
    score_map               (n, k): Cov(theta, f) = coefficient_covariance @ score_map.T
    new_item_variance       prior variance of zeta of an item outside the study
    """

    belief: Belief
    coefficients: Floats
    coefficient_covariance: Floats
    score_map: Floats
    new_item_variance: float

    def centred(self, group: Integers) -> tuple[Floats, Floats]:
        """Scores minus the mean score of their group, and standard errors of that difference, each (n,).

        Items of group -1 get nan.
        """
        scores, errors = np.full(len(group), np.nan), np.full(len(group), np.nan)
        variance = self.belief.variance
        for rows in members(group):
            with_mean, mean_variance = self._against_mean(rows)
            scores[rows] = self.belief.mean[rows] - self.belief.mean[rows].mean()
            errors[rows] = np.sqrt(np.maximum(variance[rows] - 2.0 * with_mean + mean_variance, 0.0))
        return scores, errors

    def predict(self, features: Floats, group: Integers, study_group: Integers) -> tuple[Floats, Floats]:
        """Scores and standard errors, each (m,), of items outside the study, from scaled features (m, k).

        Centred like the study's own: minus the mean score of the study's items of the same group. Where the study has
        none, the score is relative to the prior mean.
        """
        features = features[:, : len(self.coefficients)]
        scores = kernels.linear_scores(features, self.coefficients)
        spread = features @ self.coefficient_covariance
        variance = np.einsum("mk,mk->m", spread, features) + self.new_item_variance
        for rows in members(study_group):
            chosen = np.flatnonzero(group == study_group[rows[0]])
            if not len(chosen):
                continue
            _, mean_variance = self._against_mean(rows)
            scores[chosen] -= self.belief.mean[rows].mean()
            variance[chosen] += mean_variance - 2.0 * spread[chosen] @ self.score_map[rows].mean(axis=0)
        return scores, np.sqrt(np.maximum(variance, 0.0))

    def _against_mean(self, rows: Integers) -> tuple[Floats, float]:
        """Cov(f_i, mean f) for each of the rows, and Var(mean f), the mean over the rows."""
        belief, count = self.belief, len(rows)
        total = belief.factor[rows].sum(axis=0)
        with_mean: Floats = (belief.sign * belief.factor[rows] @ total + belief.residual[rows]) / count
        if belief.base.size:
            with_mean = with_mean + belief.base[rows][:, rows].mean(axis=1)
        return with_mean, float(with_mean.mean())
