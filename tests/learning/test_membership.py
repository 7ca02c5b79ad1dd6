"""Boundaries and how open memberships are, against root finding, finite differences, draws and the plain matrix."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.belief import Belief, update
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.belief.projected import ProjectedBelief
from ordinate.learning.membership import LEAST_WEIGHT, MARK, Wanted, boundaries, item_weights

N, K = 14, 3
GROUP = np.array([0] * 8 + [1] * 5 + [-1])
MARKS = Wanted(marks=np.array([2, 10]))


def belief_of(kind: str) -> Belief:
    rng = np.random.default_rng(5)
    mean, features, residual = rng.normal(size=N), rng.normal(size=(N, K)), rng.uniform(0.1, 1.0, N)
    if kind == "dense":
        belief: Belief = DenseCovariance(features @ features.T + np.diag(residual)).belief(mean)
        return update(update(belief, 0, 9), 3, 4)
    if kind == "factored":
        return update(FactoredBelief(mean, features, residual), 0, 9)
    single = features.astype(np.float32)
    return update(ProjectedBelief(mean, single, residual, np.eye(K) + 0.3 * rng.normal(size=(K, K))), 0, 9)


def matrix(belief: Belief) -> Floats:
    whole = belief.covariance(slice(None), slice(None))
    np.fill_diagonal(whole, belief.variance)
    return whole


def level(mean: Floats, spread: Floats, above: float) -> float:
    return float(brentq(lambda c: norm.cdf((mean - c) / spread).sum() - above, -50.0, 50.0, xtol=1e-14))


def plain_weights(mean: Floats, covariance: Floats, above: int) -> Floats:
    """Of the items of one group, from the formulas at the top of membership.py, with a by finite differences."""
    spread = np.sqrt(np.diagonal(covariance))
    c = level(mean, spread, above)
    step = 1e-5
    shifted = [level(mean + step * unit, spread, above) for unit in np.eye(len(mean))]
    lowered = [level(mean - step * unit, spread, above) for unit in np.eye(len(mean))]
    a = (np.array(shifted) - np.array(lowered)) / (2 * step)
    contrast = np.eye(len(mean)) - a
    z = (mean - c) / np.sqrt(np.einsum("li,ij,lj->l", contrast, covariance, contrast))
    weights: Floats = 2.0 * np.sqrt(norm.cdf(z) * norm.cdf(-z))
    return weights


@pytest.mark.parametrize("kind", ["dense", "factored", "projected"])
@pytest.mark.parametrize("wanted", [Wanted(first=2), Wanted(last=3)])
def test_weights_of_the_first_and_last_items_are_the_plain_formula_in_each_group(kind: str, wanted: Wanted) -> None:
    belief = belief_of(kind)
    weights, covariance = item_weights(belief, GROUP, wanted), matrix(belief)
    for code in (0, 1):
        rows = np.flatnonzero(code == GROUP)
        above = wanted.first or len(rows) - wanted.last
        plain = plain_weights(belief.mean[rows], covariance[np.ix_(rows, rows)], above)
        np.testing.assert_allclose(weights[rows], np.maximum(plain, LEAST_WEIGHT), rtol=1e-5)
    assert weights[-1] == LEAST_WEIGHT


@pytest.mark.parametrize("kind", ["dense", "factored", "projected"])
def test_weights_of_a_mark_are_those_of_the_difference_to_it(kind: str) -> None:
    belief = belief_of(kind)
    weights, covariance = item_weights(belief, GROUP, MARKS), matrix(belief)
    for row in np.flatnonzero(GROUP >= 0).tolist():
        found = [LEAST_WEIGHT]
        for mark in MARKS.marks.tolist():
            if GROUP[mark] == GROUP[row]:
                variance = covariance[row, row] + covariance[mark, mark] - 2.0 * covariance[row, mark]
                z = 0.0 if row == mark else (belief.mean[row] - belief.mean[mark]) / np.sqrt(variance)
                found.append(2.0 * np.sqrt(norm.cdf(z) * norm.cdf(-z)))
        assert weights[row] == pytest.approx(1.0 if row in MARKS.marks else max(found) / MARK, rel=1e-5)


@pytest.mark.parametrize("kind", ["dense", "factored", "projected"])
def test_covariances_with_a_sum_of_scores_are_those_of_the_matrix(kind: str) -> None:
    belief, rng = belief_of(kind), np.random.default_rng(0)
    rows, others, shares = rng.permutation(N)[:9], rng.permutation(N)[:5], rng.normal(size=5)
    wanted = matrix(belief)[np.ix_(rows, others)] @ shares
    np.testing.assert_allclose(belief.covariance_with(rows, others, shares), wanted, rtol=1e-5, atol=1e-6)


def test_the_spread_of_a_distance_to_the_boundary_is_that_of_draws() -> None:
    """Of draws whose k-th highest score is found, where many items are near the boundary."""
    rng, n, k = np.random.default_rng(1), 200, 60
    belief = FactoredBelief(0.05 * rng.normal(size=n), 0.2 * rng.normal(size=(n, 2)), np.full(n, 0.5))
    (boundary,) = boundaries(belief, np.zeros(n, dtype=np.int64), Wanted(first=k))
    _, variance = boundary.distances(belief)
    draws = belief.sample(20_000, rng)
    ends = -np.partition(-draws, k, axis=1)[:, k - 1 : k + 1].mean(axis=1)
    spread = (draws - ends[:, None]).var(axis=0)
    assert np.abs(variance / spread - 1.0).max() < 0.06
    assert boundary.score == pytest.approx(ends.mean(), abs=0.02)


@pytest.mark.parametrize("spread", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("k", [1, 10, 500, 1500, 2990])
def test_a_boundary_is_where_so_many_are_expected_above_it(spread: float, k: int) -> None:
    """In the group next to it all are wanted."""
    rng, n = np.random.default_rng(3), 3000
    belief = FactoredBelief(rng.normal(size=n + 1), np.zeros((n + 1, 0)), (spread * rng.uniform(0.5, 1.0, n + 1)) ** 2)
    (boundary,) = boundaries(belief, np.append(np.zeros(n, dtype=np.int64), 1), Wanted(first=k))
    above = norm.cdf((belief.mean[:n] - boundary.score) / np.sqrt(belief.variance[:n])).sum()
    assert above == pytest.approx(k, abs=1e-7)


def test_a_group_of_which_all_are_wanted_has_no_boundary() -> None:
    weights = item_weights(belief_of("factored"), GROUP, Wanted(first=5))
    assert (weights[GROUP == 1] == LEAST_WEIGHT).all()
    assert (weights[GROUP == 0] > LEAST_WEIGHT).all()


def test_items_that_tie_have_one_weight_however_many_there_are() -> None:
    """As free items must, for a search takes all pairs of them for equal."""
    n = 700
    belief = DenseCovariance(np.eye(n)).belief(np.zeros(n))
    assert len(set(item_weights(belief, np.zeros(n, dtype=np.int64), Wanted(first=10)).tolist())) == 1


def test_of_many_items_the_shares_that_are_left_out_hardly_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n = np.random.default_rng(2), 3000
    group: Integers = np.zeros(n, dtype=np.int64)
    belief = FactoredBelief(rng.normal(size=n), 0.3 * rng.normal(size=(n, 4)), np.full(n, 0.3))
    few = item_weights(belief, group, Wanted(first=100))
    monkeypatch.setattr("ordinate.learning.membership._SHARES", n)
    assert np.abs(few - item_weights(belief, group, Wanted(first=100))).max() < 0.02


@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0, 1e3])
@pytest.mark.parametrize("k", [1, 5, 9])
def test_odd_beliefs_have_weights(spread: float, k: int) -> None:
    """Nothing known, all known, scores far apart."""
    mean = spread * np.arange(10.0)
    for residual in (np.zeros(10), np.ones(10), np.array([1e6] + [1e-9] * 9)):
        belief = FactoredBelief(mean, np.zeros((10, 0)), residual)
        weights = item_weights(belief, np.zeros(10, dtype=np.int64), Wanted(first=k))
        assert ((weights >= LEAST_WEIGHT) & (weights <= 1.0)).all()
