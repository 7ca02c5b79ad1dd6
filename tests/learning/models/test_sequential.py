"""Sequential updates against the exact MAP of one more answer under the Gaussian that the others left."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.sequential import Sequential
from ordinate.learning.models.trueskill import TrueSkill


def draw(seed: int, items: int, columns: int, count: int) -> tuple[np.ndarray, Answers]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, columns))
    left = rng.integers(0, items, count)
    right = (left + rng.integers(1, items, count)) % items
    gap = (features[left] - features[right]) @ rng.normal(size=columns)
    outcome = (rng.random(count) < 1 / (1 + np.exp(-gap))).astype(float)
    outcome[rng.random(count) < 0.1] = 0.5
    return features, Answers(left, right, outcome)


def test_every_answer_is_the_map_under_the_prior_the_others_left() -> None:
    features, answers = draw(0, 8, 3, 25)
    mean, covariance = np.zeros(3), 2.0 * np.eye(3)
    for count in range(1, 26):
        z = features[answers.left[count - 1]] - features[answers.right[count - 1]]
        outcome, precision = answers.outcome[count - 1], np.linalg.inv(covariance)

        def loss(theta: np.ndarray, z=z, outcome=outcome, precision=precision, mean=mean) -> float:
            margin = z @ theta
            fit = outcome * np.logaddexp(0, -margin) + (1 - outcome) * np.logaddexp(0, margin)
            return float(fit + 0.5 * (theta - mean) @ precision @ (theta - mean))

        mean = minimize(loss, mean, method="BFGS", options={"gtol": 1e-9}).x
        slope = 1 / (2 + np.exp(z @ mean) + np.exp(-z @ mean))
        covariance = np.linalg.inv(precision + slope * np.outer(z, z))
        so_far = Answers(answers.left[:count], answers.right[:count], answers.outcome[:count])
        posterior = Sequential().fit(features, so_far)
        np.testing.assert_allclose(posterior.coefficients, mean, atol=1e-5)
        np.testing.assert_allclose(posterior.covariance.coefficients, covariance, atol=1e-5)
        mean, covariance = posterior.coefficients, posterior.covariance.coefficients


def test_hybrid_equals_contextual_with_a_column_per_item_where_no_cross_terms_arise() -> None:
    """Three disjoint pairs, no features of their own: theta and zeta never meet."""
    answers = Answers(np.array([0, 2, 4]), np.array([1, 3, 5]), np.array([1.0, 0.0, 0.5]))
    own = Sequential(item_variance=1.5).fit(np.zeros((6, 1)), answers).belief
    columns = Sequential(coefficient_variance=1.5).fit(np.eye(6), answers).belief
    np.testing.assert_allclose(own.mean, columns.mean, atol=1e-12)
    # In the paper's form the covariance between the two items of a pair is dropped, their variances are not.
    np.testing.assert_allclose(own.variance, columns.variance, atol=1e-12)


@pytest.mark.parametrize("outcome", [0.0, 0.5, 1.0])
def test_surprises_do_not_overshoot(outcome: float) -> None:
    """One answer against 200 does not turn the order; an undamped Newton step would, at m = 6, v = 4."""
    sure = Answers(np.zeros(201, dtype=int), np.ones(201, dtype=int), np.append(np.ones(200), outcome))
    for size in (0.1, 1.0, 3.0):
        belief = Sequential().fit(np.array([[size], [-size]]), sure).belief
        assert belief.mean[0] > belief.mean[1]


def test_many_answers_lead_where_a_full_fit_leads() -> None:
    features, answers = draw(1, 20, 3, 3_000)
    one, all_at_once = Sequential().fit(features, answers), Contextual().fit(features, answers)
    np.testing.assert_allclose(one.coefficients, all_at_once.coefficients, atol=0.1)
    np.testing.assert_allclose(one.covariance.coefficients, all_at_once.covariance.coefficients, atol=2e-3)


@pytest.mark.parametrize("model", [Sequential(), Sequential(item_variance=1.0), TrueSkill()])
def test_further_answers_give_what_all_answers_give(model: Sequential | TrueSkill) -> None:
    features, answers = draw(4, 9, 3, 60)

    def part(first: int, last: int) -> Answers:
        return Answers(answers.left[first:last], answers.right[first:last], answers.outcome[first:last])

    early = model.fit(features, part(0, 25))
    kept = early.mean.copy()
    for posterior in (early, early):  # continuing changes nothing, so it can be done again
        later = posterior
        for piece in (part(25, 26), part(26, 60)):
            assert later.further is not None
            later = later.further(piece)
        whole = model.fit(features, answers)
        assert np.array_equal(later.mean, whole.mean)
        assert np.array_equal(later.covariance.variance, whole.covariance.variance)
    assert np.array_equal(early.mean, kept)
