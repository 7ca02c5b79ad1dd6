"""Parts, bridges and strong parts of the comparison graph, against leaving out each pair and following every path."""

import numpy as np
import pytest

from ordinate.learning.checks import bridged, connected, separated
from ordinate.learning.checks.graph import beside_the_largest, bridges, parts, strong_parts
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual


def reached(items, edges):
    """(n, n) which item leads to which, by repeated squaring."""
    found = np.eye(items, dtype=bool)
    for one, other in edges:
        found[one, other] = True
    for _ in range(items):
        found = found @ found
    return found


def sparse_graph(seed):
    rng = np.random.default_rng(seed)
    items = int(rng.integers(2, 9))
    pairs = [(i, j) for i in range(items) for j in range(i + 1, items)]
    kept = [pair for pair in pairs if rng.random() < 0.3]
    return items, np.array(kept, dtype=np.int64).reshape(-1, 2).T, rng


@pytest.mark.parametrize("seed", range(40))
def test_parts_are_what_paths_connect_and_the_largest_of_a_group_comes_first(seed):
    items, (left, right), rng = sparse_graph(seed)
    group = np.zeros(items, dtype=np.int64)
    out = rng.integers(0, items)
    group[out] = -1
    inside = (left != out) & (right != out)
    left, right = left[inside], right[inside]
    number = parts(left, right, group)
    both = reached(items, [*zip(left, right, strict=True), *zip(right, left, strict=True)])
    used = np.flatnonzero(group >= 0)
    assert number[out] == -1
    assert ((number[used][:, None] == number[used]) == both[np.ix_(used, used)]).all()
    size = both[used].sum(axis=1)
    assert (number == 0).sum() == size.max()
    assert len(beside_the_largest(number, group)) == len(used) - size.max()


def test_each_group_has_a_largest_part_of_its_own():
    group = np.array([0, 0, 0, 1, 1, 1, 1])
    number = parts(np.array([0, 3, 4]), np.array([1, 4, 5]), group)
    assert beside_the_largest(number, group).tolist() == [2, 6]


@pytest.mark.parametrize("seed", range(60))
def test_a_bridge_is_a_pair_without_which_a_part_falls_in_two(seed):
    items, (left, right), _ = sparse_graph(seed)
    whole = np.zeros(items, dtype=np.int64)
    before = parts(left, right, whole).max()
    expected = {}
    for pair in range(len(left)):
        number = parts(np.delete(left, pair), np.delete(right, pair), whole)
        if number.max() > before:
            sizes = [(number == number[end]).sum() for end in (left[pair], right[pair])]
            expected[frozenset((int(left[pair]), int(right[pair])))] = min(sizes)
    found = bridges(left, right, items)
    assert {frozenset((int(a), int(b))): size for a, b, size in zip(*found, strict=True)} == expected


@pytest.mark.parametrize("seed", range(40))
def test_strong_parts_are_of_items_that_lead_to_each_other(seed):
    items, (left, right), rng = sparse_graph(seed)
    outcome = rng.choice([0.0, 0.5, 1.0], len(left))
    edges = [(i, j) for i, j, y in zip(left, right, outcome, strict=True) if y > 0.0]
    edges += [(j, i) for i, j, y in zip(left, right, outcome, strict=True) if y < 1.0]
    leads = reached(items, edges)
    number = strong_parts(left, right, outcome, items)
    assert ((number[:, None] == number) == (leads & leads.T)).all()


def answered(left, right, outcome=None):
    outcome = np.ones(len(left)) if outcome is None else outcome
    return Answers(np.array(left), np.array(right), np.array(outcome, dtype=float))


def test_items_that_no_answers_connect_are_named(data):
    found = connected.check(data(6, 0, answers=answered([0, 1, 3], [1, 2, 4])))
    assert found.state == "failed"
    assert found.value == 3
    assert "3 of 6 items" in found.found
    assert "1 of them was never compared" in found.found
    assert "'i3', 'i4', 'i5'" in found.advice
    assert connected.check(data(3, 0, answers=answered([0, 1], [1, 2]))).state == "passed"


def test_a_pair_that_alone_connects_several_items_is_named(data):
    two_triangles = answered([0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3])
    found = bridged.check(data(6, 0, answers=two_triangles))
    assert found.state == "failed"
    assert "'i2' and 'i3', connect 3 items" in found.found
    path = bridged.check(data(3, 0, answers=answered([0, 1], [1, 2])))
    assert path.state == "passed", "each end is a single item"


def test_answers_that_say_nothing_connect_nothing_more_firmly(data):
    answers = answered([0, 1, 0, 3, 4, 3, 2, 1], [1, 2, 2, 4, 5, 5, 3, 4])
    assert bridged.check(data(6, 0, answers=answers)).state == "passed"
    coin = answers._replace(sharpness=np.array([1.0] * 7 + [0.0]))
    assert "'i2' and 'i3', connect 3 items" in bridged.check(data(6, 0, answers=coin)).found


def test_features_alone_connect_the_items_of_a_contextual_study(data):
    given = data(6, 0, answers=answered([0, 3], [1, 4]), model=Contextual(1.0))
    assert {check(given).state for check in (connected.check, bridged.check, separated.check)} == {"not run"}


def test_items_that_always_won_are_counted(data):
    circle = answered([0, 1, 2, 3, 0, 0], [1, 2, 0, 0, 4, 5])
    found = separated.check(data(6, 0, answers=circle))
    assert found.value == pytest.approx(3 / 6)
    assert found.threshold == pytest.approx(2 / 6), "a first and a last one are to be expected"
    assert found.state == "failed"
    assert "Of 6 compared items, 1 won every comparison and 2 lost every one." in found.found
    assert "The items fall into 4 sets" in found.found
    assert "'i3', 'i4', 'i5'" in found.advice
    assert separated.check(data(3, 0, answers=answered([0, 1, 2], [1, 2, 0]))).state == "passed"


def test_groups_that_nothing_compares_are_no_sets_of_unknown_distance(data):
    """Each group has an order of its own."""
    two_circles = answered([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    group = np.array([0, 0, 0, 1, 1, 1])
    assert "sets" not in separated.check(data(6, 0, answers=two_circles, group=group)).found
    assert "The items fall into 2 sets, and" in separated.check(data(6, 0, answers=two_circles)).found
    circle_and_path = answered([0, 1, 2, 3, 4], [1, 2, 0, 4, 5])
    assert (
        "into 4 sets within the 2 groups, and"
        in separated.check(data(6, 0, answers=circle_and_path, group=group)).found
    )
