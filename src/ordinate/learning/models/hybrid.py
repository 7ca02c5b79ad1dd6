"""The hybrid model: f = X theta + zeta, with a term per item for what the features do not explain; full covariance.

X (n, k) features     L (n, n) Laplacian of the answered pairs, weights sigma'     A = (I / item_variance + L)^-1
S = I / coefficient_variance + X^T (I - A / item_variance) X / item_variance, the Schur complement: Cov(theta) = S^-1
K = coefficient_variance X X^T + item_variance I, the prior covariance of f
Cov(f) = A + A X S^-1 X^T A / item_variance^2 = (K^-1 + L)^-1
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.belief.dense import DenseBelief, DenseCovariance, add_product
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.linear_scores import linear_scores_double
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import PositiveDefinite, invert
from ordinate.learning.models.item_covariance import ItemCovariance
from ordinate.learning.models.likelihood import sum_by_item
from ordinate.learning.models.map_estimate import Compared, Prior, map_estimate
from ordinate.learning.models.pair_messages import margins_without_the_pair
from ordinate.learning.models.sites import Sites, mean_given
from ordinate.learning.posterior import Posterior

_MOST = 0.8
"""Where more than this share of the items were compared, the others are inverted with them: one matrix, not two."""
_KEPT = 1000
"""Up to so many items K and K^-1 are kept from fit to fit, at 8 MB each."""
_WHOLE = 1000
"""Up to so many items variances of pairs are taken from the whole covariance."""
_WELL_CONDITIONED = 1e5
"""Up to this condition of K, no digits that matter are lost in K^-1."""
_FEW_PAIRS = 0.3
"""Where so many pairs for each item were compared, or fewer, they are taken off K, which takes less than an inverse."""


@dataclass(frozen=True)
class Hybrid:
    """Linear in the features plus a term per item (the paper, f_theta_zeta), with the exact Laplace covariance."""

    coefficient_variance: float = 2.0
    item_variance: float = 1.0
    likelihood: Likelihood = LOGISTIC
    dense = True

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        prior, compared = self.prior, self.compared(features, answers)
        theta, zeta = map_estimate(prior, compared, self.likelihood)
        mean = linear_scores_double(features, theta)
        mean[compared.rows] += zeta

        def covariance_of_fit() -> HybridCovariance:
            _, _, weight, _ = self.likelihood.evaluate(compared.pairs, mean[compared.rows])
            return HybridCovariance(prior, features, compared, weight)

        return Posterior(mean, theta, covariance_of_fit, self.item_variance)

    @property
    def prior(self) -> Prior:
        return Prior(self.coefficient_variance, self.item_variance)

    def with_prior(self, prior: Prior) -> Hybrid:
        return replace(self, coefficient_variance=prior.coefficients, item_variance=prior.items)

    def with_likelihood(self, likelihood: Likelihood) -> Hybrid:
        return replace(self, likelihood=likelihood)

    def compared(self, features: Floats, answers: Answers) -> Compared:
        return Compared.of(features, answers)

    def given(self, features: Floats, compared: Compared, sites: Sites) -> Posterior:
        prior = self.prior
        theta, zeta = mean_given(prior, compared, sites)
        mean = linear_scores_double(features, theta)
        mean[compared.rows] += zeta
        covariance = HybridCovariance(prior, features, compared, sites.weight)
        return Posterior(mean, theta, lambda: covariance, self.item_variance)

    def margins_given(self, compared: Compared, sites: Sites) -> tuple[Floats, Floats]:
        """Mean and variance (p,) of the compared pairs' margins, where the answers are these sites."""
        left, right = compared.pairs[:2]
        alone = compared._replace(rows=np.arange(len(compared.rows)))
        shift = sum_by_item(compared.pairs, sites.shift, len(alone.rows), -1.0)
        # The covariance is needed anyway, and with it the mean is one product.
        kept = HybridCovariance(self.prior, compared.features, alone, sites.weight).kept()
        return kept.belief(kept.times(shift)).differences(left, right)


@dataclass(frozen=True, eq=False)
class HybridCovariance:
    """Of features (n, k) and the answers in `compared`, whose pairs have these weights (p,)."""

    prior: Prior
    features: Floats
    compared: Compared
    weight: Floats

    @cached_property
    def variance(self) -> Floats:
        variance: Floats = self._own + np.einsum("nk,nk->n", self._factor, self._factor)
        return variance

    def random_pairs(self, left: Integers, right: Integers) -> Floats:
        """The off-diagonal entries of A are not negative, and with A_ii those of a row add up to item_variance. So the
        mean of the others is known, and stands for each."""
        compared = np.zeros(len(self.features), dtype=np.bool_)
        compared[self.compared.rows] = True
        own = self._own[left] + self._own[right]
        shared = (2.0 * self.prior.items - own) / max(len(self.compared.rows) - 1, 1)
        gap = self._factor[left] - self._factor[right]
        variance: Floats = own - shared * (compared[left] & compared[right]) + np.einsum("pk,pk->p", gap, gap)
        return variance

    def compared_pairs(self, left: Integers, right: Integers) -> Floats:
        """Of many items, the part of A is by messages between them: exact but for rings of compared pairs."""
        if len(self.features) <= _WHOLE:
            return self.belief(np.zeros(len(self.features))).differences(left, right)[1]
        rows, features, pairs = self.compared
        one, other = np.searchsorted(rows, np.minimum(left, right)), np.searchsorted(rows, np.maximum(left, right))
        place = np.searchsorted(pairs.left * len(rows) + pairs.right, one * len(rows) + other)
        weight = self.weight[place]
        rest = margins_without_the_pair(pairs.left, pairs.right, self.weight, len(rows), self.prior.items)[place]
        factor = (features - self._removed) @ self._root
        gap = factor[one] - factor[other]
        variance: Floats = rest / (1.0 + weight * rest) + np.einsum("pk,pk->p", gap, gap)
        return variance

    @cached_property
    def _own(self) -> Floats:
        """(n,) the diagonal of A, with the variance of the terms of items that nobody compared."""
        own = np.full(len(self.features), self.prior.items)
        own[self.compared.rows] = self._items.diagonal
        return own

    def with_mean_score(self, rows: Integers) -> Floats:
        among = np.zeros(len(self.features))
        among[rows] = 1.0 / len(rows)
        covariance = self.prior.items * among
        covariance[self.compared.rows] = self._items.times(among[self.compared.rows])
        shared = self.score_map @ (self.coefficients @ (self.score_map.T @ among))
        together: Floats = (covariance + shared)[rows]
        return together

    def belief(self, mean: Floats) -> DenseBelief:
        return self.kept().belief(mean)

    def kept(self) -> DenseCovariance:
        prior = kept_prior(Same(self.features), self.prior)
        if prior is None:
            covariance = self.by_parts()
        elif len(self.weight) <= _FEW_PAIRS * len(self.features):
            covariance = self.by_pairs(prior.covariance)
        else:
            covariance = self.by_precision(prior.precision)
        free = None
        if not self.features.shape[1] and len(self.compared.rows) <= _MOST * len(self.features):
            free = np.ones(len(self.features), dtype=np.bool_)
            free[self.compared.rows] = False
        return DenseCovariance(covariance, free)

    def by_pairs(self, prior: Floats) -> Floats:
        """(n, n) Cov(f) = K - K B^T (W^-1 + B K B^T)^-1 B K, with the pairs' contrasts B (p, n) and weights W."""
        from scipy.linalg import cholesky, solve_triangular

        left, right = (self.compared.rows[side] for side in self.compared.pairs[:2])
        root = np.sqrt(self.weight)
        flow = (prior[left] - prior[right]) * root[:, None]
        inner = (flow[:, left] - flow[:, right]) * root
        inner.flat[:: len(root) + 1] += 1.0
        lower = cholesky(inner, lower=True, check_finite=False)
        covariance = prior.copy()
        add_product(covariance, solve_triangular(lower, flow, lower=True, check_finite=False).T, -1.0)
        return covariance

    def by_precision(self, precision: Floats) -> Floats:
        """(n, n) Cov(f) = (K^-1 + L)^-1."""
        rows, pairs = self.compared.rows, self.compared.pairs
        covariance = precision.copy()
        # Only the upper triangle is read, and each pair's left item is the one with the lower row.
        covariance[rows[pairs.left], rows[pairs.right]] -= self._items.weight
        covariance[rows, rows] += self._items.degree
        invert(covariance)
        return covariance

    def by_parts(self) -> Floats:
        """(n, n) Cov(f) = A + A X S^-1 X^T A / item_variance^2."""
        rows, items = self.compared.rows, len(self.features)
        if len(rows) > _MOST * items:
            covariance = self._items.dense(rows, items)
        else:
            covariance = _mostly_zero(items)
            covariance.flat[:: items + 1] = self.prior.items
            place_block(self._items.dense(np.arange(len(rows)), len(rows)), rows, covariance)
        add_product(covariance, self._factor, 1.0)
        return covariance

    @cached_property
    def coefficients(self) -> Floats:
        covariance: Floats = self._root @ self._root.T
        return covariance

    @cached_property
    def score_map(self) -> Floats:
        score_map = self.features.copy()
        score_map[self.compared.rows] -= self._removed
        return score_map

    @cached_property
    def _factor(self) -> Floats:
        """(n, k) A X S^-1/2 / item_variance: Cov(f) = A + factor @ factor.T"""
        factor: Floats = self.score_map @ self._root
        return factor

    @cached_property
    def _root(self) -> Floats:
        """(k, k) root of Cov(theta) = S^-1."""
        information = self.compared.features.T @ self._removed / self.prior.items
        return PositiveDefinite(0.5 * (information + information.T), 1.0 / self.prior.coefficients).inverse_root()

    @cached_property
    def _removed(self) -> Floats:
        """(t, k) X - A X / item_variance on the compared items: X less the score map."""
        return self._items.without_mean(self.compared.features)

    @cached_property
    def _items(self) -> ItemCovariance:
        return ItemCovariance(self.compared.pairs, self.weight, len(self.compared.rows), self.prior.items)


class Same:
    """An array that is equal to itself alone, so that what was computed from it can be kept."""

    def __init__(self, array: Floats) -> None:
        self.array = array

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.array is other.array


class KeptPrior:
    """K (n, n) and its inverse, once that is needed."""

    def __init__(self, features: Floats, prior: Prior) -> None:
        self.covariance = np.zeros((len(features), len(features)))
        self.covariance.flat[:: len(features) + 1] = prior.items
        add_product(self.covariance, features, prior.coefficients)

    @cached_property
    def precision(self) -> Floats:
        precision = self.covariance.copy()
        invert(precision)
        return precision


@lru_cache(maxsize=2)  # one of choosing, one of results
def kept_prior(features: Same, prior: Prior) -> KeptPrior | None:
    """None where it would take much memory or lose digits, or where there are no columns."""
    given = features.array
    if not given.shape[1]:
        return None
    condition = 1.0 + prior.coefficients / prior.items * float(np.square(given).sum())
    if len(given) > _KEPT or not condition <= _WELL_CONDITIONED:
        return None
    return KeptPrior(given, prior)


def _mostly_zero(items: int) -> Floats:
    """(n, n) zeros of which only what is written to takes memory and time.

    NumPy asks for pages of 2 MB: the diagonal has a number in each of them, which makes 3 GB of 20,000 items.
    """
    if not (items and hasattr(mmap, "MADV_NOHUGEPAGE")):
        return np.zeros((items, items))
    try:
        memory = mmap.mmap(-1, 8 * items * items, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"the covariance of {items:,} items takes {8e-9 * items * items:.1f} GB") from error
    with suppress(OSError):  # a kernel without large pages
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory).reshape(items, items)


@compiled
def place_block(block: Floats, rows: Integers, matrix: Floats) -> None:
    """matrix[rows][:, rows] = block, in place."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[0]):
            matrix[rows[row], rows[column]] = block[row, column]
