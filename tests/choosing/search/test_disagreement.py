"""The pair that draws disagree about most against working it out for every pair, on draws of every shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.choosing.search import best_scored, most_disagreement
from ordinate.choosing.search.disagreement import _Group
from ordinate.choosing.strategies.bayes_guro import disagreement
from ordinate.data.arrays import Floats
from ordinate.data.pairs import AllPairs
from ordinate.errors import PoolExhausted


def drawn(rng: np.random.Generator, count: int, n: int, tail: str, spread: float) -> Floats:
    """Draws whose two halves agree, hardly ever agree, or where all of the variance is in one of them."""
    deviation = np.exp(rng.normal(size=n)) * spread
    noise = rng.normal(size=(count, n))
    if tail == "coarse":
        noise = np.round(noise)
    elif tail == "one":
        noise[1:] = 0.0
    elif tail == "heavy":
        noise = rng.standard_t(1.5, size=(count, n))
    middle = rng.normal(size=n) * rng.choice([0.0, 1.0, 10.0])
    draws: Floats = (np.round(middle) if tail == "coarse" else middle) + deviation * noise
    return draws


def compare(n: int, groups: int, count: int, tail: str, spread: float, masked: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = drawn(rng, count, n, tail, spread)
    pool = AllPairs.of(rng.integers(-1 if groups > 1 else 0, groups, n))
    gone = pool.sample(int(masked * pool.size), rng)
    pool = pool.without(gone.left, gone.right)
    worth = disagreement(draws)
    if pool.size == 0:
        with pytest.raises(PoolExhausted):
            most_disagreement(pool, draws, worth, rng)
        return
    choice = most_disagreement(pool, draws, worth, np.random.default_rng(seed))
    assert choice[:3] == best_scored(pool, worth, np.random.default_rng(seed))[:3]
    assert choice.pairs_evaluated <= pool.size


cases = given(
    n=st.integers(2, 100),
    groups=st.integers(1, 3),
    count=st.integers(2, 60),
    tail=st.sampled_from(["normal", "coarse", "one", "heavy"]),
    spread=st.sampled_from([0.0, 1e-9, 0.03, 1.0, 30.0, 2000.0]),
    masked=st.sampled_from([0.0, 0.1, 0.9, 1.0]),
    seed=st.integers(0, 2**32),
)


@settings(max_examples=200)
@cases
def test_it_is_the_pair_that_working_out_every_pair_finds(
    n: int, groups: int, count: int, tail: str, spread: float, masked: float, seed: int
) -> None:
    compare(n, groups, count, tail, spread, masked, seed)


@pytest.mark.load
@settings(max_examples=5000)
@cases
def test_it_is_the_pair_that_working_out_every_pair_finds_in_thousands_of_cases(
    n: int, groups: int, count: int, tail: str, spread: float, masked: float, seed: int
) -> None:
    compare(n, groups, count, tail, spread, masked, seed)


@settings(max_examples=300)
@given(
    count=st.integers(2, 12),
    tail=st.sampled_from(["normal", "one", "heavy"]),
    spread=st.sampled_from([1e-3, 0.1, 1.0, 4.0, 100.0]),
    seed=st.integers(0, 2**32),
)
def test_no_pair_is_worth_more_than_its_bounds_say(count: int, tail: str, spread: float, seed: int) -> None:
    """Every pair is looked at where the floor is what the pair is worth: with few draws there is no law of large
    numbers, and one draw far out is where a bound by two moments would break first."""
    draws = drawn(np.random.default_rng(seed), count, 12, tail, spread)
    group = _Group.of(AllPairs.of(np.zeros(12, dtype=np.int64)), 0, draws)
    worth = disagreement(draws)
    for row in range(11):
        left, right = group.candidates(row, row + 1, -np.inf)
        assert len(left) == 11 - row
        for one, other, value in zip(left, right, worth(left, right), strict=True):
            assert value <= group.upper_bound(row)
            assert (one, other) in zip(*group.candidates(row, row + 1, value), strict=True)


def test_it_works_out_a_small_part_of_many_pairs() -> None:
    rng = np.random.default_rng(0)
    factor = 0.1 * rng.normal(size=(800, 20))
    draws = rng.normal(size=800) + rng.normal(size=(50, 20)) @ factor.T
    pool = AllPairs.of(np.zeros(800, dtype=np.int64))
    choice = most_disagreement(pool, draws, disagreement(draws), np.random.default_rng(1))
    assert choice.pairs_evaluated < 0.025 * pool.size
    assert choice[:3] == best_scored(pool, disagreement(draws), np.random.default_rng(1))[:3]


def test_all_pairs_may_tie() -> None:
    """180,000 pairs of one worth: the one of highest priority, which any of them may have."""
    pool, draws = AllPairs.of(np.zeros(600, dtype=np.int64)), np.zeros((5, 600))
    for seed in range(3):
        choice = most_disagreement(pool, draws, disagreement(draws), np.random.default_rng(seed))
        assert choice[:3] == best_scored(pool, disagreement(draws), np.random.default_rng(seed))[:3]
