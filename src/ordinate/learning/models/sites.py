"""Gaussian sites: the likelihood of a compared pair's margin, approximated by a Gaussian factor of it.

p  distinct pairs     m (p,) margins     site of a pair: exp(shift m - weight m^2 / 2)

With the prior, sites give a Gaussian posterior. Laplace's sites match the likelihood's slope and curvature at the MAP;
expectation propagation (`expectation_propagation`) finds sites that match means and variances instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.models.cholesky import PositiveDefinite, gram
from ordinate.learning.models.likelihood import sum_by_item
from ordinate.learning.models.map_estimate import Compared, Prior
from ordinate.learning.models.pair_loops import conjugate_gradients

_ACCURATE = 1e-24
"""Of the squared residual, in posterior standard deviations, relative to the first one."""
_MOST_PRODUCTS = 10_000


class Sites(NamedTuple):
    weight: Floats
    shift: Floats


def mean_given(prior: Prior, compared: Compared, sites: Sites) -> tuple[Floats, Floats]:
    """theta (k,) and zeta (t,) of the compared items: the posterior mean, where the answers are these sites."""
    slope = sum_by_item(compared.pairs, sites.shift, len(compared.rows), -1.0)
    return next(solutions(prior, compared, sites.weight, [slope]))


def solutions(
    prior: Prior, compared: Compared, weight: Floats, slopes: Iterable[Floats]
) -> Iterator[tuple[Floats, Floats]]:
    """theta (k,) and zeta (t,) for each slope (t,) by item, which sums to 0: the posterior covariance, where pairs have
    these weights (p,), times the slope."""
    _, features, pairs = compared
    items, columns = features.shape
    degree = sum_by_item(pairs, weight, items)
    root = PositiveDefinite(
        gram(features, degree / (1.0 + prior.items * degree)), 1.0 / prior.coefficients
    ).inverse_root()
    schur_inverse = root @ root.T
    for slope in slopes:
        theta, tension, _ = conjugate_gradients(
            features,
            pairs.left,
            pairs.right,
            weight,
            degree,
            1.0 / prior.coefficients,
            prior.items,
            schur_inverse,
            np.zeros(columns),
            np.zeros(items),
            slope,
            _ACCURATE,
            _MOST_PRODUCTS,
        )
        yield theta, prior.items * tension
