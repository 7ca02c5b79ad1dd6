"""What the other answers say of an answer: against fits without it, one by one."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from ordinate.learning.annotators import Fit, sharpness
from ordinate.learning.left_out import left_out, left_out_by
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.likelihoods.davidson import Davidson
from ordinate.learning.models import Answers
from ordinate.learning.models.blocks import InBlocks
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid


def judged_twice_then_again(
    seed: int, items: int, pairs: int, again: int, tie: float, columns: int = 2
) -> tuple[Any, Answers, Any]:
    """Features, answers, and who gave them: two models a pair each, one with the sides swapped, then a person some of
    them."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, columns))
    truth = 0.7 * features.sum(axis=1) + 1.5 * rng.normal(size=items)
    left = rng.integers(0, items, pairs)
    right = (left + rng.integers(1, items, pairs)) % items
    chosen = rng.choice(pairs, again, replace=False)
    left, right = np.concatenate([left, right, left[chosen]]), np.concatenate([right, left, right[chosen]])
    seen = truth[left] - truth[right] + rng.logistic(size=len(left))
    outcome = np.where(np.abs(seen) < tie, 0.5, (seen > 0).astype(float))
    who = np.repeat([0, 1, 2], [pairs, pairs, again])
    return features, Answers(left, right, outcome, np.zeros(len(left), dtype=np.int64), np.ones(len(left))), who


@pytest.mark.parametrize("likelihood", [Cumulative(), Cumulative(0.6), Davidson(0.8)])
@pytest.mark.parametrize("items", [12, 80])
def test_an_answer_is_left_out_as_by_a_fit_without_it(likelihood: Any, items: int) -> None:
    features, answers, _ = judged_twice_then_again(items, items, 60, 40, getattr(likelihood, "tie", 0.6))
    model = Hybrid(1.0, 4.0, likelihood)
    fit = model.fit(features, answers)
    found, moved, off = left_out(fit, answers, likelihood), [], []
    for answer in range(0, 160, 5):
        kept = np.arange(160) != answer
        pair = answers.left[[answer]], answers.right[[answer]]
        mean, variance = model.fit(features, answers.those(kept)).belief.differences(*pair)
        moved.append(float(fit.belief.differences(*pair)[0][0] - mean[0]))
        off.append(float(found.margin[answer] - mean[0]))
        assert found.variance[answer] == pytest.approx(variance[0], rel=0.15)
    assert np.sqrt(np.mean(np.square(off))) < 0.05 * np.sqrt(np.mean(np.square(moved)))
    towards = np.sign(moved)
    assert abs(np.mean(towards * off)) < 0.02 * np.mean(np.abs(moved)), "to neither side"


def test_where_no_other_answer_tells_of_a_pair_nothing_is_known_of_it() -> None:
    """A tie and a win, of items that are in no other pair: without the win there is the tie alone, and 0."""
    left, right = np.repeat(np.arange(0, 20, 2), 2), np.repeat(np.arange(1, 20, 2), 2)
    answers = Answers(left, right, np.tile([0.5, 1.0], 10), np.zeros(20, dtype=np.int64), np.ones(20))
    for likelihood in (Cumulative(), Cumulative(0.5)):
        found = left_out_by(Hybrid(1.0, 4.0, likelihood), np.empty((20, 0)), answers)
        np.testing.assert_allclose(found.margin[1::2], 0.0, atol=1e-8)
        assert (found.margin[::2] > 0.5).all()


@pytest.mark.parametrize("columns", [0, 3])
def test_of_many_items_it_is_as_by_the_exact_covariance(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    features, answers, _ = judged_twice_then_again(3, 2000, 3000, 500, 0.5, columns)
    model = Hybrid(1.0, 2.0, Cumulative(0.5))
    fit = model.fit(features, answers)
    exact = fit.belief.differences(answers.left, answers.right)[1]
    found = fit.covariance.compared_pairs(answers.left, answers.right)
    np.testing.assert_allclose(found, exact, rtol=0.06)  # what comes back around rings of pairs is left out
    assert abs(np.mean(found / exact) - 1.0) < 1e-3
    monkeypatch.setattr("ordinate.learning.models.hybrid._WHOLE", 10_000)
    expected = left_out(fit, answers, model.likelihood)
    monkeypatch.undo()
    for one in (model, FactoredHybrid(1.0, 2.0, model.likelihood)):
        by_messages = left_out_by(one, features, answers)
        np.testing.assert_allclose(by_messages.margin, expected.margin, atol=0.03)
    if columns:
        blocks = InBlocks(FactoredHybrid(1.0, 2.0, model.likelihood), (1, 2), (1.0, 1.0))
        np.testing.assert_array_equal(left_out_by(blocks, features, answers).margin, by_messages.margin)


@pytest.mark.parametrize("items", [300, 1800])
@pytest.mark.parametrize("tie", [0.0, 0.6])
def test_who_answers_what_models_answered_before_is_not_taken_for_a_coin(items: int, tie: float) -> None:
    """Nor are two equal models told apart. Of 1,800 items and a covariance without cross terms, the person was a coin
    with 99 %; with ties, one of the models weighed twice as much as the other."""
    for seed in range(3):
        features, answers, who = judged_twice_then_again(seed, items, 400, 240, tie, 0)
        fit = Fit(FactoredHybrid(1.0, 4.0, Cumulative(tie)), features)
        found, _ = sharpness(fit, answers, who, np.ones(3, dtype=np.bool_))
        assert (found.coin < 0.05).all()
        assert 0.6 < found.weight[0] / found.weight[1] < 1.6
        assert found.weight[2] > 0.5
    coins = answers._replace(
        outcome=np.where(who == 2, np.random.default_rng(5).integers(0, 2, len(who)), answers.outcome)
    )
    assert sharpness(fit, coins, who, np.ones(3, dtype=np.bool_))[0].coin[2] > 0.5


def test_leaving_out_takes_time_that_grows_with_the_answers_even_where_all_are_of_one_pair() -> None:
    rng = np.random.default_rng(0)
    chance = expit(1.0)
    answers = Answers(
        np.zeros(20_000, dtype=np.int64),
        np.ones(20_000, dtype=np.int64),
        (rng.random(20_000) < chance).astype(float),
        np.zeros(20_000, dtype=np.int64),
    )
    found = left_out_by(Hybrid(1.0, 1.0, Cumulative()), np.empty((2, 0)), answers)
    np.testing.assert_allclose(expit(found.margin), answers.outcome.mean(), atol=0.01)
