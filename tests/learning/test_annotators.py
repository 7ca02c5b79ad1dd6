"""Sharpness and coins: against fits without the answer, integrals written out, loops, and simulated people."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from scipy.stats import rankdata

from ordinate.learning.annotators import (
    Alone,
    Fit,
    by_own_answers,
    may_be_copies,
    repeats,
    sharpness,
    stored_again,
    with_others,
    with_themselves,
    without_itself,
)
from ordinate.learning.coin_gate import people_better_than_coins
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid

MODEL = Hybrid(likelihood=Cumulative())


def world(
    seed: int, each: int, alpha: Any, items: int = 100, ties: float = 0.0, left: float = 0.0
) -> tuple[Any, Answers, Any, Any]:
    """Features, answers about random pairs, who gave each, and the true scores."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, 15)) / np.sqrt(15)
    truth = np.sqrt(2.0) * features @ rng.normal(size=15) + rng.normal(size=items)
    who = np.tile(np.arange(len(alpha)), each)
    one = rng.integers(0, items, len(who))
    other = (one + rng.integers(1, items, len(who))) % items
    won = (rng.random(len(who)) < expit(np.asarray(alpha)[who] * (truth[one] - truth[other]) + left)).astype(float)
    won[rng.random(len(who)) < ties] = 0.5
    return features, Answers(one, other, won, np.zeros(len(who), dtype=np.int64)), who, truth


def named(people: int) -> Any:
    return np.ones(people, dtype=np.bool_)


def test_an_answer_is_taken_out_as_by_a_fit_without_it() -> None:
    features, answers, who, _ = world(0, 40, [1.5, 0.7, 1.0], items=25)
    alpha = np.array([1.5, 0.7, 1.0])[who]
    found = without_itself(Fit(MODEL, features), answers, alpha)
    full = MODEL.fit(features, answers._replace(sharpness=alpha)).belief
    for place in range(0, len(who), 7):
        kept = np.arange(len(who)) != place
        belief = MODEL.fit(features, answers._replace(sharpness=alpha).those(kept)).belief
        pair = answers.left[place : place + 1], answers.right[place : place + 1]
        mean, variance = belief.differences(*pair)
        moved = abs(float(full.differences(*pair)[0][0] - mean[0]))
        assert found.mean[place] == pytest.approx(mean[0], abs=0.1 * moved + 0.01)
        assert found.variance[place] == pytest.approx(variance[0], rel=0.1)


def test_posteriors_of_sharpness_and_coins_are_those_of_integrals() -> None:
    rng = np.random.default_rng(1)
    who = np.repeat([0, 1, 2], [10, 30, 30])
    alone = Alone(rng.normal(size=70), rng.uniform(0.1, 2.0, 70))
    right = rng.random(70) < np.array([0.6, 0.8, 0.5])[who]
    answers = Answers(np.zeros(70, int), np.ones(70, int), (right == (alone.mean > 0)).astype(float))
    found = by_own_answers(answers, who, alone, named(3))

    def bets(log_alpha: Any) -> Any:
        """(3, g) the likelihood of each person's answers at these log alpha (g,), twice over for each answer."""
        alpha = np.exp(log_alpha)[:, None]
        margin = alpha * alone.mean / np.sqrt(1 + np.pi * alpha**2 * alone.variance / 8)
        chance = 2 * expit((2 * answers.outcome - 1) * margin)
        return np.array([np.prod(chance[:, who == person], axis=1) for person in range(3)])

    grid = np.linspace(-5, 5, 2001)
    at, step = bets(grid), grid[1] - grid[0]
    shares, deviations = np.linspace(0.001, 0.8, 400), np.linspace(0.002, 0.6, 400)
    weight = stats.beta.pdf(shares, 1, 6)[:, None] * np.ones(400)
    densities = stats.norm.pdf(grid, 0, deviations[:, None])
    densities /= densities.sum(axis=1, keepdims=True) * step
    honest = at @ densities.T * step  # (3, tau)
    either = shares[:, None] + (1 - shares[:, None]) * honest[:, None, :]
    posterior = weight * either.prod(axis=0)
    posterior /= posterior.sum()
    for person in range(3):
        coin = float((posterior * shares[:, None] / either[person]).sum())
        assert found.coin[person] == pytest.approx(coin, abs=0.01)
        tau = (posterior * (1 - shares[:, None]) * honest[person] / either[person]).sum(axis=0)
        density = (tau / tau.sum() / honest[person]) @ densities * at[person]
        mean = float((np.exp(grid) * density).sum() * step)
        assert found.alpha[person] == pytest.approx(mean, rel=0.02)
        for level, quantile in ((0.05, found.low[person]), (0.95, found.high[person])):
            assert density[grid < np.log(quantile)].sum() * step == pytest.approx(level, abs=0.015)


@pytest.mark.slow
def test_a_third_of_coins_are_told_from_people_at_forty_answers_each() -> None:
    areas, errors = [], []
    for seed in range(20):
        alpha = np.exp(0.5 * np.random.default_rng([seed, 1]).normal(size=12))
        alpha[:4] = 0.0
        features, answers, who, truth = world(seed, 40, alpha)
        found, _ = sharpness(Fit(MODEL, features), answers, who, named(12))
        ranks = rankdata(found.coin)
        areas.append((ranks[:4].sum() - 10) / 32)
        one, other = np.triu_indices(100, 1)
        wrong = []
        for given in (answers, answers.those(who >= 4), answers._replace(sharpness=found.weight[who])):
            scores = MODEL.fit(features, given).mean
            wrong.append(np.mean(np.sign(scores[one] - scores[other]) != np.sign(truth[one] - truth[other])))
        errors.append(wrong)
    assert np.mean(areas) >= 0.95
    kept, removed, weighted = np.mean(errors, axis=0)
    assert weighted < kept - 0.02
    assert weighted < removed + 0.01


def test_weights_have_the_mean_one_and_nobody_without_a_name_is_weighed() -> None:
    features, answers, who, _ = world(3, 60, [3.0, 1.5, 1.5, 1.0])
    people = np.array([True, True, False, True])
    found, _ = sharpness(Fit(MODEL, features), answers, who, people)
    assert found.weight[2] == 1.0
    assert found.weight[0] > found.weight[3]
    assert np.log(found.weight[people]).mean() == pytest.approx(0.0, abs=0.06)
    steps = np.log(found.weight[people]) / 0.05
    assert steps == pytest.approx(np.rint(steps))  # on a grid, so that machines agree


def test_ties_say_nothing_of_sharpness_but_sides_do_not_either() -> None:
    features, answers, who, _ = world(4, 50, [1.0, 1.0, 0.0])
    tied = answers._replace(outcome=np.where(who == 2, 0.5, answers.outcome))
    found, _ = sharpness(Fit(MODEL, features), tied, who, named(3))
    # Without a decided answer, of the same odds as the others would have, were they not known.
    assert 0.05 < found.coin[2] < 0.2
    swapped = answers._replace(left=answers.right, right=answers.left, outcome=1.0 - answers.outcome)
    one, _ = sharpness(Fit(MODEL, features), answers, who, named(3))
    other, _ = sharpness(Fit(MODEL, features), swapped, who, named(3))
    np.testing.assert_allclose(one.coin, other.coin, atol=1e-6)


def test_repeated_answers_of_one_person_share_one_answer() -> None:
    who = np.array([0, 0, 0, 1, 1, 2, 2])
    pairs = np.array([7, 7, 8, 7, 7, 9, 9]) + (5 << 32)
    won = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    found = repeats(won, who, pairs, np.array([True, True, False]))
    assert found is not None
    assert found.correlation == 1.0  # nothing tells
    np.testing.assert_allclose(found.share, [0.5, 0.5, 1, 0.5, 0.5, 1, 1])
    assert found.first.tolist() == [True, False, True, True, False, True, True]
    assert repeats(won, who, np.arange(7), named(3)) is None
    assert repeats(won, np.zeros(7, int), pairs, named(1)) is None


@pytest.mark.parametrize(("persons", "times", "at_most"), [(2, 150, 0.1), (5, 10, 0.35)])
def test_answers_of_one_person_to_a_pair_are_several_where_they_are_no_more_alike_than_those_of_others(
    persons: int, times: int, at_most: float
) -> None:
    """As battles of models about different prompts are; stored again, each is still one answer."""
    rng = np.random.default_rng(3)
    pairs = np.repeat(np.arange(10), persons * times)
    who = np.tile(np.repeat(np.arange(persons), times), 10)
    battles = (rng.random(len(pairs)) < rng.uniform(0.3, 0.9, 10)[pairs]).astype(float)
    found = repeats(battles, who, pairs, named(persons))
    assert found is not None
    assert found.correlation < at_most
    np.testing.assert_allclose(found.share, 1.0 / (1.0 + (times - 1) * found.correlation))
    first = found.first.nonzero()[0]
    again = np.repeat(battles[first], times)
    copies = repeats(again, np.repeat(who[first], times), np.repeat(pairs[first], times), named(persons))
    assert copies is not None
    assert copies.correlation == 1.0


def test_the_correlation_of_repeats_covers_the_true_one() -> None:
    rng, above = np.random.default_rng(4), 0
    for _ in range(200):
        # 20 pairs, of each 4 people with 6 answers, whose own chances vary about the pair's: beta, correlation 0.2.
        chance = rng.beta(0.5 * 4.0, 0.5 * 4.0, 80)
        won = (rng.random((80, 6)) < chance[:, None]).astype(float).ravel()
        found = repeats(won, np.tile(np.repeat(np.arange(4), 6), 20), np.repeat(np.arange(20), 24), named(4))
        assert found is not None
        above += found.correlation >= 0.2
    assert 0.8 < above / 200 <= 1.0


def given(who: list[int], won: list[float], right: list[int]) -> tuple[Answers, np.ndarray]:
    """Answers about item 0 and others."""
    return Answers(np.zeros(len(who), int), np.array(right), np.array(won)), np.array(who)


def test_answers_are_stored_again_where_each_of_a_person_is_there_equally_often() -> None:
    # Person 0: all twice, the second pair with both outcomes; person 1: all three times but one; person 2: once.
    who = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    won = [1, 0.5, 0, 0, 1, 0.5, 1, 1, 1, 0, 1, 0]
    found = stored_again(*given(who, won, [1, 2, 2, 2, 1, 2, 1, 1, 1, 2, 1, 1]))
    assert found.nonzero()[0].tolist() == [3, 4, 5]
    one, of_one = given([0], [1], [1])
    assert stored_again(one.those(slice(0)), of_one[:0]).tolist() == []


def test_a_sequence_that_was_there_before_is_stored_again() -> None:
    rng = np.random.default_rng(9)
    answers = Answers(rng.integers(0, 5, 100), rng.integers(5, 10, 100), rng.integers(0, 2, 100).astype(float))
    # 19 of them, 40 of them and 30 more of the first, then an export of all that has 10 new ones.
    rows = np.concatenate([np.arange(80), np.arange(19), [90], np.arange(40), np.arange(10, 40), np.arange(100)])
    new = np.concatenate([np.arange(100), 170 + np.arange(80, 100)])
    found = stored_again(answers.those(rows), np.zeros(len(rows), int))
    np.testing.assert_array_equal(np.flatnonzero(~found), new)


def test_the_counts_of_a_table_are_not_stored_again() -> None:
    won = np.repeat([1.0, 0.0, 1.0, 0.0], [50, 31, 70, 44])
    answers, who = given([0] * 195, won.tolist(), np.repeat([1, 2], [81, 114]).tolist())
    assert not stored_again(answers, who).any()


@pytest.mark.parametrize("same", [17, 18])
def test_answers_to_one_pair_may_be_copies_where_nearly_all_are_the_same(same: int) -> None:
    won = [1.0] * (same + 1) + [0.0] * (20 - same) + [1.0]
    answers, who = given([0] * 22, won, [1] * 21 + [2])  # the last pair once, so that not all was stored twice
    asked = np.arange(22) < 1
    for name in (True, False):
        for recorded in (~asked, np.ones(22, bool)):
            found = may_be_copies(answers, who, np.array([name]), recorded, None)
            again = recorded & (np.arange(22) > 0) & (np.arange(22) < 21)
            np.testing.assert_array_equal(found, again & (same == 18))


def test_repeats_of_one_among_several_people_are_bet_on_unless_they_are_correlated_and_alike() -> None:
    rng, who = np.random.default_rng(8), np.tile(np.repeat([0, 1], 150), 10)
    right, first = np.repeat(np.arange(1, 11), 300), np.arange(3000) % 150 == 0
    chance = rng.uniform(0.9, 0.99, 10)[right - 1]
    battles = (rng.random(3000) < chance).astype(float)
    alike, differing = (
        np.where(rng.random(3000) < often, np.repeat(rng.integers(0, 2, 20), 150), battles) for often in (0.97, 0.6)
    )
    for outcome, bet in ((battles, np.ones(3000, bool)), (alike, first), (differing, np.ones(3000, bool))):
        answers, both = Answers(np.zeros(3000, int), right, outcome), named(2)
        repeated = repeats(outcome, who, right, both)
        assert repeated is not None
        assert (repeated.correlation > 0.1) == (outcome is not battles)
        np.testing.assert_array_equal(~may_be_copies(answers, who, both, np.ones(3000, bool), repeated), bet)


def test_agreement_is_that_of_loops() -> None:
    rng = np.random.default_rng(7)
    who, pairs, won = rng.integers(0, 4, 300), rng.integers(0, 15, 300), rng.choice([0.0, 0.5, 1.0], 300)
    same, again = np.zeros(4, int), np.zeros(4, int)
    for at in range(300):
        earlier = [k for k in range(at) if who[k] == who[at] and pairs[k] == pairs[at]]
        if earlier:
            again[who[at]] += 1
            same[who[at]] += won[earlier[-1]] == won[at]
    np.testing.assert_array_equal(with_themselves(won, who, pairs, 4), (same, again))
    same, others = np.zeros(4, int), np.zeros(4, int)
    for at in range(300):
        for k in range(300):
            if who[k] != who[at] and pairs[k] == pairs[at] and 0.5 not in (won[k], won[at]):
                others[who[at]] += 1
                same[who[at]] += won[k] == won[at]
    np.testing.assert_array_equal(with_others(won, who, pairs, 4), (same, others))


def test_bets_on_single_people_are_won_by_people_and_not_by_coins() -> None:
    honest = coins = 0
    for seed in range(15):
        features, answers, who, _ = world(seed, 100, [1.5, 1.5, 1.5, 0.0])
        won = people_better_than_coins(features, answers, who, 4)
        honest += int(won[:3].sum())
        coins += int(won[3])
    assert honest >= 40
    assert coins <= 2
