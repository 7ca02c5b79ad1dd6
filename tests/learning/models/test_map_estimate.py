"""The sparse MAP against dense Newton on the whole Hessian, and the counted pairs against plain counting."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit

from ordinate.learning.likelihoods.logistic import logistic
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import gram
from ordinate.learning.models.contextual import information
from ordinate.learning.models.likelihood import PairCounts
from ordinate.learning.models.map_estimate import Compared, Prior, map_estimate
from ordinate.learning.models.pair_loops import conjugate_gradients


def dense_maximum(prior: Prior, features: Any, answers: Answers) -> Any:
    """theta and zeta of all n items, by Newton with step halving on an explicit (k + n, k + n) Hessian."""
    n, k = features.shape
    terms = n if prior.items else 0
    columns = np.hstack([features, np.eye(n)[:, :terms]])
    design = columns[answers.left] - columns[answers.right]
    precision = np.concatenate([np.full(k, 1 / prior.coefficients), np.full(terms, 1 / (prior.items or 1))])

    def objective(point: Any) -> Any:
        margin = design @ point
        loss = answers.outcome * np.logaddexp(0, -margin) + (1 - answers.outcome) * np.logaddexp(0, margin)
        return -loss.sum() - 0.5 * (precision * point**2).sum()

    point = np.zeros(k + terms)
    for _ in range(200):
        chance = 1 / (1 + np.exp(-(design @ point)))
        gradient = design.T @ (answers.outcome - chance) - precision * point
        step = np.linalg.solve(design.T @ ((chance * (1 - chance))[:, None] * design) + np.diag(precision), gradient)
        # Rounding alone makes steps of 2e-11 where features are near 100 and theta's prior variance is 100.
        if np.abs(step).max(initial=0.0) < 1e-10:
            return np.concatenate([point + step, np.zeros(n - terms)])  # without terms zeta is 0
        while objective(point + step) < objective(point) - 1e-12 * abs(objective(point)):
            step = step / 2
        point = point + step
    raise AssertionError("the plain version did not converge")


def check(prior: Prior, features: Any, answers: Answers) -> None:
    expected = dense_maximum(prior, features, answers)
    k = features.shape[1]
    compared = Compared.of(features, answers)
    theta, zeta = map_estimate(prior, compared)
    assert compared.rows.tolist() == sorted({*answers.left.tolist(), *answers.right.tolist()})
    every = np.zeros(len(features))
    every[compared.rows] = zeta
    np.testing.assert_allclose(features @ theta + every, features @ expected[:k] + expected[k:], atol=1e-8)
    np.testing.assert_allclose(np.concatenate([theta, every]), expected, atol=1e-7)
    again = map_estimate(prior, Compared.of(features, answers))
    np.testing.assert_array_equal(np.concatenate(again), np.concatenate([theta, zeta]))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Prior, Any, Answers]:
    n, k = draw(st.integers(2, 25)), draw(st.integers(0, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 80))
    features = draw(st.sampled_from([0.01, 1.0, 30.0])) * rng.normal(size=(n, k))
    if draw(st.booleans()):
        features = features[rng.integers(0, n, n)]  # identical items
    left = rng.integers(0, n, count)
    right = (left + rng.integers(1, n, count)) % n
    # The graph: anything, islands of two or three items, a path, or one pair many times.
    match draw(st.sampled_from(["any", "islands", "path", "repeated"])):
        case "islands":
            left = left // 2 * 2 - (left // 2 * 2 == n - 1)
            left, right = np.maximum(left, 0), np.maximum(left, 0) + 1
        case "path":
            left = np.arange(count) % (n - 1)
            right = left + 1
        case "repeated":
            left, right = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
    flipped = rng.random(count) < 0.5
    left, right = np.where(flipped, right, left), np.where(flipped, left, right)
    match draw(st.sampled_from(["random", "left only", "separable", "ties"])):
        case "random":
            outcome = rng.choice([0.0, 0.5, 1.0], count)
        case "left only":
            outcome = np.ones(count)
        case "separable":
            outcome = (left < right).astype(float)
        case "ties":
            outcome = np.full(count, 0.5)
    prior = Prior(draw(st.sampled_from([0.1, 2.0, 100.0])), draw(st.sampled_from([0.0, 0.1, 1.0, 50.0])))
    return prior, features, Answers(left, right, outcome)


@given(problems())
@settings(max_examples=150)
def test_the_sparse_maximum_is_that_of_dense_newton(problem: tuple[Prior, Any, Answers]) -> None:
    check(*problem)


@pytest.mark.load
@given(problems())
@settings(max_examples=5_000)
def test_the_sparse_maximum_is_that_of_dense_newton_thousands_of_times(problem: tuple[Prior, Any, Answers]) -> None:
    check(*problem)


def test_directions_that_no_answer_touches_are_as_exact_as_the_others() -> None:
    """One pair answered 67 times, features near 70 and a wide prior: theta across the pair's difference is 0."""
    rng = np.random.default_rng(139242666)
    features = 30.0 * rng.normal(size=(17, 2))
    rng.integers(0, 17, 67), rng.integers(1, 17, 67)
    left = (rng.random(67) < 0.5).astype(np.int64)
    answers = Answers(left, 1 - left, rng.choice([0.0, 0.5, 1.0], 67))
    check(Prior(100.0, 0.1), features, answers)
    theta, _ = map_estimate(Prior(100.0, 0.1), Compared.of(features, answers))
    contrast = features[0] - features[1]
    assert abs(theta[0] * contrast[1] - theta[1] * contrast[0]) < 1e-10 * np.abs(contrast).max()


@pytest.mark.parametrize("seed", [1424, 1491, 3433])
def test_five_answers_along_a_path_are_solved_to_the_end(seed: int) -> None:
    """Of 4,000 seeds three that show what looser tolerances leave: theta's prior is wide, and some links are weak."""
    rng = np.random.default_rng(seed)
    answers = Answers(np.arange(5), np.arange(1, 6), rng.choice([0.0, 0.5, 1.0], 5))
    check(Prior(100.0, 0.1), 30.0 * rng.normal(size=(16, 6)), answers)


@given(st.integers(2, 40), st.integers(1, 60), st.integers(0, 3), st.integers(0, 2**32))
def test_features_are_centred_in_each_set_of_connected_items(items: int, count: int, k: int, seed: int) -> None:
    """Against the plain way: every item takes the least number of those it was compared with, until none changes."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, items, count)
    right = (left + rng.integers(1, items, count)) % items
    features, label = 5.0 + rng.normal(size=(items, k)), np.arange(items)
    for _ in range(items):
        for i, j in zip(left, right, strict=True):
            label[i] = label[j] = min(label[i], label[j])
    expected = features.copy()
    for one in range(items):
        expected[label == one] -= features[label == one].mean(axis=0) if (label == one).any() else 0.0
    compared = Compared.of(features, Answers(left, right, np.ones(count)))
    np.testing.assert_allclose(compared.features, expected[compared.rows], rtol=0, atol=1e-13)


@pytest.mark.slow
def test_a_long_path_with_many_answers_a_pair_is_solved_to_the_end() -> None:
    """The worst conditioned of the graphs: a chain of 300 items, each link answered 500 times."""
    rng = np.random.default_rng(0)
    left = np.repeat(np.arange(299), 500)
    answers = Answers(left, left + 1, (rng.random(len(left)) < 0.55).astype(float))
    check(Prior(2.0, 1.0), rng.normal(size=(300, 2)), answers)


@given(st.integers(1, 12), st.integers(0, 200), st.integers(0, 2**32))
def test_pairs_are_counted_as_one_would_by_hand(items: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = items + 1
    left = rng.integers(0, n, count)
    right = (left + rng.integers(1, n, count)) % n
    outcome = rng.choice([0.0, 0.5, 1.0], count)
    asked, wins = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for i, j, result in zip(left.tolist(), right.tolist(), outcome.tolist(), strict=True):
        asked[min(i, j), max(i, j)] += 1
        wins[min(i, j), max(i, j)] += result if i < j else 1 - result
    pairs = PairCounts.of(Answers(left, right, outcome), n)
    found = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert found == sorted(asked)
    assert pairs.asked.tolist() == [asked[pair] for pair in found]
    assert pairs.wins.tolist() == [wins[pair] for pair in found]


@given(n=st.integers(0, 1200), k=st.integers(0, 5), size=st.sampled_from([1e-3, 1.0, 1e4]), seed=st.integers(0, 2**32))
def test_a_gram_matrix_in_blocks_is_the_plain_product(n: int, k: int, size: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, weight = size * rng.normal(size=(n, k)), rng.random(n) * rng.integers(0, 2, n)
    found = gram(features, weight)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, features.T @ (weight[:, None] * features), atol=1e-12 * size**2 * max(n, 1))


@given(problems(), st.sampled_from([0.0, 1e6]))
def test_the_information_is_the_sum_over_pairs(problem: tuple[Prior, Any, Answers], offset: float) -> None:
    _, features, answers = problem
    pairs = PairCounts.of(answers, len(features))
    weight = np.random.default_rng(0).random(len(pairs.left))
    contrast = features[pairs.left] - features[pairs.right]
    found = information(features + offset, pairs, weight)
    size = np.abs(features).max(initial=0.0) ** 2 * len(weight)
    # With an offset the features themselves have lost ten digits.
    np.testing.assert_allclose(
        found, contrast.T @ (weight[:, None] * contrast), rtol=0, atol=(1e-7 if offset else 1e-14) * max(size, 1e-3)
    )


def test_no_products_are_spent_on_rounding() -> None:
    """At the maximum the system's right side is rounding, and no direction makes that less."""
    rng = np.random.default_rng(0)
    n, k, count = 1000, 5, 5000
    left = rng.integers(0, n, count)
    answers = Answers(left, (left + rng.integers(1, n, count)) % n, rng.integers(0, 2, count).astype(float))
    compared = Compared.of(rng.normal(size=(n, k)), answers)
    theta, zeta = map_estimate(Prior(2.0, 1.0), compared)
    _, slope, weight, degree = logistic(*compared.pairs[:4], compared.features @ theta + zeta)

    def direction(most: int) -> Any:
        """theta's, with a preconditioner that could not be worse."""
        graph = compared.features, *compared.pairs[:2], weight, degree
        return conjugate_gradients(*graph, 0.5, 1.0, np.eye(k), -0.5 * theta, -zeta, slope, 0.0, most)[0]

    np.testing.assert_allclose(direction(1000), 0.0, atol=1e-12)
    np.testing.assert_array_equal(direction(3), direction(1000))


@pytest.mark.parametrize("seed", [73, 86, 89, 99])
def test_thousands_of_separate_pairs_are_solved_although_the_gain_of_a_step_is_near_rounding(seed: int) -> None:
    """Of 1,200 seeds 98 never ended where the log-likelihood was summed plainly; almost all margins are +-m here."""
    rng = np.random.default_rng(seed)
    count, links = int(rng.integers(3000, 6000)), int(rng.integers(10, 200))
    left = np.append(2 * np.arange(count), rng.integers(0, 2 * count, links))
    right = np.append(2 * np.arange(count) + 1, rng.integers(0, 2 * count, links))
    left, right = left[left != right], right[left != right]
    answers = Answers(left, right, rng.choice([0.0, 1.0], len(left)))
    _, zeta = map_estimate(Prior(2.0, 1.0), Compared.of(np.empty((2 * count, 0)), answers))
    # A pair apart from all others has zeta = +-m / 2 with m / 2 = 1 - sigma(m).
    alone = np.bincount(np.concatenate([left, right]), minlength=2 * count)
    apart = (alone[left[:count]] == 1) & (alone[right[:count]] == 1)
    margin = brentq(lambda m: m / 2 - 1 / (1 + np.exp(m)), 0.0, 1.0, xtol=1e-15)
    np.testing.assert_allclose(np.abs(zeta[left[:count]][apart]), margin / 2, rtol=1e-9)


def test_the_log_likelihood_is_summed_to_the_last_digits() -> None:
    rng, count = np.random.default_rng(0), 100_000
    scores, asked = rng.normal(size=50), np.ones(count)
    left, right = rng.integers(0, 50, (2, count))
    wins = rng.choice([0.0, 0.5, 1.0], count)
    margin = scores[left] - scores[right]
    terms = wins * np.log(expit(margin)) + (asked - wins) * np.log(expit(-margin))
    value = logistic(left, right, asked, wins, scores)[0]
    assert value == pytest.approx(math.fsum(terms), rel=4e-15)
