"""Scores that are linear in features: equal rows get equal scores, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Singles


@compiled
def linear_scores_double(features: Floats, coefficients: Floats) -> Floats:
    """(n,) features @ coefficients, each row in one order of summation: equal rows get equal scores, to the bit."""
    scores = np.empty(features.shape[0])
    for row in range(features.shape[0]):
        total = 0.0
        for column in range(features.shape[1]):
            total += features[row, column] * coefficients[column]
        scores[row] = total
    return scores


@fast
def linear_scores_single(features: Singles, coefficients: Singles) -> Floats:
    """`linear_scores_double` of float32 features, vectorised; equal rows still get equal scores."""
    scores = np.empty(features.shape[0])
    for row in range(features.shape[0]):
        total = np.float32(0.0)
        for column in range(features.shape[1]):
            total += features[row, column] * coefficients[column]
        scores[row] = total
    return scores


def linear_scores(features: Any, coefficients: Floats) -> Floats:
    """(n,) features @ coefficients; equal rows get equal scores, to the bit."""
    scores: Floats
    if features.dtype == np.float32:
        scores = linear_scores_single(features, coefficients.astype(np.float32))
    else:
        scores = linear_scores_double(features, coefficients)
    return scores
