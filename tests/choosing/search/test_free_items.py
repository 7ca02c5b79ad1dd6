"""Among free items nearly all pairs tie; the choice is still the one that evaluating every pair gives."""

import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from ordinate.choosing.search import CurvaturePower, LazySearch, MonotoneUtility, best_scored
from ordinate.choosing.search.choice import item_priorities, pair_priority
from ordinate.choosing.search.free_items import highest_priority
from ordinate.choosing.utilities.bald import Information
from ordinate.data.arrays import Floats
from ordinate.data.pairs import AllPairs
from ordinate.learning.belief import pending, update
from ordinate.learning.models import Answers
from ordinate.learning.models.independent import Independent

UTILITIES: dict[str, MonotoneUtility] = {
    "norm-min": CurvaturePower(0),
    "guro": CurvaturePower(2),
    "bald": Information(),
    "guro with weights": CurvaturePower(2, np.ones(30)),
}


@given(
    name=st.sampled_from(list(UTILITIES)),
    n=st.integers(2, 30),
    groups=st.integers(1, 4),
    answers=st.integers(0, 20),
    masked=st.sampled_from([0.0, 0.1, 0.9]),
    waiting=st.integers(0, 3),
    seed=st.integers(0, 2**32),
)
def test_the_choice_is_that_of_brute_force(
    name: str, n: int, groups: int, answers: int, masked: float, waiting: int, seed: int
) -> None:
    rng, utility = np.random.default_rng(seed), UTILITIES[name]
    left = rng.integers(0, n, answers)
    right = (left + rng.integers(1, n, answers)) % n
    fit = Independent().fit(np.empty((n, 0)), Answers(left, right, rng.integers(0, 2, answers).astype(np.float64)))
    answered, search = fit.belief, LazySearch()
    group = rng.integers(-1 if groups > 1 else 0, groups, n)
    every, weights = AllPairs.of(group), np.ones(n)
    if utility.weights is not None:
        free = np.zeros(n, dtype=np.bool_) if answered.free is None else answered.free
        # Free items of a group have one weight, but for a mark now and then.
        weights = np.where(free, 10.0 ** rng.uniform(-4.0, 0.0, groups)[group], rng.uniform(1e-4, 1.0, n))
        weights[rng.random(n) < 0.1] = 1.0
        utility = CurvaturePower(2, weights)
    some = every.sample(every.size // 2, rng)
    for _ in range(5):
        belief = answered
        for _ in range(waiting):
            belief = pending(belief, tuple(rng.choice(n, 2, replace=False).tolist()))
        lacked = every.sample(int(masked * every.size), rng)
        pool = every.without(lacked.left, lacked.right)
        if not pool.size:
            continue
        number = int(rng.integers(2**32))
        for one in (pool, some.without(lacked.left, lacked.right)):
            if not one.size:
                continue
            choice = search.best(answered, belief, one, utility, np.random.default_rng(number))
            plain = best_scored(
                one,
                lambda left, right, belief=belief: (  # type: ignore[misc]
                    utility(*belief.differences(left, right)) * (weights[left] * weights[right])
                ),
                np.random.default_rng(number),
            )
            assert {choice.left, choice.right} == {plain.left, plain.right}
            assert choice.utility == plain.utility
        answered = update(answered, choice.left, choice.right)


@given(n=st.integers(1, 12), share=st.sampled_from([0.0, 0.3, 0.9, 1.0]), seed=st.integers(0, 2**64 - 1))
def test_the_highest_priority_is_that_of_all_pairs(n: int, share: float, seed: int) -> None:
    rng, key = np.random.default_rng(seed), np.uint64(seed)
    first, second = np.triu_indices(n, 1)
    lacked = rng.random(len(first)) < share
    found = highest_priority(item_priorities(key, np.arange(n)), first[lacked], second[lacked])
    left = [
        (int(pair_priority(key, i, j)), {int(i), int(j)}) for i, j in zip(first[~lacked], second[~lacked], strict=True)
    ]
    assert (set(found) if found else None) == (max(left, key=lambda one: one[0])[1] if left else None)


def test_no_two_items_have_one_priority_and_each_pair_wins_as_often() -> None:
    assert len(np.unique(item_priorities(np.uint64(2**64 - 1), np.arange(100_000)))) == 100_000
    wins = np.zeros((5, 5))
    for seed in np.random.default_rng(0).integers(0, 2**64, 10_000, dtype=np.uint64):
        one, other = sorted(np.argsort(item_priorities(seed, np.arange(5)))[-2:])
        wins[one, other] += 1
    expected = 1_000.0
    # The 99.9 % quantile of chi-square with 9 degrees of freedom.
    assert np.square(wins[np.triu_indices(5, 1)] - expected).sum() / expected < 27.9


def test_items_are_free_until_they_are_compared_or_asked_about() -> None:
    one = Answers(np.array([1]), np.array([4]), np.ones(1))
    belief = Independent().fit(np.empty((9, 0)), one).belief
    asked = pending(update(belief, 2, 4), (8, 0))
    assert belief.free is not None
    assert asked.free is not None
    assert np.flatnonzero(~belief.free).tolist() == [1, 4]
    assert np.flatnonzero(~asked.free).tolist() == [0, 1, 2, 4, 8]


@pytest.mark.skipif(not hasattr(mmap, "MADV_NOHUGEPAGE"), reason="memory is asked for in small pages on Linux alone")
def test_the_covariance_of_free_items_takes_little_memory() -> None:
    def megabytes() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / 1e6

    answers, before = Answers(np.arange(50), np.arange(50, 100), np.ones(50)), megabytes()
    belief = Independent().fit(np.empty((8_000, 0)), answers).belief
    lost = 1.0 / (1.0 + np.exp(brentq(lambda margin: margin - 2.0 / (1.0 + np.exp(margin)), 0.0, 2.0)))
    weight = lost * (1.0 - lost)
    assert belief.variance[[0, 7_999]].tolist() == pytest.approx([1.0 - weight / (1.0 + 2.0 * weight), 1.0])
    assert megabytes() - before < 150  # in all it would be 512
    others = np.arange(100, 8_000)
    assert (belief.covariance(others[:50], others).sum(axis=1) == 1.0).all()
    assert megabytes() - before < 150, "what is only read takes none"


def test_most_pairs_are_never_evaluated() -> None:
    nothing = np.empty(0, dtype=np.int64)
    belief = Independent().fit(np.empty((500, 0)), Answers(nothing, nothing, np.empty(0))).belief
    search, pool, rng = LazySearch(), AllPairs.of(np.zeros(500, dtype=np.int64)), np.random.default_rng(0)
    for _ in range(20):
        choice = search.best(belief, belief, pool, CurvaturePower(2), rng)
        assert choice.pairs_evaluated < 0.02 * pool.size
        assert choice.utility == pytest.approx(2.0 / 16.0)
        belief = update(belief, choice.left, choice.right)


def test_of_a_list_too() -> None:
    nothing = np.empty(0, dtype=np.int64)
    belief = Independent().fit(np.empty((500, 0)), Answers(nothing, nothing, np.empty(0))).belief
    every, rng = AllPairs.of(np.zeros(500, dtype=np.int64)), np.random.default_rng(0)
    search, pool = LazySearch(), every.sample(20_000, rng)
    for _ in range(20):
        choice = search.best(belief, belief, pool, CurvaturePower(2), rng)
        assert choice.pairs_evaluated < 0.02 * pool.size
        belief = update(belief, choice.left, choice.right)


def test_groups_are_looked_at_together() -> None:
    class Counting(CurvaturePower):
        calls = 0

        def __call__(self, margin: Floats, variance: Floats) -> Floats:
            Counting.calls += 1
            return super().__call__(margin, variance)

    n = 3_000
    group = np.arange(n) // 6
    left = np.arange(0, n, 12)  # one answer in every other group
    fit = Independent().fit(np.empty((n, 0)), Answers(left, left + 1, np.ones(len(left))))
    choice = LazySearch().best(fit.belief, fit.belief, AllPairs.of(group), Counting(2), np.random.default_rng(0))
    assert group[choice.left] == group[choice.right]
    assert Counting.calls < 10
