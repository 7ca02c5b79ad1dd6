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
from ordinate.models.likelihood import PairCounts, newton
from ordinate.posterior import Posterior
from ordinate.types import Floats, Integers


@dataclass(frozen=True)
class Hybrid:
    """Linear in the features plus a term per item (the paper, f_theta_zeta), with the exact Laplace covariance."""

    coefficient_variance: float = 2.0
    item_variance: float = 1.0

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        seen = compared(answers)
        system = _System(self, features[seen], _among(answers, seen))
        theta, zeta = system.maximum()
        inverse, solved, schur = system.curvature(theta, zeta)

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


def compared(answers: Answers) -> Integers:
    """The rows of the items that some answer is about, ascending."""
    rows: Integers = np.unique(np.concatenate([answers.left, answers.right]))
    return rows


def _among(answers: Answers, seen: Integers) -> Answers:
    return Answers(np.searchsorted(seen, answers.left), np.searchsorted(seen, answers.right), answers.outcome)


def hybrid_maximum(model: Hybrid, features: Floats, answers: Answers) -> tuple[Floats, Floats]:
    """theta (k,) and zeta (n,) at the MAP; zeta is 0 for items nobody has compared."""
    seen = compared(answers)
    theta, compared_zeta = _System(model, features[seen], _among(answers, seen)).maximum()
    zeta = np.zeros(len(features))
    zeta[seen] = compared_zeta
    return theta, zeta


class _System:
    """The MAP problem over the t compared items: features (t, k), unknowns theta (k,) and zeta (t,)."""

    def __init__(self, prior: Hybrid, features: Floats, answers: Answers) -> None:
        self.prior, self.features = prior, features
        self.items, self.columns = features.shape
        self.pairs = PairCounts.of(answers, self.items)

    def margin(self, theta: Floats, zeta: Floats) -> Floats:
        scores = self.features @ theta + zeta
        gap: Floats = scores[self.pairs.left] - scores[self.pairs.right]
        return gap

    def maximum(self) -> tuple[Floats, Floats]:
        both = newton(self._objective, self._step, np.zeros(self.columns + self.items))
        return both[: self.columns], both[self.columns :]

    def curvature(self, theta: Floats, zeta: Floats) -> tuple[Floats, Floats, PositiveDefinite]:
        """A (t, t), A X (t, k) and the Schur complement S."""
        lower = self._item_factor(self.margin(theta, zeta))
        inverse: Floats = cho_solve(lower, np.eye(self.items), check_finite=False)
        inverse = 0.5 * (inverse + inverse.T)
        solved = inverse @ self.features
        return inverse, solved, self._schur(solved)

    def _objective(self, both: Floats) -> float:
        theta, zeta = both[: self.columns], both[self.columns :]
        penalty = theta @ theta / self.prior.coefficient_variance + zeta @ zeta / self.prior.item_variance
        return self.pairs.log_likelihood(self.margin(theta, zeta)) - 0.5 * float(penalty)

    def _step(self, both: Floats) -> tuple[Floats, Floats]:
        theta, zeta = both[: self.columns], both[self.columns :]
        margin = self.margin(theta, zeta)
        slope = self.pairs.scatter(self.pairs.residual(margin), self.items)
        theta_gradient = self.features.T @ slope - theta / self.prior.coefficient_variance
        zeta_gradient = slope - zeta / self.prior.item_variance

        # Block elimination of zeta; L A = I - A / item_variance spares the products with L.
        lower = self._item_factor(margin)
        together = cho_solve(lower, np.column_stack([zeta_gradient, self.features]), check_finite=False)
        solved_gradient, solved = together[:, 0], together[:, 1:]
        moved = self.features.T @ (zeta_gradient - solved_gradient / self.prior.item_variance)
        theta_step = self._schur(solved).solve(theta_gradient - moved)
        shift = self.features @ theta_step - solved @ theta_step / self.prior.item_variance
        return np.concatenate([theta_gradient, zeta_gradient]), np.concatenate([theta_step, solved_gradient - shift])

    def _item_factor(self, margin: Floats) -> tuple[Floats, bool]:
        """The Cholesky factor of A^-1 = I / item_variance + L."""
        weight = self.pairs.weight(margin)
        matrix = np.zeros((self.items, self.items))
        matrix[self.pairs.right, self.pairs.left] = -weight  # left < right: the lower triangle
        matrix.flat[:: self.items + 1] = self.pairs.degree(weight, self.items) + 1.0 / self.prior.item_variance
        factor: tuple[Floats, bool] = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return factor

    def _schur(self, solved: Floats) -> PositiveDefinite:
        kept = self.features - solved / self.prior.item_variance
        information = self.features.T @ kept / self.prior.item_variance
        return PositiveDefinite(0.5 * (information + information.T), 1.0 / self.prior.coefficient_variance)
