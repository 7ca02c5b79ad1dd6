"""The contextual model: f = X theta with theta ~ N(0, coefficient_variance I); Laplace posterior at the MAP.

X (n, k) features     H (k, k) negative Hessian     theta (k,)     z_p = x_left - x_right
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinate.models import Answers
from ordinate.models.cholesky import PositiveDefinite
from ordinate.models.likelihood import PairCounts, newton
from ordinate.models.maximum import Compared
from ordinate.posterior import Posterior, Spread, factored, linear_scores
from ordinate.types import Floats

_BLOCK = 1 << 13


@dataclass(frozen=True)
class Contextual:
    """Scores are linear in the features (the paper, f_theta). The variance grows with k, not with n."""

    coefficient_variance: float = 2.0

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        _, compared, pairs = Compared.of(features, answers)
        precision = 1.0 / self.coefficient_variance

        def margin(theta: Floats) -> Floats:
            scores = compared @ theta
            gap: Floats = scores[pairs.left] - scores[pairs.right]
            return gap

        def objective(theta: Floats) -> float:
            return pairs.log_likelihood(margin(theta)) - 0.5 * precision * float(theta @ theta)

        def hessian(theta: Floats) -> PositiveDefinite:
            return PositiveDefinite(information(compared, pairs, pairs.weight(margin(theta))), precision)

        def step(theta: Floats) -> tuple[Floats, Floats]:
            gradient = compared.T @ pairs.scatter(pairs.residual(margin(theta)), len(compared)) - precision * theta
            return gradient, hessian(theta).solve(gradient)

        theta = newton(objective, step, np.zeros(features.shape[1]))

        def spread() -> Spread:
            root = hessian(theta).inverse_root()
            return factored(root @ root.T, features, root, np.zeros(len(features)))

        return Posterior(linear_scores(features, theta), theta, spread, new_item_variance=0.0)


def information(features: Floats, pairs: PairCounts, weight: Floats) -> Floats:
    """(k, k) sum over pairs of weight * z z^T, in blocks of pairs so that memory does not grow with the answers."""
    total = np.zeros((features.shape[1], features.shape[1]))
    for start in range(0, len(weight), _BLOCK):
        block = slice(start, start + _BLOCK)
        contrast = features[pairs.left[block]] - features[pairs.right[block]]
        total += contrast.T @ (weight[block, None] * contrast)
    return total
