"""The same work as one would first write it in NumPy. Tests pin these to ours; benchmarks measure both.

X (n, d) features     C (d, d) covariance of theta     z = x_i - x_j     v = z^T C z     m = z^T theta
"""

from __future__ import annotations

import numpy as np


def best_by_differences(scores: np.ndarray, features: np.ndarray, covariance: np.ndarray) -> tuple[int, int]:
    """GURO's pair: all difference vectors as one (pairs, d) array, their quadratic forms, the largest utility."""
    left, right = np.triu_indices(len(scores), 1)
    contrast = features[left] - features[right]
    variance = np.einsum("pd,pd->p", contrast @ covariance, contrast)
    probability = 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    best = int(np.argmax((probability * (1.0 - probability)) ** 2 * variance))
    return int(left[best]), int(right[best])


def best_by_products(scores: np.ndarray, features: np.ndarray, covariance: np.ndarray) -> tuple[int, int]:
    """The same pair through one (n, n) matrix, v_ij = g_ii + g_jj - 2 g_ij: the best single scan in NumPy we know."""
    products = (features @ covariance) @ features.T
    own = np.diag(products).copy()
    products *= -2.0
    products += own[:, None]
    products += own
    odds = np.exp(scores)
    # sigma'(m) = r / (1 + r)^2 with r = odds_i / odds_j
    ratio = odds[:, None] / odds
    ratio /= (1.0 + ratio) ** 2
    ratio *= ratio
    ratio *= products
    ratio[np.tril_indices(len(scores))] = -1.0
    left, right = divmod(int(np.argmax(ratio)), len(scores))
    return left, right


def shrunk(covariance: np.ndarray, contrast: np.ndarray, slope: float) -> np.ndarray:
    """Sherman and Morrison: the covariance after one more answer."""
    moved = covariance @ contrast
    shrunken: np.ndarray = covariance - np.outer(moved, moved) * (slope / (1.0 + slope * contrast @ moved))
    return shrunken


def fit_linear(design: np.ndarray, wins: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The MAP and the covariance there of logistic regression on T answers; design (T, k), precision (k, k)."""
    theta = np.zeros(design.shape[1])

    def loss(at: np.ndarray) -> float:
        return float(np.logaddexp(0.0, -(2.0 * wins - 1.0) * (design @ at)).sum() + 0.5 * at @ precision @ at)

    while True:
        chance = 1.0 / (1.0 + np.exp(-design @ theta))
        gradient = design.T @ (wins - chance) - precision @ theta
        hessian = design.T @ ((chance * (1.0 - chance))[:, None] * design) + precision
        step = np.linalg.solve(hessian, gradient)
        if gradient @ step < 1e-12:
            return theta + step, np.linalg.inv(hessian)
        length = 1.0
        while loss(theta + length * step) > loss(theta):
            length /= 2.0
        theta = theta + length * step


def fit_scores(
    left: np.ndarray, right: np.ndarray, wins: np.ndarray, n: int, variance: float
) -> tuple[np.ndarray, np.ndarray]:
    """A score per item, dense Newton: the MAP (n,) and the covariance (n, n), every answer taken by itself."""
    scores = np.zeros(n)
    while True:
        chance = 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
        gradient = -scores / variance
        np.add.at(gradient, left, wins - chance)
        np.add.at(gradient, right, chance - wins)
        weight = chance * (1.0 - chance)
        hessian = np.zeros((n, n))
        np.add.at(hessian, (left, right), -weight)
        np.add.at(hessian, (right, left), -weight)
        hessian.flat[:: n + 1] = 1.0 / variance - hessian.sum(axis=1)
        step = np.linalg.solve(hessian, gradient)
        scores = scores + step
        if gradient @ step < 1e-12:
            return scores, np.linalg.inv(hessian)
