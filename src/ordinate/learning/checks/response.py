"""How scores answer to a change of the evidence: one Newton step from the fit.

t  compared items     p  distinct pairs     H  precision of the posterior     z = e_left - e_right
g  slope of an answer's log-likelihood by its margin; logistic: y - q, its outcome less the probability that left wins

Without a set A of answers the scores move by -(H - H_A)^-1 sum over A of g z, with H_A their share of H. That is
the solution with other weights, by conjugate gradients: no covariance is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats
from ordinate.learning.checks import StudyData
from ordinate.learning.models.map_estimate import Prior
from ordinate.learning.models.sites import solutions


def residuals(data: StudyData) -> tuple[Floats, Floats]:
    """(T,) each: g, and the weight, logistic: q (1 - q), at the fit."""
    margin = data.fit.mean[data.answers.left] - data.fit.mean[data.answers.right]
    return data.likelihood.slope(margin, data.answers), data.likelihood.weight(margin, data.answers)


def moved_by(
    data: StudyData, prior: Prior, slopes: Iterable[Floats], without: NDArray[np.bool_] | None = None
) -> Iterator[Floats]:
    """(t,) H^-1 slope, for each slope (t,) by item, which sums to 0; `without` (T,): with H less the share of these."""
    _, weight = residuals(data)
    if without is not None:
        weight = np.where(without, 0.0, weight)
    # Centred as a whole: a slope may be between sets of items that no answers connect.
    features = data.used_features[data.compared.rows].astype(np.float64)
    features -= features.mean(axis=0)
    compared = data.compared._replace(features=features)
    # Without features their variance does not matter, but the solution divides by it.
    prior = Prior(prior.coefficients or 1.0, prior.items)
    by_pair = np.bincount(data.pair_of, weight, len(compared.pairs.left)).astype(np.float64)
    for theta, zeta in solutions(prior, compared, by_pair, slopes):
        yield features @ theta + zeta


def scores_without(data: StudyData, prior: Prior, left_out: NDArray[np.bool_]) -> Floats:
    """(n,) of the fit without some of the answers (T,). Items that were never compared keep theirs."""
    residual, _ = residuals(data)
    rows = data.compared.rows
    left, right = (np.searchsorted(rows, side[left_out]) for side in data.answers[:2])
    push = np.zeros(len(rows))
    np.add.at(push, left, residual[left_out])
    np.subtract.at(push, right, residual[left_out])
    scores = data.fit.mean.copy()
    scores[rows] -= next(moved_by(data, prior, [push], left_out))
    return scores
