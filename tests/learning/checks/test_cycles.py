"""Circular triads, against trying all sets of three items, and against Kendall's formula."""

from itertools import combinations

import numpy as np
import pytest

from ordinate.learning.checks import cycles
from ordinate.learning.checks.cycles import circular, triads_of
from ordinate.learning.models import Answers


@pytest.mark.parametrize("seed", range(20))
def test_triads_are_all_sets_of_three_compared_items(seed):
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in combinations(range(8), 2) if rng.random() < 0.6]
    left, right = np.array(pairs).T
    ahead = rng.choice(np.array([-1, 0, 1], dtype=np.int8), (len(pairs), 3))
    place = {pair: number for number, pair in enumerate(pairs)}
    expected = [
        (place[a, b], place[b, c], place[a, c])
        for a, b, c in combinations(range(8), 3)
        if {(a, b), (b, c), (a, c)} <= set(pairs)
    ]
    triads = triads_of(left, right, 8, rng)
    assert sorted(map(tuple, triads.tolist())) == sorted(expected)
    for study, found in enumerate(circular(triads, ahead)):
        turns = [tuple(ahead[list(triad), study]) for triad in expected]
        assert found == sum(turn in ((1, 1, -1), (-1, -1, 1)) for turn in turns)


def test_of_a_tournament_they_are_as_many_as_kendall_counts():
    rng = np.random.default_rng(1)
    left, right = np.array(list(combinations(range(15), 2))).T
    ahead = rng.choice(np.array([-1, 1], dtype=np.int8), len(left))
    wins = np.bincount(left, ahead > 0, 15) + np.bincount(right, ahead < 0, 15)
    expected = 15 * 14 * 13 / 6 - (wins * (wins - 1) / 2).sum()
    assert circular(triads_of(left, right, 15, rng), ahead[:, None]) == [expected]


def test_of_many_triads_those_of_a_part_of_the_items_are_taken():
    left, right = np.array(list(combinations(range(60), 2))).T
    triads = triads_of(left, right, 60, np.random.default_rng(0), most=1000)
    assert 100 < len(triads) <= 1000


def test_answers_of_one_order_have_no_more_circles_than_chance(data):
    found = cycles.check(data(15, 400))
    assert found.state == "passed"
    assert found.value is not None


def test_people_who_judge_by_three_things_in_turn_go_in_circles(data):
    """Item i is preferred to i + 1, ..., i + 7 (modulo 15): every score is the same."""
    left, right = np.array(list(combinations(range(15), 2))).T
    answers = Answers(left, right, ((right - left) % 15 <= 7).astype(float))
    found = cycles.check(data(15, 0, answers=answers))
    assert found.state == "failed"
    assert found.value == 15 * 14 * 13 / 6 - 15 * 7 * 6 / 2


def test_few_triads_say_nothing(data):
    assert cycles.check(data(40, 20)).state == "not run"
