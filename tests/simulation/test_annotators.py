import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.simulation.annotators import LogisticAnnotators, RecordedAnnotators, _mix

MIRROR = {"left": "right", "right": "left", "tie": "tie"}


def pairs_of(annotators):
    pool = annotators.pool()
    return set(zip(pool.left.tolist(), pool.right.tolist(), strict=True))


@pytest.mark.parametrize(("difference", "noise"), [(0.0, 1.0), (1.0, 1.0), (-2.0, 0.5), (3.0, 0.5)])
def test_logistic_answers_come_with_the_stated_probability(difference, noise):
    annotators = LogisticAnnotators(np.array([difference, 0.0]), noise, seed=1)
    expected = 1 / (1 + np.exp(-noise * difference))
    assert annotators.probability(0, 1) == pytest.approx(expected, abs=1e-12)
    answers = 20_000
    share = sum(annotators.answer(0, 1) == "left" for _ in range(answers)) / answers
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / answers))


def test_the_numbers_are_those_of_splitmix64():
    """Its first outputs from seed 0, as published with it."""
    assert [_mix(0), _mix(0x9E3779B97F4A7C15)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_the_uniform_numbers_behind_different_pairs_and_seeds_are_independent():
    """Coin flips over many pairs and seeds: half each way, and neighbours uncorrelated."""
    n = 150
    scores = np.zeros(n)
    flips = np.array(
        [
            [annotators.answer(i, j) == "left" for i in range(n) for j in range(i)]
            for annotators in (LogisticAnnotators(scores, seed=seed) for seed in range(6))
        ]
    )
    assert flips.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(flips.size))
    bound = 4 / np.sqrt(flips.shape[1])
    assert np.abs(np.corrcoef(flips) - np.eye(6)).max() < bound
    assert abs(np.corrcoef(flips[0, 1:], flips[0, :-1])[0, 1]) < bound


def test_extreme_scores_neither_overflow_nor_warn():
    annotators = LogisticAnnotators(np.array([1e6, -1e6]))
    assert annotators.answer(0, 1) == "left"
    assert annotators.answer(1, 0) == "right"
    assert annotators.probability(1, 0) == 0.0


def logistic(seed=0):
    return LogisticAnnotators(np.random.default_rng(5).standard_normal(8), seed=seed)


def recorded(seed=0):
    rng = np.random.default_rng(6)
    items = Items(ids=[str(k) for k in range(8)])
    listed = []
    for _ in range(400):
        left, right = rng.choice(8, 2, replace=False)
        listed.append(Comparison(str(left), str(right), rng.choice(["left", "right", "tie"], p=[0.45, 0.45, 0.1])))
    return RecordedAnnotators(listed, items, seed)


@pytest.mark.parametrize("crowd", [logistic, recorded])
def test_the_kth_answer_to_a_pair_depends_on_nothing_else(crowd):
    """Two crowds asked in another order and on other sides say the same about each pair."""
    rng = np.random.default_rng(7)
    asked = [tuple(pair) for pair in np.repeat([(i, j) for i in range(8) for j in range(i)], 3, axis=0).tolist()]

    def answers(order, swap):
        annotators = crowd()
        said: dict[tuple[int, ...], list[str]] = {}
        for place, flip in zip(order, swap, strict=True):
            i, j = asked[place]
            answer = MIRROR[annotators.answer(j, i)] if flip else annotators.answer(i, j)
            said.setdefault((i, j), []).append(answer)
        return said

    first = answers(range(len(asked)), [False] * len(asked))
    second = answers(rng.permutation(len(asked)), rng.random(len(asked)) < 0.5)
    assert first == second


@pytest.mark.parametrize("crowd", [logistic, recorded])
def test_another_seed_gives_other_answers(crowd):
    one, two = crowd(seed=0), crowd(seed=1)
    asked = [(i, j) for i in range(8) for j in range(i)] * 3
    assert [one.answer(*pair) for pair in asked] != [two.answer(*pair) for pair in asked]


def test_recorded_answers_are_used_once_and_then_leave_the_pool():
    items = Items(ids=["a", "b", "c"])
    annotators = RecordedAnnotators(
        [Comparison("b", "a", "left"), Comparison("a", "b", "left"), Comparison("c", "b", "tie")], items
    )
    assert len(annotators) == 3
    assert pairs_of(annotators) == {(0, 1), (1, 2)}
    assert {annotators.answer(0, 1), annotators.answer(0, 1)} == {"left", "right"}
    assert pairs_of(annotators) == {(1, 2)}
    with pytest.raises(LookupError):
        annotators.answer(1, 0)
    with pytest.raises(LookupError):
        annotators.answer(0, 2)
    assert annotators.answer(1, 2) == "tie"
    assert annotators.pool().size == len(annotators) == 0


def test_all_recorded_answers_come_back_as_they_were_given():
    annotators = recorded()
    count = len(annotators)
    said = []
    while annotators.pool().size:
        left, right = int(annotators.pool().left[-1]), int(annotators.pool().right[-1])
        said.append(annotators.answer(right, left))
    assert len(said) == count == 400
    assert 20 < said.count("tie") < 60


def test_the_largest_noise_levels_leave_equal_scores_a_coin_flip():
    crowd = LogisticAnnotators(np.array([1.0, 1.0, 2.0]), 1e308)
    assert (crowd.probability(0, 1), crowd.probability(0, 2), crowd.probability(2, 0)) == (0.5, 0.0, 1.0)
