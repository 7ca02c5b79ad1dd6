"""What the order would be without some answers: against fits without them, and against trying every set of answers."""

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from ordinate.learning.checks import few_answers, influence
from ordinate.learning.checks.few_answers import confirmed, swaps
from ordinate.learning.checks.response import moved_by, scores_without
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.independent import Independent

MODELS = [None, Contextual(1.0), Independent(1.0), FactoredHybrid(1.0, 1.0)]


@pytest.mark.parametrize("model", MODELS, ids=["hybrid", "contextual", "independent", "factored"])
def test_scores_without_an_annotator_are_those_of_a_fit_without_them(data, model):
    given = data(15, 300, annotators=10, **({} if model is None else {"model": model}))
    for number in range(3):
        out = given.annotators == number
        expected = given.model.fit(given.features, given.answers.those(~out)).mean
        found = scores_without(given, given.prior, out)
        moved = np.ptp(expected - given.fit.mean)
        gap = (found - found.mean()) - (expected - expected.mean())
        assert np.abs(gap).max() < 0.1 * moved


def test_items_that_were_never_compared_move_as_their_features_do(data):
    """Of 40 items 10 are compared: most pairs are of items that the coefficients alone place."""
    few = data(10, 120, annotators=3)
    rng = np.random.default_rng(2)
    features = np.concatenate([few.features, rng.normal(size=(30, 2))])
    given = data(40, 120, annotators=3, features=features, answers=few.answers)
    for number in range(3):
        out = given.annotators == number
        expected = given.model.fit(features, given.answers.those(~out)).mean
        found = scores_without(given, given.prior, out)
        gap = (found - found.mean()) - (expected - expected.mean())
        assert np.abs(gap).max() < 0.15 * np.ptp(expected - given.fit.mean)
        shown, true = (influence.distance(given.fit.mean, scores, given.group) for scores in (found, expected))
        assert shown == pytest.approx(true, abs=0.02)


def test_the_response_is_a_column_of_the_covariance(data):
    given = data(10, 80)
    rows = given.compared.rows
    slope = np.zeros(len(rows))
    slope[[2, 5]] = 1.0, -1.0
    covariance = given.fit.scores_covariance()[np.ix_(rows, rows)]
    (found,), expected = moved_by(given, given.prior, [slope]), covariance @ slope
    assert found - found.mean() == pytest.approx(expected - expected.mean(), abs=1e-9)


def test_the_distance_is_the_share_of_pairs_that_change_places():
    one, other = np.array([3.0, 2.0, 1.0, 0.0, 9.0]), np.array([2.0, 3.0, 1.0, 4.0, 0.0])
    group = np.array([0, 0, 0, 0, -1])
    turned = sum((one[i] > one[j]) != (other[i] > other[j]) for i, j in combinations(range(4), 2))
    assert influence.distance(one, other, group) == turned / 6


def test_an_annotator_who_decides_alone_is_named(data):
    equal = data(20, 600, error_high=0.12)
    assert influence.check(equal).state == "passed"
    most = np.where(np.arange(600) % 10 == 0, np.arange(600) % 3, 3)
    found = influence.check(replace(equal, annotators=most, error_high=0.05))
    assert found.state == "failed"
    assert "'a3'" in found.found
    assert influence.check(replace(equal, annotators=np.arange(600) % 2)).state == "not run"


def fewest_by_trying(given, most):
    """The least number of answers without which the first `top` are others; None where it is above `most`."""
    mean = given.fit.mean
    first = set(np.argsort(-mean)[: given.top].tolist())
    for size in range(1, most + 1):
        for out in combinations(range(len(given.annotators)), size):
            kept = np.ones(len(given.annotators), dtype=bool)
            kept[list(out)] = False
            other = given.model.fit(given.features, given.answers.those(kept)).mean
            if set(np.argsort(-other)[: given.top].tolist()) != first:
                return size
    return None


@pytest.mark.parametrize("seed", range(6))
def test_the_fewest_answers_are_as_few_as_any(data, seed):
    given = data(8, 26, seed=seed)
    found = swaps(given, given.prior)
    made = [one for one in (confirmed(given, swap) for swap in found[:6]) if one is not None]
    expected = fewest_by_trying(given, 2)
    least = min((one.needed for one in made), default=None)
    assert least is not None
    assert least == expected if expected is not None else least > 2


def test_without_the_answers_a_fit_orders_the_two_the_other_way(data):
    given = data(30, 400)
    swap = confirmed(given, swaps(given, given.prior)[0])
    assert swap is not None
    kept = np.ones(400, dtype=bool)
    kept[swap.answers[: swap.needed]] = False
    mean = given.model.fit(given.features, given.answers.those(kept)).mean
    assert given.fit.mean[swap.inside] > given.fit.mean[swap.outside]
    assert mean[swap.inside] < mean[swap.outside]


def test_the_answers_are_named(data):
    found = few_answers.check(data(12, 60))
    assert found.state in ("passed", "failed")
    assert " over 'i" in found.found
    assert "among the first 3" in found.found


@pytest.mark.slow
def test_a_hundred_thousand_answers_take_a_second(data):
    given = data(1000, 100_000)
    given.fit.belief, given.left_out  # noqa: B018  # which other checks need, too
    swaps(given, given.prior)
    began = time.perf_counter()
    found = swaps(given, given.prior)
    assert time.perf_counter() - began < 2.0
    assert found


def test_few_is_one_percent_of_the_answers_about_the_group(data):
    given = data(12, 300, seed=4)
    found = few_answers.check(given)
    assert found.threshold == pytest.approx(3.0)
    assert (found.state == "failed") == (found.advice != "")
    halves = replace(given, group=np.where(np.arange(12) < 6, 0, 1))
    about = (halves.group[halves.answers.left] == 0).sum()
    assert few_answers.check(halves).threshold in (pytest.approx(0.01 * about), pytest.approx(0.01 * (300 - about)))
    many = few_answers.check(data(12, 3000, seed=4))
    assert many.threshold == 3.0


@pytest.mark.parametrize(("items", "count"), [(12, 800), (40, 2000)])
def test_a_top_with_many_answers_about_each_item_is_firm_and_one_that_rests_on_one_answer_is_not(data, items, count):
    """In healthy studies some pair is always only just told apart, however many answers there are."""
    failed = 0
    for seed in range(8):
        healthy = data(items, count, seed=seed, model=Independent(4.0), top=5)
        assert few_answers.check(healthy).state != "failed"
        # The last item is compared once: it beats the best one.
        last, best = items - 1, int(np.argmax(healthy.fit.mean[:-1]))
        about = (healthy.answers.left == last) | (healthy.answers.right == last)
        left, right, outcome = (column[~about] for column in healthy.answers[:3])
        answers = Answers(np.append(left, last), np.append(right, best), np.append(outcome, 1.0))
        found = few_answers.check(
            data(items, len(answers.left), seed=seed, model=Independent(4.0), top=5, answers=answers)
        )
        failed += found.state == "failed" and f"'i{last}'" in found.found
    assert failed >= 4
