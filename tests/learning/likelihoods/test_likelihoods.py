"""Every likelihood of the table against SciPy, finite differences, and what models may rely on."""

from typing import Any

import numpy as np
import pytest
from scipy.special import log_expit, log_ndtr
from tests.learning.likelihoods.conftest import require_derivatives

from ordinate.algorithms import LIKELIHOODS
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.probit import UNIT
from ordinate.learning.models import Answers
from ordinate.learning.models.likelihood import PairCounts

LOG_CHANCE: dict[str, Any] = dict.fromkeys(LIKELIHOODS, log_expit) | {"probit": lambda m: log_ndtr(m / UNIT)}
"""The log of the chance of the left item, by SciPy, where ties are half a win (for those of `by_kind`, see there)."""


@pytest.fixture(params=LIKELIHOODS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def likelihood(name: str) -> Likelihood:
    return LIKELIHOODS[name]


def pairs_of(rng: np.random.Generator, items: int, count: int) -> PairCounts:
    left = rng.integers(0, items, count)
    asked = rng.integers(1, 9, count).astype(float)
    return PairCounts(
        left, (left + rng.integers(1, items, count)) % items, asked, np.round(asked * rng.random(count) * 2) / 2
    )


@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0, 30.0, 200.0])
def test_the_value_is_that_of_scipy_far_into_the_tails(name: str, likelihood: Likelihood, spread: float) -> None:
    rng = np.random.default_rng(0)
    pairs, scores = pairs_of(rng, 10, 40), spread * rng.normal(size=10)
    margin = scores[pairs.left] - scores[pairs.right]
    log_chance = LOG_CHANCE[name]
    expected = pairs.wins @ log_chance(margin) + (pairs.asked - pairs.wins) @ log_chance(-margin)
    assert likelihood.evaluate(pairs, scores)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0])
def test_slopes_and_weights_are_the_derivatives(likelihood: Likelihood, spread: float) -> None:
    rng = np.random.default_rng(1)
    pairs, scores = pairs_of(rng, 6, 25), spread * rng.normal(size=6)
    require_derivatives(likelihood, pairs, scores)


@pytest.mark.parametrize("outcome", [0.0, 0.5, 1.0])
def test_the_weight_of_one_answer_is_that_of_a_pair_asked_once(likelihood: Likelihood, outcome: float) -> None:
    for margin in (-300.0, -40.0, -2.0, 0.0, 0.3, 7.0, 100.0):
        one = np.array([margin])
        pair = PairCounts(np.array([0]), np.array([1]), np.ones(1), np.array([outcome]))
        expected = likelihood.evaluate(pair, np.array([margin, 0.0]))[2]
        answer = Answers(np.array([0]), np.array([1]), np.array([outcome]))
        np.testing.assert_allclose(likelihood.weight(one, answer), expected, rtol=1e-12)
        assert expected[0] >= 0.0


def test_the_unit_of_the_scores_is_the_logistic_one(name: str) -> None:
    """So that a choice may keep the logistic curvature: the chance to win differs by 0.01 at most."""
    margin = np.linspace(-20.0, 20.0, 4001)
    chance = np.exp(LOG_CHANCE[name](margin))
    assert np.abs(chance - 1.0 / (1.0 + np.exp(-margin))).max() < 0.01
