"""Plans: the worlds that are simulated, samples of many items, and budgets read off and continued."""

from typing import Any

import numpy as np
import pytest
from scipy.special import logit

from ordinate.data.items import Items
from ordinate.data.scaling import FeatureMap
from ordinate.errors import InvalidInput
from ordinate.learning.forecast import Decline
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.planning import (
    MOST_ITEMS,
    Budgets,
    DrawnTask,
    World,
    _in_blocks,
    _sample,
    plan,
    variance_of,
    worlds,
)

FEATURES = np.random.default_rng(0).normal(size=(12, 2))
ITEMS = Items([f"item {row:02}" for row in range(12)], FEATURES)


@pytest.mark.parametrize("correct", [0.6, 0.8, 0.95])
def test_people_answer_random_pairs_correctly_as_often_as_stated(correct):
    rng = np.random.default_rng(1)
    difference = rng.normal(0.0, np.sqrt(2.0 * variance_of(correct)), 200_000)
    assert (1.0 / (1.0 + np.exp(-np.abs(difference)))).mean() == pytest.approx(correct, abs=0.002)


@pytest.mark.parametrize("correct", [0.5, 1.0, 80.0])
def test_people_who_toss_coins_or_never_err_cannot_be_planned_for(correct):
    with pytest.raises(InvalidInput, match="correct answers must be from"):
        worlds(ITEMS, correct)


def test_the_worlds_differ_in_what_the_features_say_and_not_in_the_variance():
    made = worlds(ITEMS, 0.8)
    total = variance_of(0.8)
    assert [world.coefficient_variance for world in made] == pytest.approx([total, total / 2, 0.0])
    assert [world.coefficient_variance + world.item_variance for world in made] == pytest.approx([total] * 3)
    assert worlds(Items(ITEMS.ids), 0.8) == [World("no features", 0.0, total)]


@pytest.mark.slow
@pytest.mark.parametrize("group", [None, ["x", "y"] * 6])
def test_true_scores_have_the_variance_of_their_world_in_every_run(group):
    """Also where two coefficients make them, which by chance would often be small."""
    scaled = FeatureMap.fit(FEATURES, False, "robust", np.ones(12, dtype=bool)).transform(FEATURES)
    items = Items(ITEMS.ids, FEATURES, group=group)
    for world in worlds(items, 0.8):
        shares = []
        for seed in range(60):
            people = DrawnTask(items, scaled, world).build(seed).annotators
            assert isinstance(people, LogisticAnnotators)
            rows = range(0, 12, 1 if group is None else 2)
            margins = logit([people.probability(0, row) for row in rows])
            if "half" not in world.name and group is None:
                assert np.var(margins) == pytest.approx(variance_of(0.8))
            shares.append(np.var(margins))
        assert np.mean(shares) == pytest.approx(variance_of(0.8), rel=0.2)


def test_blocks_of_a_pilot_keep_their_shares() -> None:
    scaled = np.random.default_rng(2).normal(size=(400, 4))
    items = Items([str(row) for row in range(400)])
    world = World("pilot", 1.0, 0.0, (1.0, 1e-6))
    truth = DrawnTask(items, _in_blocks(scaled, (2, 2), world), world).build(0).annotators
    assert isinstance(truth, LogisticAnnotators)
    margins = logit([truth.probability(0, row) for row in range(400)])
    fit, *_ = np.linalg.lstsq(scaled[:, :2] - scaled[0, :2], margins, rcond=None)
    np.testing.assert_allclose((scaled[:, :2] - scaled[0, :2]) @ fit, margins, atol=0.02)


def test_a_plan_has_every_world_and_falls_with_the_answers():
    made = plan(ITEMS, worlds(ITEMS, 0.9), runs=2, most=2)
    assert (made.items, made.simulated, made.answers[-1]) == (12, 12, 24)
    assert list(made.errors) == ["features say everything", "features say half of it", "features say nothing"]
    for errors in made.errors.values():
        assert errors[0] == pytest.approx(0.5, abs=0.2)
        assert errors[-1] < errors[0]
    assert len(made.rows["error"]) == 3 * 2 * len(made.answers)


def test_answers_to_a_sample_are_scaled_to_all_items():
    many = Items([str(row) for row in range(3 * MOST_ITEMS)])
    made = plan(many, worlds(many, 0.9), runs=1, most=1)
    assert (made.items, made.simulated) == (3 * MOST_ITEMS, MOST_ITEMS)
    assert made.answers[-1] == 3 * MOST_ITEMS


def test_a_sample_has_whole_groups_while_they_fit():
    group = [str(row // 70) for row in range(700)]
    taken = _sample(Items([str(row) for row in range(700)], group=group), np.random.default_rng(0))
    assert len(taken) == 140
    assert taken.group is not None
    assert {taken.group.count(one) for one in set(taken.group)} == {70}
    one_group = _sample(Items([str(row) for row in range(700)], group=["all"] * 700), np.random.default_rng(0))
    assert len(one_group) == MOST_ITEMS


def test_budgets_are_read_off_the_mean_curve_and_continued_beyond_it():
    rows: dict[str, list[Any]] = {
        "world": ["one"] * 4,
        "seed": [0, 0, 1, 1],
        "answers": [100, 200, 100, 200],
        "error": [0.3, 0.2, 0.3, 0.1],
    }
    made = Budgets(10, 10, 2, np.array([100, 200]), {"one": np.array([0.3, 0.15])}, rows)
    answers, beyond = made.needed(0.2)["one"]
    assert not beyond
    assert answers == pytest.approx(100 + 100 * 2 / 3)
    more = Decline.of([(100, 0.3), (200, 0.15)], 0.0).answers_for(0.05).estimate
    assert made.needed(0.05)["one"] == (200 + more, True)
