"""The hybrid model: f = X theta + zeta, with a term per item for what the features do not explain; full covariance.

X (n, k) features     L (n, n) Laplacian of the answered pairs, weights sigma'     A = (I / item_variance + L)^-1
S = I / coefficient_variance + X^T (I - A / item_variance) X / item_variance, the Schur complement: Cov(theta) = S^-1

Items nobody has compared have empty rows in L, so all of this happens on the compared ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ordinate import kernels
from ordinate.belief import DenseBelief
from ordinate.models import Answers
from ordinate.models.cholesky import PositiveDefinite
from ordinate.models.maximum import Compared, Prior, maximum
from ordinate.posterior import Posterior
from ordinate.types import Floats


@dataclass(frozen=True)
class Hybrid:
    """Linear in the features plus a term per item (the paper, f_theta_zeta), with the exact Laplace covariance."""

    coefficient_variance: float = 2.0
    item_variance: float = 1.0

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        compared = Compared.of(features, answers)
        theta, zeta = maximum(Prior(self.coefficient_variance, self.item_variance), compared)
        inverse, solved, schur = self._curvature(compared, theta, zeta)

        seen = compared.rows
        mean = kernels.linear_scores(features, theta)
        mean[seen] += zeta
        score_map = features.copy()
        score_map[seen] = solved / self.item_variance
        root = schur.inverse_root()
        spread = score_map @ root
        covariance = spread @ spread.T
        covariance.flat[:: len(features) + 1] += self.item_variance
        covariance[np.ix_(seen, seen)] += inverse - self.item_variance * np.eye(len(seen))
        return Posterior(
            belief=DenseBelief(mean, covariance, np.empty((len(features), 0))),
            coefficients=theta,
            coefficient_covariance=root @ root.T,
            score_map=score_map,
            new_item_variance=self.item_variance,
        )

    def _curvature(self, compared: Compared, theta: Floats, zeta: Floats) -> tuple[Floats, Floats, PositiveDefinite]:
        """A (t, t), A X (t, k) and the Schur complement S, over the t compared items."""
        pairs, items = compared.pairs, len(compared.rows)
        scores = compared.features @ theta + zeta
        weight = pairs.weight(scores[pairs.left] - scores[pairs.right])
        matrix = np.zeros((items, items))
        matrix[pairs.right, pairs.left] = -weight  # left < right: the lower triangle
        matrix.flat[:: items + 1] = pairs.degree(weight, items) + 1.0 / self.item_variance
        lower = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        inverse: Floats = cho_solve(lower, np.eye(items), check_finite=False)
        inverse = 0.5 * (inverse + inverse.T)
        solved = inverse @ compared.features
        # L A = I - A / item_variance spares the products with L.
        kept = compared.features - solved / self.item_variance
        information = compared.features.T @ kept / self.item_variance
        schur = PositiveDefinite(0.5 * (information + information.T), 1.0 / self.coefficient_variance)
        return inverse, solved, schur
