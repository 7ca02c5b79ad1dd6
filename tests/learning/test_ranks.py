"""Rank intervals and items that cannot be told apart, against counting by hand."""

import numpy as np
import pytest
from scipy.stats import norm

from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.grades import grades_of
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.ranks import LEVEL, _curves, _told_by, counted, draw_scores, independent, ranks_of, together


def belief_of(mean, covariance):
    return DenseCovariance(np.array(covariance, dtype=float)).belief(np.array(mean, dtype=float))


def fit(items, count, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, 3))
    left = rng.integers(0, items, count)
    right = (left + rng.integers(1, items, count)) % items
    return Hybrid().fit(features, Answers(left, right, rng.integers(0, 2, count).astype(float)))


def ranks(posterior, group):
    return ranks_of(posterior, group, draw_scores(posterior, group, np.random.default_rng(0)))


def test_two_items():
    posterior = fit(2, 3, 1)
    margin, variance = posterior.belief.differences(np.array([0]), np.array([1]))
    found = ranks(posterior, np.zeros(2, dtype=np.int64))
    assert found.best[0] == pytest.approx(norm.cdf(margin[0] / np.sqrt(variance[0])), abs=0.05)
    assert found.best.sum() == pytest.approx(1.0)


def test_intervals_hold_the_ranks_of_other_draws():
    posterior, group = fit(60, 300, 2), np.zeros(60, dtype=np.int64)
    found = ranks(posterior, group)
    drawn = posterior.belief.sample(4000, np.random.default_rng(1))
    places = 1 + (-drawn).argsort(axis=1).argsort(axis=1)
    inside = ((places >= found.low) & (places <= found.high)).mean(axis=0)
    # Ranks are whole numbers, so an interval holds somewhat more than it has to.
    assert inside.min() > LEVEL - 0.03
    assert inside.mean() < LEVEL + 0.03


def test_of_many_independent_items_the_formula_is_what_draws_count() -> None:
    rng = np.random.default_rng(3)
    scores = np.sort(rng.normal(size=600))[::-1]
    errors = rng.uniform(0.1, 0.6, size=600)
    low, high, best = independent(scores, errors)
    drawn_low, drawn_high, drawn_best = counted(scores + errors * rng.standard_normal((4000, 600)))
    assert np.abs(low - drawn_low).max() < 30
    assert np.abs(low - drawn_low).mean() < 6
    assert np.abs(high - drawn_high).mean() < 6
    assert best == pytest.approx(drawn_best, abs=0.03)
    assert best.sum() == pytest.approx(1.0, abs=0.01)


def few_wide(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """60 items that nobody compared lie in the middle of 3,000, with wide errors."""
    scores, errors = rng.normal(size=3000), np.full(3000, 0.25)
    scores[:60], errors[:60] = 0.0, 1.2
    return scores, errors


def one_huge(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    scores, errors = rng.normal(size=3000), np.full(3000, 0.1)
    errors[0] = 30.0
    return scores, errors


def nothing_known(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(3000), np.ones(3000)


@pytest.mark.parametrize("case", [few_wide, one_huge, nothing_known])
def test_whoever_may_be_first_has_the_chance_that_draws_count(case) -> None:
    rng = np.random.default_rng(0)
    scores, errors = case(rng)
    low, high, best = independent(scores, errors)
    firsts = np.concatenate([(scores + errors * rng.standard_normal((500, 3000))).argmax(axis=1) for _ in range(12)])
    drawn = np.bincount(firsts, minlength=3000) / len(firsts)
    assert best.sum() == pytest.approx(1.0, abs=0.002)
    assert best == pytest.approx(drawn, abs=0.03)
    assert best[:60].sum() == pytest.approx(drawn[:60].sum(), abs=0.02)
    drawn_low, drawn_high, _ = counted(scores + errors * rng.standard_normal((1000, 3000)))
    assert np.abs(low - drawn_low).mean() < 20
    assert np.abs(high - drawn_high).mean() < 20


@pytest.mark.parametrize("errors", [1e-12, 0.05, 1.0, 30.0, None])
def test_the_table_of_the_normal_distribution_is_as_good_as_its_formula(errors: float | None) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=5000)
    spread = rng.uniform(0.01, 2.0, 5000) if errors is None else np.full(5000, errors)
    grid, above, all_below = _curves(scores, spread)
    standard = (grid - scores[:, None]) / spread[:, None]
    np.testing.assert_allclose(above, norm.sf(standard).sum(axis=0), atol=0.01)
    np.testing.assert_allclose(np.exp(all_below), np.exp(norm.logcdf(standard).sum(axis=0)), atol=1e-4)


def test_a_belief_about_correlated_scores_is_counted_nearly_alike() -> None:
    posterior, group = fit(300, 2500, 3), np.zeros(300, dtype=np.int64)
    joint = ranks(posterior, group)
    low, high, _ = independent(*posterior.centred(group))
    width = (joint.high - joint.low).mean()
    assert (high - low).mean() == pytest.approx(width, rel=0.1)


def test_each_group_has_ranks_of_its_own_and_unused_items_have_none():
    group = np.array([0, 1, -1, 0, 1, 0])
    found = ranks(fit(6, 20, 4), group)
    assert found.low[2] == found.high[2] == found.tied_low[2] == 0
    assert np.isnan(found.best[2])
    assert found.high[group == 0].max() == 3
    assert found.high[group == 1].max() == 2
    assert found.best[group == 1].sum() == pytest.approx(1.0)


def test_sets_of_items_that_cannot_be_told_apart_by_hand():
    z = norm.ppf(LEVEL)
    # Differences have variance 2: the second is just within reach of the first, the third just outside.
    mean = [5.0, 5.0 - 0.99 * z * np.sqrt(2), 5.0 - 1.01 * z * np.sqrt(2), 0.0, -0.1, -9.0]
    first, last = together(_told_by(belief_of(mean, np.eye(6)), np.arange(6)), 6)
    assert first.tolist() == [1, 1, 3, 4, 4, 6]
    assert last.tolist() == [2, 2, 3, 5, 5, 6]


def test_sets_longer_than_a_block_are_found_whole():
    first, last = together(_told_by(belief_of(np.linspace(1.0, 0.9, 500), np.eye(500)), np.arange(500)), 500)
    assert (first == 1).all()
    assert (last == 500).all()


def test_equal_items_without_variance_are_told_apart_from_nothing():
    first, _ = together(_told_by(belief_of([1.0, 1.0], np.zeros((2, 2))), np.arange(2)), 2)
    assert first.tolist() == [1, 1]


def test_items_of_equal_features_may_have_any_of_their_ranks() -> None:
    rng = np.random.default_rng(2)
    features = np.repeat(np.eye(3), 10, axis=0)
    left, right = np.array([rng.choice(30, 2, replace=False) for _ in range(200)]).T
    won = rng.random(200) < 1.0 / (1.0 + np.exp(-2.0 * ((right // 10) - (left // 10))))
    posterior, group = Contextual().fit(features, Answers(left, right, won.astype(float))), np.zeros(30, dtype=np.int64)
    found = ranks(posterior, group)
    assert (found.high - found.low >= 8).all()
    assert found.best[:10] == pytest.approx(np.full(10, 0.1), abs=0.04)
    draws = draw_scores(posterior, group, np.random.default_rng(0))
    grades = grades_of(draws.scores, posterior.mean, group, (5,))
    # Of the ten best items, of which nothing says which five are first, half are in the wrong grade.
    assert grades.by_grade[0].estimate == pytest.approx(0.5, abs=0.03)
