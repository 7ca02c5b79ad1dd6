"""Figures of consistency, against counting by hand and against answers whose consistency is known."""

import numpy as np
import pytest
from scipy.stats import binomtest

from ordinate.learning.consistency import (
    _half,
    predictions,
    separation,
    separation_of_coins,
    share_interval,
    split_half,
)
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.thresholds import fitted_likelihood

ITEMS = 40
RNG = np.random.default_rng(0)
TRUTH = RNG.normal(0.0, 2.0, ITEMS)
NONE = np.empty((ITEMS, 0))
GROUP = np.zeros(ITEMS, dtype=np.int64)


def answers(count, sensibly=True, seed=1):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, ITEMS, count)
    right = (left + rng.integers(1, ITEMS, count)) % ITEMS
    chance = 1.0 / (1.0 + np.exp(-(TRUTH[left] - TRUTH[right]))) if sensibly else np.full(count, 0.5)
    return Answers(left, right, (rng.random(count) < chance).astype(float))


def fit(given):
    return Hybrid(item_variance=4.0).fit(NONE, given)


@pytest.mark.parametrize(("right", "count"), [(0, 3), (7, 10), (78, 100), (5, 5)])
def test_the_interval_is_wilsons(right, count):
    found = share_interval(right, count)
    expected = binomtest(right, count).proportion_ci(0.9, method="wilson")
    assert found == pytest.approx((right / count, expected.low, expected.high), abs=1e-4)
    assert share_interval(0, 0) is None


def test_chosen_answers_of_the_later_half_are_predicted_by_those_before():
    given, chosen = answers(600), np.zeros(600, dtype=bool)
    chosen[::3] = True
    right, count = predictions(NONE, given, chosen)
    assert count == 100
    # Nobody can know better than the true scores.
    best = np.mean((TRUTH[given.left] > TRUTH[given.right]) == (given.outcome == 1.0))
    assert best - 0.15 < right / count < best + 0.1
    ties = given._replace(outcome=np.where(chosen, 0.5, given.outcome))
    assert predictions(NONE, ties, chosen) == (0, 0)


def test_what_comes_after_an_answer_does_not_predict_it():
    given, chosen = answers(100), np.zeros(100, dtype=bool)
    chosen[50:55] = True  # the first block after the half
    turned = given._replace(outcome=np.concatenate([given.outcome[:55], 1.0 - given.outcome[55:]]))
    assert predictions(NONE, given, chosen) == predictions(NONE, turned, chosen)


def test_coins_are_predicted_half_of_the_time():
    given = answers(2000, sensibly=False)
    right, count = predictions(NONE, given, np.ones(2000, dtype=bool))
    assert right / count == pytest.approx(0.5, abs=0.06)


def test_pairs_of_which_nothing_is_known_are_no_predictions():
    """Items that were never compared before have equal scores: whoever won, nothing was predicted."""
    left = np.arange(0, 2000, 2)
    given = Answers(left, left + 1, np.random.default_rng(0).integers(0, 2, 1000).astype(float))
    assert predictions(np.empty((2000, 0)), given, np.ones(1000, dtype=bool)) == (0, 0)
    rng = np.random.default_rng(1)
    left = rng.integers(0, 300, 2000)
    sparse = Answers(left, (left + rng.integers(1, 300, 2000)) % 300, rng.integers(0, 2, 2000).astype(float))
    shares = []
    for first in range(0, 2000, 200):
        right, count = predictions(
            np.empty((300, 0)), sparse.those(slice(first, first + 200)), np.ones(200, dtype=bool)
        )
        assert 20 < count < 100
        shares.append(right / count)
    assert np.mean(shares) == pytest.approx(0.5, abs=0.06)


def test_separation_is_the_share_of_the_true_variance_that_is_known():
    given = answers(800)
    posterior = fit(given)
    found = separation(posterior, GROUP)
    assert found == pytest.approx(np.corrcoef(posterior.mean, TRUTH)[0, 1] ** 2, abs=0.06)
    assert separation_of_coins(fit, given, GROUP, np.random.default_rng(0)) < 0.7 * found


def test_tosses_among_ties_tell_items_apart_no_better_than_tosses_alone():
    """The thresholds say that most answers are ties; a toss in the place of each would say far too much."""
    given, rng = answers(2000), np.random.default_rng(3)
    tied = given._replace(
        outcome=np.where(rng.random(2000) < 0.8, 0.5, given.outcome), strength=np.zeros(2000, dtype=np.int64)
    )
    model = Hybrid(item_variance=4.0).with_likelihood(Cumulative())
    model = model.with_likelihood(fitted_likelihood(model, NONE, tied))
    found = separation_of_coins(lambda one: model.fit(NONE, one), tied, GROUP, rng)
    assert found < 1.2 * separation_of_coins(fit, given, GROUP, rng)


def test_halves_of_annotators_agree_as_far_as_their_answers_are_sensible():
    annotators = np.arange(800) % 8
    sensible = split_half(fit, answers(800), annotators, GROUP, np.random.default_rng(0))
    assert sensible is not None
    assert sensible > 0.85
    blind = split_half(fit, answers(800, sensibly=False), annotators, GROUP, np.random.default_rng(0))
    assert blind is not None
    assert abs(blind) < 0.4
    assert split_half(fit, answers(50), np.zeros(50, dtype=np.int64), GROUP, np.random.default_rng(0)) is None


def test_halves_that_tell_no_items_apart_do_not_correlate():
    annotators, rng = np.arange(80) % 4, np.random.default_rng(0)
    ties = answers(80)._replace(outcome=np.full(80, 0.5))
    assert split_half(fit, ties, annotators, GROUP, rng) is None
    pairs = np.where(np.arange(ITEMS) < 4, np.arange(ITEMS) // 2, -1)  # two groups of two items
    two = Answers(np.arange(80) % 2 * 2, np.arange(80) % 2 * 2 + 1, rng.integers(0, 2, 80).astype(float))
    assert split_half(fit, two, annotators, pairs, rng) is None


def test_both_halves_have_about_as_many_answers():
    given = np.array([500, 20, 20, 30, 10, 400])
    half = _half(given, np.random.default_rng(0))
    assert abs(given[half].sum() - given[~half].sum()) <= 60
