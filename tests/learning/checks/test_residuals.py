"""Answers left out, misfit, drift and missed terms: against fits without an answer, and in worlds made for each."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ordinate.learning.annotators import independent
from ordinate.learning.calibration import Predictions, bins, predictions, spiegelhalter
from ordinate.learning.checks import calibrated, cycles, drift, misfit, terms
from ordinate.learning.left_out import left_out
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.hybrid import Hybrid

MODEL = Hybrid(coefficient_variance=1.0, item_variance=1.0)


def test_a_margin_without_its_answer_is_that_of_a_fit_without_it(data):
    given = data(12, 150)
    found = left_out(given.fit, given.answers)
    for answer in range(0, 150, 7):
        kept = np.arange(150) != answer
        fit = given.model.fit(given.features, given.answers.those(kept))
        margin, variance = fit.belief.differences(given.answers.left[[answer]], given.answers.right[[answer]])
        assert found.margin[answer] == pytest.approx(margin[0], abs=0.03)
        assert found.variance[answer] == pytest.approx(variance[0], rel=0.08)


def test_an_answer_does_not_predict_itself(data):
    given = data(12, 60)
    before = left_out(given.fit, given.answers).probability[0]
    outcome = given.answers.outcome.copy()
    outcome[0] = 1.0 - outcome[0]
    turned = given.answers._replace(outcome=outcome)
    assert left_out(given.model.fit(given.features, turned), turned).probability[0] == pytest.approx(before, abs=0.02)


def test_misfit_is_the_standardised_sum_of_surprises():
    chance, outcome = np.array([0.9, 0.8, 0.9]), np.array([0.0, 1.0, 1.0])
    found = misfit.misfit(chance, outcome, [np.array([0, 0, 1])], 2, np.random.default_rng(0))
    variance = 0.9 * 0.1 * 0.64 + 0.8 * 0.2 * 0.36 + 0.25
    assert found.standard[0] == pytest.approx((0.9 * 0.8 - 0.2 * 0.6) / variance**0.5)
    assert found.standard[1] == pytest.approx(-0.1 * 0.8 / (0.9 * 0.1 * 0.64 + 0.25) ** 0.5)


def test_who_answers_the_other_way_round_is_named_and_nobody_else(data):
    honest = data(20, 400)
    assert misfit.of_annotators(honest).state == "passed"
    outcome = np.where(honest.annotators == 2, 1.0 - honest.answers.outcome, honest.answers.outcome)
    found = misfit.of_annotators(data(20, 400, answers=honest.answers._replace(outcome=outcome)))
    assert found.state == "failed"
    assert found.found == "1 annotator has more surprising answers than chance explains: 'a2'."


def test_an_item_whose_answers_are_coin_tosses_is_named_and_no_other(data):
    honest = data(20, 2000)
    assert misfit.of_items(honest).state == "passed"
    about = (honest.answers.left == 7) | (honest.answers.right == 7)
    rng = np.random.default_rng(5)
    outcome = np.where(about, rng.random(2000) < 0.5, honest.answers.outcome).astype(float)
    # It would be in the middle; so it is moved to the end by pairs of its own, as an item that is sometimes broken.
    outcome[about & (np.arange(2000) % 2 == 0)] = (honest.answers.left == 7)[about & (np.arange(2000) % 2 == 0)]
    found = misfit.of_items(data(20, 2000, answers=honest.answers._replace(outcome=outcome)))
    assert found.state == "failed"
    assert found.found.endswith("'i7'.")


def test_a_question_that_is_turned_round_half_way_is_drift(data):
    honest = data(20, 400)
    assert drift.of_scores(honest).state == "passed"
    late = np.arange(400) >= 250
    outcome = np.where(late, 1.0 - honest.answers.outcome, honest.answers.outcome)
    assert drift.of_scores(data(20, 400, answers=honest.answers._replace(outcome=outcome))).state == "failed"


def test_people_who_tire_are_less_sharp_late(data):
    honest = data(20, 1000)
    assert drift.of_sharpness(honest).state == "passed"
    coins = np.random.default_rng(2).integers(0, 2, 1000).astype(float)
    outcome = np.where(np.arange(1000) >= 600, coins, honest.answers.outcome)
    found = drift.of_sharpness(data(20, 1000, answers=honest.answers._replace(outcome=outcome)))
    assert found.state == "failed"
    assert found.found == "Late answers surprise more, and early ones less."


@pytest.mark.parametrize(
    "check", [cycles.check, misfit.of_items, misfit.of_annotators, drift.of_scores, drift.of_sharpness, terms.check]
)
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_answers_that_are_stored_four_times_are_no_more_surprises(data, check, named, seed):
    once = data(20, 200, seed, model=Contextual(1.0) if check is terms.check else MODEL)
    key = 20 * np.minimum(*once.answers[:2]) + np.maximum(*once.answers[:2])
    _, first = np.unique(400 * once.annotators + key, return_index=True)
    rows = np.sort(first)  # nobody repeats a pair of their own accord
    once = replace(
        once, answers=once.answers.those(rows), annotators=once.annotators[rows], at_random=once.at_random[rows]
    )
    again = np.tile(np.arange(len(rows)), 4) if seed else np.repeat(np.arange(len(rows)), 4)
    share = np.full(len(again), 0.25) if named else None
    copied = replace(
        once,
        answers=once.answers.those(again)._replace(share=share),
        annotators=once.annotators[again],
        at_random=once.at_random[again],
    )
    assert check(copied) == check(once)


def test_repeats_are_independent_where_their_correlation_is_small():
    answers = Answers(np.zeros(5, int), np.array([1, 1, 1, 2, 1]), np.array([1.0, 1.0, 0.0, 1.0, 1.0]))
    who = np.array([0, 0, 0, 0, 1])
    for correlation, expected in ((0.05, [True] * 5), (0.2, [True, False, False, True, True])):
        share = np.array([1.0 / (1.0 + 2.0 * correlation)] * 3 + [1.0, 1.0])
        assert independent(answers._replace(share=share), who).tolist() == expected


def test_a_contextual_study_is_told_where_features_miss_something(data):
    model = Contextual(1.0)
    found = terms.check(data(30, 600, model=model))
    assert found.state == "failed"
    assert "guro-hybrid" in found.advice
    assert terms.check(data(30, 600)).state == "not run", "the hybrid model has such terms"
    rng = np.random.default_rng(3)
    features = rng.normal(size=(30, 2))
    left = rng.integers(0, 30, 600)
    right = (left + rng.integers(1, 30, 600)) % 30
    margin = (features[left] - features[right]) @ [1.0, -1.0]
    answers = Answers(left, right, (rng.random(600) < 1.0 / (1.0 + np.exp(-margin))).astype(float))
    assert terms.check(data(30, 0, model=model, features=features, answers=answers)).state == "passed"


def test_predictions_come_from_the_answers_before(data):
    given = data(12, 100)
    fit = partial(given.refit, rows=np.arange(12))
    found = predictions(fit, given.answers, given.at_random)
    assert len(found.outcome) == 100 - 100 // 8
    turned = given.answers._replace(
        outcome=np.concatenate([given.answers.outcome[:15], 1 - given.answers.outcome[15:]])
    )
    other = predictions(fit, turned, given.at_random)
    block = 100 // 8 // 4
    assert np.array_equal(found.probability[:block], other.probability[:block])
    assert not np.array_equal(found.probability[block:], other.probability[block:])


@pytest.mark.parametrize("items", [20, 400])
def test_predictions_are_by_the_compared_items_alone_and_the_same_as_by_all(data, items):
    answered = data(items, 3 * items)
    asked = []

    def refit(other, rows):
        asked.append(rows)
        return answered.model.fit(features[rows], other)

    # The items that nobody compared come in between, and are many more.
    rows = np.sort(np.random.default_rng(1).choice(5 * items, items, replace=False))
    features = np.random.default_rng(2).normal(size=(5 * items, 2))
    features[rows] = answered.features
    left, right, outcome = answered.answers[:3]
    answers = Answers(rows[left], rows[right], outcome)
    found = replace(answered, features=features, answers=answers, refit=refit).predictions
    expected = predictions(lambda other: answered.model.fit(features, other), answers, answered.at_random)
    np.testing.assert_allclose(found.probability, expected.probability, rtol=1e-9)
    assert np.array_equal(found.outcome, expected.outcome)
    compared = np.unique([answers.left, answers.right])
    assert all(np.array_equal(one, compared) for one in asked)
    assert bool(asked) == (items == 20), "of more items the model is fitted by Laplace's approximation"


def test_bins_count_how_often_the_likelier_side_won():
    found = bins(Predictions(np.array([0.95, 0.05, 0.92, 0.55]), np.array([1.0, 0.0, 0.0, 0.0])))
    assert [(one.low, one.answers) for one in found] == [(0.5, 1), (0.9, 3)]
    assert found[1].predicted == pytest.approx((0.95 + 0.95 + 0.92) / 3)
    assert found[1].observed.estimate == pytest.approx(2 / 3)


def test_spiegelhalters_z_is_standard_normal_where_predictions_hold():
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.05, 0.95, size=(2000, 60))
    z = [spiegelhalter(Predictions(one, (rng.random(60) < one).astype(float))) for one in chance]
    assert np.mean(z) == pytest.approx(0.0, abs=0.07)
    assert np.std(z) == pytest.approx(1.0, abs=0.05)


def test_predictions_that_are_too_sure_do_not_hold(data):
    assert calibrated.check(data(20, 800)).state == "passed"
    coins = np.random.default_rng(2).integers(0, 2, 800).astype(float)
    late = np.where(np.arange(800) >= 400, coins, data(20, 800).answers.outcome)
    found = calibrated.check(data(20, 800, answers=data(20, 800).answers._replace(outcome=late)))
    assert found.state == "failed"
    assert calibrated.check(data(20, 15)).state == "not run"
