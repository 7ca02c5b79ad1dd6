"""What all tests of likelihoods ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.models.likelihood import PairCounts


def require_derivatives(likelihood: Likelihood, pairs: PairCounts, scores: Any) -> None:
    """Slopes, weights and their sums are those of finite differences."""
    _, slope, weight, degree = likelihood.evaluate(pairs, scores)
    steps = 1e-5 * np.eye(len(scores))

    def difference(part: int, step: Any) -> Any:
        return (
            likelihood.evaluate(pairs, scores + step)[part] - likelihood.evaluate(pairs, scores - step)[part]
        ) / 2e-5

    np.testing.assert_allclose(slope, [difference(0, step) for step in steps], rtol=1e-6, atol=1e-6)
    laplacian = np.zeros((len(scores), len(scores)))
    for i, j, w in zip(pairs.left, pairs.right, weight, strict=True):
        z = np.eye(len(scores))[i] - np.eye(len(scores))[j]
        laplacian += w * np.outer(z, z)
    np.testing.assert_allclose(-laplacian, [difference(1, step) for step in steps], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(degree, np.diagonal(laplacian))
