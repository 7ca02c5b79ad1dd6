"""BayesGURO's utility against quadrature: Var sigma(N(m, v)) with many draws, GURO's utility as v -> 0."""

import itertools

import numpy as np
import pytest

from ordinate.algorithms import ALGORITHMS, algorithm
from ordinate.choosing.search import CurvaturePower, best_scored
from ordinate.choosing.strategies.bayes_guro import BayesGuro, disagreement, draw_variances_wide
from ordinate.data.arrays import Floats
from ordinate.data.pairs import AllPairs
from ordinate.learning.belief.factored import FactoredBelief


def exact(margin: float, variance: float) -> float:
    """Var sigma(N(m, v)) by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    chances = 1.0 / (1.0 + np.exp(-margin - np.sqrt(variance) * nodes))
    weights = weights / weights.sum()
    return float(weights @ (chances - weights @ chances) ** 2)


def belief(mean: list[float], variance: float) -> FactoredBelief:
    """Independent items: every pair has twice the variance."""
    count = len(mean)
    return FactoredBelief(np.array(mean), np.empty((count, 0)), np.full(count, variance / 2))


@pytest.mark.parametrize("variance", [0.01, 1.0, 9.0])
def test_tends_to_the_variance_of_sigma_as_draws_grow(variance: float) -> None:
    known = belief([0.0, 0.5, 3.0, -1.0], variance)
    left, right = np.triu_indices(4, 1)
    wanted = [exact(m, v) for m, v in zip(*known.differences(left, right), strict=True)]
    errors = []
    for draws in (50, 2_000, 200_000):
        utilities = [disagreement(known.sample(draws, np.random.default_rng(seed)))(left, right) for seed in range(12)]
        errors.append(np.abs(np.array(utilities) / wanted - 1.0).mean())
    # The error falls like 1 / sqrt(draws).
    assert errors[1] < 0.4 * errors[0]
    assert errors[2] < 0.4 * errors[1]
    assert errors[2] < 0.01


@pytest.mark.parametrize("margin", [0.0, 0.7, 3.0])
def test_its_ratio_to_guro_tends_to_one_as_the_variance_falls(margin: float) -> None:
    gaps = []
    for variance in (1.0, 0.1, 0.01, 0.001):
        guro = CurvaturePower(2)(np.array([margin]), np.array([variance]))[0]
        gaps.append(abs(exact(margin, variance) / guro - 1.0))
    assert all(later < 0.3 * earlier for earlier, later in itertools.pairwise(gaps))
    assert gaps[-1] < 0.002
    # And so do the utilities from draws: the same draws for all variances, so that chance cancels.
    draws = np.random.default_rng(0).standard_normal((1_000, 2))
    for variance, close in ((0.01, 0.05), (1e-6, 1e-3)):
        scores = np.array([margin, 0.0]) + np.sqrt(variance / 2) * draws
        sampled = disagreement(scores)(np.array([0]), np.array([1]))[0]
        linear = CurvaturePower(2)(np.array([margin]), np.var(scores[:, 0] - scores[:, 1], ddof=1, keepdims=True))[0]
        assert sampled / linear == pytest.approx(1.0, abs=close)


def plain(draws: Floats, i: int, j: int) -> float:
    return float(np.var(1.0 / (1.0 + np.exp(draws[:, j] - draws[:, i])), ddof=1))


@pytest.mark.parametrize("spread", [1e-6, 1.0, 30.0])
def test_both_kernels_are_the_variance_over_draws(spread: float) -> None:
    draws = 5.0 + spread * np.random.default_rng(1).normal(size=(50, 9))
    left, right = np.triu_indices(9, 1)
    wanted = [plain(draws, i, j) for i, j in zip(left.tolist(), right.tolist(), strict=True)]
    np.testing.assert_allclose(disagreement(draws)(left, right), wanted, rtol=1e-6)
    np.testing.assert_array_equal(disagreement(draws)(left, right), disagreement(draws)(right, left))
    scores = np.ascontiguousarray(draws.T)
    np.testing.assert_allclose(draw_variances_wide(scores, left, right), wanted, rtol=1e-6)


def test_scores_too_far_apart_for_exp_are_compared_all_the_same() -> None:
    draws = np.random.default_rng(2).normal(size=(50, 3)) + np.array([0.0, 2_000.0, 2_000.5])
    found = disagreement(draws)(np.array([0, 1]), np.array([1, 2]))
    assert found[0] == 0.0
    assert found[1] == pytest.approx(plain(draws[:, 1:], 0, 1))


def test_chooses_the_best_of_all_pairs_by_its_draws() -> None:
    known = belief(np.random.default_rng(3).normal(size=30).tolist(), 0.5)
    draws = known.sample(50, np.random.default_rng(4))
    values = {(i, j): plain(draws, i, j) for i in range(30) for j in range(i + 1, 30)}
    pool = AllPairs.of(np.zeros(30, dtype=np.int64))
    choice = best_scored(pool, disagreement(draws), np.random.default_rng(5))
    assert (choice.left, choice.right) == max(values, key=lambda pair: values[pair])


def test_the_table_uses_fifty_draws_or_as_many_as_follow_the_name() -> None:
    assert ALGORITHMS["bayes-guro-hybrid"].strategy == BayesGuro(50)
    for name in ("bayes-guro-hybrid", "bayes-guro-contextual-sequential"):
        assert algorithm(f"{name}:200").strategy == BayesGuro(200)
        assert algorithm(f"{name}:200").model == ALGORITHMS[name].model
