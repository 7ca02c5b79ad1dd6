"""Every solver that iterates leaves a small residual, over the whole range of prior variances that a study may have."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, log_ndtr
from scipy.stats import norm

from ordinate.learning.models import Answers
from ordinate.learning.models.item_covariance import ItemCovariance
from ordinate.learning.models.likelihood import PairCounts
from ordinate.learning.models.map_estimate import Compared, Prior, map_estimate
from ordinate.learning.models.one_by_one import draw_correction, margin_after, replay_factored, win_correction

VARIANCES = (1e-6, 1e-3, 1.0, 1e3, 1e6)
"""From LEAST_VARIANCE to MOST_VARIANCE in creation.py."""


@pytest.mark.parametrize("variance", [1e-6, 1e-2, 1.0, 12.0, 1e2, 1e3, 1e4, 1e5, 1e8])
@pytest.mark.parametrize("outcome", [0.0, 0.5, 1.0])
def test_the_margin_after_one_answer_is_the_root_of_its_equation(variance: float, outcome: float) -> None:
    rng = np.random.default_rng(0)
    margins = [0.0, 6.0, -6.0, *(3.0 * np.sqrt(variance) * rng.normal(size=300)), *rng.normal(size=300)]
    for margin in margins:
        found = margin_after(margin, variance, outcome)
        residual = found - margin - variance * (outcome - expit(found))
        assert abs(residual) <= 1e-15 * (1.0 + abs(margin) + variance)


def test_newton_steps_that_go_to_and_fro_are_halved() -> None:
    """From 6, with variance 12, each Newton step leads from one flat part of sigma to the other; the root is 0."""
    assert margin_after(6.0, 12.0, 0.0) == pytest.approx(0.0, abs=1e-14)


def problem(seed: int) -> tuple[Any, Answers, Any]:
    """Features (n, k), answers, and the contrasts (T, k + n) of theta and zeta; every other one is separable."""
    rng = np.random.default_rng(seed)
    n, k, count = int(rng.integers(2, 50)), int(rng.integers(0, 8)), int(rng.integers(1, 250))
    features = np.ascontiguousarray(rng.normal(size=(n, k)) * rng.choice([0.1, 1.0, 30.0]))
    left = rng.integers(0, n, count)
    right = (left + rng.integers(1, n, count)) % n
    outcome = rng.choice([0.0, 0.5, 1.0], count) if seed % 2 else (left < right).astype(float)
    design = np.hstack([features, np.eye(n)])
    return features, Answers(left, right, outcome), design[left] - design[right]


@pytest.mark.parametrize("seed", range(12))
def test_a_newton_step_from_the_map_moves_no_margin(seed: int) -> None:
    features, answers, contrasts = problem(seed)
    columns = features.shape[1]
    for prior in (Prior(*variances) for variances in product(VARIANCES, VARIANCES)):
        compared = Compared.of(features, answers)
        theta, tail = map_estimate(prior, compared)
        zeta = np.zeros(len(features))
        zeta[compared.rows] = tail
        precision = np.repeat(1.0 / np.array([prior.coefficients, prior.items]), [columns, len(features)])
        chance = expit(contrasts @ np.append(theta, zeta))
        gradient = contrasts.T @ (answers.outcome - chance) - precision * np.append(theta, zeta)
        hessian = contrasts.T @ ((chance * (1.0 - chance))[:, None] * contrasts) + np.diag(precision)
        left = contrasts @ np.linalg.solve(hessian, gradient)
        errors = np.sqrt(np.einsum("tc,ct->t", contrasts, np.linalg.solve(hessian, contrasts.T)))
        assert (np.abs(left) <= 1e-8 * errors).all(), prior


@pytest.mark.parametrize("item_variance", VARIANCES)
@pytest.mark.parametrize("seed", range(8))
def test_the_covariance_of_the_items_is_the_inverse(seed: int, item_variance: float) -> None:
    features, answers, contrasts = problem(seed)
    n = len(features)
    scores = np.random.default_rng(seed).normal(size=n)
    pairs = PairCounts.of(answers, n)
    found = [
        ItemCovariance(pairs, pairs.weight_at(scores), n, item_variance, *sizes) for sizes in ((), (0, 0), (0, 10_000))
    ]
    links = contrasts[:, features.shape[1] :]
    slope = expit(links @ scores) * expit(-links @ scores)
    inverse = np.linalg.inv(links.T @ (slope[:, None] * links) + np.eye(n) / item_variance)
    vector = np.random.default_rng(seed + 1).normal(size=n)
    size = np.sqrt(np.diagonal(inverse) * (vector @ inverse @ vector))
    for covariance in found:
        np.testing.assert_allclose(covariance.diagonal, np.diagonal(inverse), rtol=1e-6)
        assert (np.abs(covariance.times(vector) - inverse @ vector) <= 1e-7 * size).all()


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("seed", range(8))
def test_updates_one_by_one_lead_to_the_inverse(seed: int, variance: float) -> None:
    """Without terms per item nothing is dropped; with features of 30 and this prior ten digits may be lost."""
    features, answers, contrasts = problem(seed)
    columns = features.shape[1]
    slope = np.random.default_rng(seed).uniform(0.01, 0.25, len(answers.left))
    covariance = variance * np.eye(columns)
    replay_factored(features, answers.left, answers.right, slope, covariance, np.zeros(len(features)))
    of_features = contrasts[:, :columns]
    expected = np.linalg.inv(of_features.T @ (slope[:, None] * of_features) + np.eye(columns) / variance)
    sizes = np.sqrt(np.outer(np.diagonal(expected), np.diagonal(expected)))
    assert (np.abs(covariance - expected) <= 1e-4 * sizes).all()


@pytest.mark.parametrize("place", [8.0, 1.0, 0.0, -1.0, -4.99, -5.01, -7.0, -20.0, -37.0, -1e3])
def test_the_correction_of_a_win_is_the_ratio_of_density_and_tail(place: float) -> None:
    shift, shrink = win_correction(place)
    expected = np.exp(norm.logpdf(place) - log_ndtr(place))
    assert shift == pytest.approx(expected, rel=1e-9)
    if place > -20.0:  # further out the plain formula loses its digits
        assert shrink == pytest.approx(expected * (expected + place), rel=1e-7)


@pytest.mark.parametrize("gap", [-8.0, -1.0, 0.0, 0.3, 5.0, 25.0])
@pytest.mark.parametrize("margin", [1e-4, 0.1, 1.0, 6.0])
def test_the_correction_of_a_draw_is_that_of_a_truncated_normal(gap: float, margin: float) -> None:
    """The mean and the variance of the difference, by quadrature over the margin."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    density = weights * np.exp(-0.5 * ((margin * nodes - gap) ** 2 - (margin - abs(gap)) ** 2 * (abs(gap) > margin)))
    mean = (density @ (margin * nodes)) / density.sum()
    variance = (density @ (margin * nodes - mean) ** 2) / density.sum()
    shift, shrink = draw_correction(gap, margin)
    assert shift == pytest.approx(mean - gap, rel=1e-6, abs=1e-9)
    assert shrink == pytest.approx(1.0 - variance, rel=1e-4)
