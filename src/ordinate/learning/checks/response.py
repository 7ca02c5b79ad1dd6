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

from ordinate.data.arrays import Floats, Integers
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
    features = _features(data, data.compared.rows)
    for theta, zeta in _solved(data, prior, slopes, without):
        yield features @ theta + zeta


def scores_without(data: StudyData, prior: Prior, left_out: NDArray[np.bool_]) -> Floats:
    """(n,) of the fit without some of the answers (T,). Items that were never compared move as their features do."""
    residual, _ = residuals(data)
    rows = data.compared.rows
    left, right = (np.searchsorted(rows, side[left_out]) for side in data.answers[:2])
    push = np.zeros(len(rows))
    np.add.at(push, left, residual[left_out])
    np.subtract.at(push, right, residual[left_out])
    theta, zeta = next(_solved(data, prior, [push], left_out))
    scores: Floats = data.fit.mean - _features(data, slice(None)) @ theta
    scores[rows] -= zeta
    return scores


def _features(data: StudyData, rows: Integers | slice) -> Floats:
    """Of some items, less the mean of those compared: a slope may be between sets that no answers connect."""
    centred: Floats = data.used_features[rows] - data.used_features[data.compared.rows].mean(axis=0, dtype=np.float64)
    return centred


def _solved(
    data: StudyData, prior: Prior, slopes: Iterable[Floats], without: NDArray[np.bool_] | None
) -> Iterator[tuple[Floats, Floats]]:
    """theta (k,) and zeta (t,) of each product in `moved_by`."""
    _, weight = residuals(data)
    if without is not None:
        weight = np.where(without, 0.0, weight)
    compared = data.compared._replace(features=_features(data, data.compared.rows))
    # Without features their variance does not matter, but the solution divides by it.
    prior = Prior(prior.coefficients or 1.0, prior.items)
    by_pair = np.bincount(data.pair_of, weight, len(compared.pairs.left)).astype(np.float64)
    return solutions(prior, compared, by_pair, slopes)
