"""Diagonal, products and all of A = (I / item_variance + L)^-1 against numpy.linalg.inv, on graphs of every kind."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.learning.models import Answers
from ordinate.learning.models.independent import Independent
from ordinate.learning.models.item_covariance import ItemCovariance
from ordinate.learning.models.likelihood import PairCounts


def graph(rng: np.random.Generator, kind: str, n: int, answers: int) -> Answers:
    left = rng.integers(0, n, answers)
    right = (left + rng.integers(1, n, answers)) % n
    match kind:
        case "islands":
            left = np.minimum(left, n - 2) // 2 * 2
            right = left + 1
        case "path":
            left = np.arange(answers) % (n - 1)
            right = left + 1
        case "star":
            left, right = np.zeros(answers, dtype=np.int64), 1 + np.arange(answers) % (n - 1)
        case "near neighbours":
            right = (left + rng.integers(1, 1 + min(4, n - 1), answers)) % n
    return Answers(left, right, rng.choice([0.0, 0.5, 1.0], answers))


def plain_inverse(answers: Answers, scores: Any, item_variance: float) -> Any:
    precision = np.eye(len(scores)) / item_variance
    for i, j in zip(answers.left, answers.right, strict=True):
        chance = 1 / (1 + np.exp(scores[j] - scores[i]))
        precision[np.ix_([i, j], [i, j])] += chance * (1 - chance) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return np.linalg.inv(precision)


cases = given(
    kind=st.sampled_from(["any", "islands", "path", "star", "near neighbours"]),
    n=st.sampled_from([2, 3, 20, 63, 64, 65, 130]),
    answers=st.sampled_from([1, 30, 300, 1500]),
    item_variance=st.sampled_from([0.05, 1.0, 30.0]),
    spread=st.sampled_from([0.0, 1.0, 6.0]),
    seed=st.integers(0, 2**32),
)


def check(kind: str, n: int, answers: int, item_variance: float, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    given_answers, scores = graph(rng, kind, n, answers), spread * rng.normal(size=n)
    expected = plain_inverse(given_answers, scores, item_variance)
    pairs = PairCounts.of(given_answers, n)
    found = ItemCovariance(pairs, pairs.weight_at(scores), n, item_variance)
    for inverse_fits in (0, 10_000):  # without, and with, the inverse to fall back upon
        iterated = ItemCovariance(pairs, pairs.weight_at(scores), n, item_variance, 0, inverse_fits)
        np.testing.assert_allclose(np.sqrt(iterated.diagonal), np.sqrt(np.diagonal(expected)), rtol=1e-6)
    np.testing.assert_allclose(found.dense(np.arange(n), n), expected, rtol=1e-9, atol=1e-9)
    columns = rng.normal(size=(n, 3)) + np.array([0.0, 1.0, 1e6])
    np.testing.assert_allclose(
        found.without_mean(columns),
        columns - columns.mean(axis=0) - expected @ (columns - columns.mean(axis=0)) / item_variance,
        atol=1e-8,
    )
    vector = rng.random(n)
    np.testing.assert_allclose(found.times(vector), expected @ vector, rtol=1e-8, atol=1e-10)


@settings(max_examples=100)
@cases
@pytest.mark.slow
def test_every_part_is_that_of_the_inverse(
    kind: str, n: int, answers: int, item_variance: float, spread: float, seed: int
) -> None:
    check(kind, n, answers, item_variance, spread, seed)


@pytest.mark.load
@settings(max_examples=3_000)
@cases
def test_every_part_is_that_of_the_inverse_thousands_of_times(
    kind: str, n: int, answers: int, item_variance: float, spread: float, seed: int
) -> None:
    check(kind, n, answers, item_variance, spread, seed)


def test_standard_errors_of_many_items_are_those_of_the_inverse() -> None:
    """1,500 items at 36 answers each, where the diagonal is found without the inverse, down to `centred`."""
    rng = np.random.default_rng(0)
    answers = graph(rng, "any", 1500, 27_000)
    posterior = Independent().fit(np.empty((1500, 0)), answers)
    scores, errors = posterior.centred(np.zeros(1500, dtype=np.int64))
    inverse = plain_inverse(answers, posterior.mean, 1.0)
    centre = np.eye(1500) - 1 / 1500
    np.testing.assert_allclose(scores, posterior.mean - posterior.mean.mean())
    np.testing.assert_allclose(errors, np.sqrt(np.diagonal(centre @ inverse @ centre)), atol=1e-7)
