"""The chosen pair against a look at every pair, on random problems of every shape, with ties, masks and groups."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.choosing.search import CurvaturePower, Utility, best_pair, best_scored
from ordinate.choosing.search.choice import BestSoFar, pair_priority, tie_floor
from ordinate.data.arrays import Floats
from ordinate.data.pairs import AllPairs, PairList
from ordinate.errors import PoolExhausted
from ordinate.learning.belief import Belief, update
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.belief.factored import FactoredBelief


def plain(margin: Floats, variance: Floats) -> Floats:
    """A utility without a compiled scan; negative far from m = 0."""
    return variance / (1.0 + variance) - 0.1 * np.abs(margin)


UTILITIES: dict[str, Utility] = {
    "norm-min": CurvaturePower(0),
    "guro": CurvaturePower(2),
    "guro with weights": CurvaturePower(2, 10.0 ** np.random.default_rng(0).uniform(-4.0, 0.0, 700)),
    "plain": plain,
}


def brute_force(belief: Belief, pairs: list[tuple[int, int]], utility: Utility, seed: np.uint64) -> tuple[int, int]:
    """Every pair in turn; of those that tie with the best, the one with the highest priority."""
    left, right = np.array(pairs).T.copy()
    margins, variances = belief.differences(left, right)
    values = np.array([utility(np.array([m]), np.array([v]))[0] for m, v in zip(margins, variances, strict=True)])
    if isinstance(utility, CurvaturePower) and utility.weights is not None:
        values *= [utility.weights[i] * utility.weights[j] for i, j in pairs]
    floor = tie_floor(values.max())
    tied = [pair for pair, value in zip(pairs, values, strict=True) if value >= floor]
    return max(tied, key=lambda pair: int(pair_priority(seed, *pair)))


def pair_priorities(seed: np.uint64, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return np.array([pair_priority(seed, i, j) for i, j in pairs], dtype=np.uint64)


def make_belief(rng: np.random.Generator, kind: str, n: int, spread: float, coarse: bool) -> Belief:
    def numbers(*shape: int) -> np.ndarray:
        drawn = rng.normal(size=shape)
        return np.round(drawn) if coarse else drawn  # coarse: many exact ties

    mean = spread * numbers(n)
    if kind == "dense":
        root = numbers(n, n)
        return DenseCovariance(root @ root.T / n).belief(mean)
    residual = np.abs(numbers(n)) if kind == "hybrid" else np.zeros(n)
    return FactoredBelief(mean, numbers(n, int(rng.integers(0, 6))), residual)


@settings(max_examples=300, deadline=None)
@given(
    kind=st.sampled_from(["dense", "contextual", "hybrid"]),
    n=st.integers(2, 40),
    groups=st.integers(1, 5),
    spread=st.sampled_from([0.0, 1.0, 20.0, 1000.0]),
    coarse=st.booleans(),
    name=st.sampled_from(list(UTILITIES)),
    masked=st.floats(0, 1),
    updates=st.integers(0, 4),
    seed=st.integers(0, 2**32),
)
def test_all_pairs_equal_brute_force(
    kind: str, n: int, groups: int, spread: float, coarse: bool, name: str, masked: float, updates: int, seed: int
) -> None:
    rng, utility = np.random.default_rng(seed), UTILITIES[name]
    belief = make_belief(rng, kind, n, spread, coarse)
    for _ in range(updates):
        i, j = rng.choice(n, 2, replace=False)
        belief = update(belief, int(i), int(j))
    group = rng.integers(-1, groups, n)
    every = [(i, j) for i in range(n) for j in range(i + 1, n) if group[i] == group[j] >= 0]
    gone = {pair for pair in every if rng.random() < masked}
    left = [pair for pair in every if pair not in gone]
    one, other = np.array(sorted(gone), dtype=np.int64).reshape(-1, 2).T
    pool = AllPairs.of(group).without(other, one)
    assert pool.size == len(left)
    if not left:
        with pytest.raises(PoolExhausted):
            best_pair(belief, pool, utility, np.random.default_rng(seed))
        return
    choice = best_pair(belief, pool, utility, np.random.default_rng(seed))
    priority = np.random.default_rng(seed).integers(0, 2**64, dtype=np.uint64)
    assert (choice.left, choice.right) == brute_force(belief, left, utility, priority)

    listed = rng.permutation(np.array(left))
    sides = rng.integers(0, 2, len(listed))
    among = PairList.of(listed[np.arange(len(listed)), sides].copy(), listed[np.arange(len(listed)), 1 - sides].copy())
    from_list = best_pair(belief, among, utility, np.random.default_rng(seed))
    assert {from_list.left, from_list.right} == {choice.left, choice.right}
    assert from_list.utility == choice.utility


@pytest.mark.parametrize("name", UTILITIES)
@pytest.mark.parametrize("kind", ["dense", "contextual", "hybrid"])
@pytest.mark.parametrize("n", [257, pytest.param(700, marks=pytest.mark.slow)])
def test_many_tiles_equal_brute_force(kind: str, n: int, name: str) -> None:
    rng, utility = np.random.default_rng(n), UTILITIES[name]
    belief = update(make_belief(rng, kind, n, 1.0, coarse=False), 3, n - 1)
    group = np.zeros(n, dtype=np.int64)
    every = list(zip(*(rows.tolist() for rows in np.triu_indices(n, 1)), strict=True))
    choice = best_pair(belief, AllPairs.of(group), utility, np.random.default_rng(1))
    priority = np.random.default_rng(1).integers(0, 2**64, dtype=np.uint64)
    assert (choice.left, choice.right) == brute_force(belief, every, utility, priority)


@pytest.mark.parametrize("utility", [CurvaturePower(2), plain])
def test_ties_are_broken_at_random_and_reproducibly(utility: Utility) -> None:
    belief = FactoredBelief(np.zeros(6), np.zeros((6, 0)), np.ones(6))
    pool = AllPairs.of(np.zeros(6, dtype=np.int64))
    chosen = [best_pair(belief, pool, utility, np.random.default_rng(seed))[:2] for seed in range(600)]
    assert len(set(chosen)) == 15
    counts = np.unique([i * 6 + j for i, j in chosen], return_counts=True)[1]
    assert counts.min() > 15, "15 pairs, 600 draws: each about 40 times"
    assert chosen[5] == best_pair(belief, pool, utility, np.random.default_rng(5))[:2]


def test_all_pairs_may_tie_in_every_block() -> None:
    """720,000 pairs of one worth: the choice is the one pair of highest priority, and no list of all ties is made."""
    pool = AllPairs.of(np.zeros(1200, dtype=np.int64))
    priority = np.random.default_rng(3).integers(0, 2**64, dtype=np.uint64)
    left, right = np.triu_indices(1200, 1)
    first = np.argmax(pair_priorities(priority, left, right))
    tracemalloc.start()
    choice = best_scored(pool, lambda left, right: np.ones(len(left)), np.random.default_rng(3))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert choice[:3] == (left[first], right[first], 1.0)
    assert peak < 4e6, "a few arrays of a block, not of all pairs"


@given(count=st.integers(1, 60), close=st.booleans(), parts=st.integers(1, 8), seed=st.integers(0, 2**32))
def test_ties_go_to_the_highest_priority_in_whatever_order_pairs_are_met(
    count: int, close: bool, parts: int, seed: int
) -> None:
    """Utilities that are equal, or close to one another, so that what ties depends on the best."""
    rng = np.random.default_rng(seed)
    utilities = 1.0 - rng.integers(0, 4, count).astype(np.float64) * (4e-10 if close else 1.0)
    left, right = np.arange(count), np.arange(count) + 100
    best = BestSoFar(np.uint64(seed))
    for part in np.array_split(rng.permutation(count), parts):
        best.add(left[part], right[part], utilities[part])
    priorities = pair_priorities(np.uint64(seed), left, right)
    tied = utilities >= tie_floor(utilities.max())
    place = np.flatnonzero(tied)[np.argmax(priorities[tied])]
    assert best.choice(7) == (left[place], right[place], utilities[place], 7)


def test_curvature_power_is_its_formula() -> None:
    margin, variance = np.array([-3.0, 0.0, 1.0, 800.0]), np.array([1.0, 2.0, 3.0, 4.0])
    slope = np.array([0.0451766597, 0.25, 0.1966119332, 0.0])
    np.testing.assert_allclose(CurvaturePower(2)(margin, variance), slope**2 * variance, rtol=1e-8)
    np.testing.assert_array_equal(CurvaturePower(0)(margin, variance), variance)
