"""Pools hold the pairs they should, lose the ones they are told to, and draw each with the same probability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.data.pairs import AllPairs, PairList, pair_codes


def as_set(pairs: PairList) -> set[tuple[int, int]]:
    return {(min(i, j), max(i, j)) for i, j in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)}


@given(n=st.integers(0, 25), groups=st.integers(1, 4), masked=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_all_pairs_are_those_within_groups_less_the_masked(n: int, groups: int, masked: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.integers(-1, groups, n)
    every = {(i, j) for i in range(n) for j in range(i + 1, n) if j < len(group) and group[i] == group[j] >= 0}
    gone = {pair for pair in every if rng.random() < masked}
    rows = np.array(sorted(gone), dtype=np.int64).reshape(-1, 2)
    half = len(rows) // 2
    # In two goes, sides swapped in one of them, some pairs twice.
    pool = AllPairs.of(group).without(rows[:, 0], rows[:, 1]).without(rows[half:, 1], rows[half:, 0])
    assert pool.size == len(every) - len(gone)
    assert as_set(pool.sample(10**6, rng)) == every - gone
    few = pool.sample(5, rng)
    assert few.size == min(5, pool.size) == len(as_set(few))
    assert as_set(few) <= every - gone
    listed = list(pool.blocks())
    assert sum(block.size for block in listed) == pool.size
    assert set().union(*map(as_set, listed)) == every - gone
    for kind in (pool, pool.sample(10**6, rng)):
        for item in range(n):
            assert {(min(item, k), max(item, k)) for k in kind.partners(item).tolist()} == {
                pair for pair in every - gone if item in pair
            }
    for number, items in enumerate(pool.rows):
        first, second = pool.masked_in(number)
        inside = {pair for pair in gone if group[pair[0]] == group[items[0]]}
        assert set(zip(items[first].tolist(), items[second].tolist(), strict=True)) == inside


@pytest.mark.parametrize("count", [2, 3, 1000, 3_000_000])
def test_the_pairs_of_a_rank_are_those_that_have_it(count: int) -> None:
    """At the ends of rows, where a rounded root would tell the wrong one, by the definition of a rank."""
    pool = AllPairs.of(np.zeros(count, dtype=np.int64))
    rows = np.unique(np.concatenate([np.arange(count - 1)[:300], np.arange(count - 1)[-300:], [count // 2 - 1]]))
    starts = np.array([row * count - row * (row + 1) // 2 for row in rows.tolist()])
    lengths = count - 1 - rows
    first, last = pool.positions(0, starts), pool.positions(0, starts + lengths - 1)
    np.testing.assert_array_equal(first, (rows, rows + 1))
    np.testing.assert_array_equal(last, (rows, np.full(len(rows), count - 1)))


def test_masking_pairs_across_groups_or_of_excluded_items_changes_nothing() -> None:
    pool = AllPairs.of(np.array([0, 0, 1, 1, -1]))
    assert pool.without(np.array([0, 2, 4]), np.array([2, 4, 0])).size == pool.size == 2


@pytest.mark.parametrize("kind", ["all", "list"])
def test_every_pair_is_drawn_equally_often(kind: str) -> None:
    group = np.array([0, 0, 0, 0, 1, 1, 1])
    every = AllPairs.of(group).without(np.array([1]), np.array([3]))
    pool = every if kind == "all" else every.sample(99, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    drawn = [as_set(pool.sample(1, rng)).pop() for _ in range(4000)]
    counts = np.unique([i * 7 + j for i, j in drawn], return_counts=True)[1]
    assert len(counts) == 8
    # 4000 draws of 8 pairs: chi-squared with 7 degrees of freedom stays under 24.3 with probability 0.999.
    assert np.square(counts - 500).sum() / 500 < 24.3


def test_blocks_of_many_pairs() -> None:
    group = np.repeat([0, 1, 2], [300, 1, 280])
    left, right = np.triu_indices(300, 1)
    pool = AllPairs.of(group).without(left[::3], right[::3])
    for kind in (pool, pool.sample(10**6, np.random.default_rng(0))):
        blocks = list(kind.blocks())
        assert max(block.size for block in blocks) <= 1 << 15
        assert sum(block.size for block in blocks) == pool.size == 300 * 299 // 3 + 280 * 279 // 2
        codes = np.concatenate([pair_codes(block.left, block.right) for block in blocks])
        every = pool.sample(10**6, np.random.default_rng(1))
        np.testing.assert_array_equal(np.sort(codes), np.sort(pair_codes(every.left, every.right)))


def test_pair_list() -> None:
    pairs = PairList.of(np.array([3, 0, 2]), np.array([1, 2, 4]))
    assert as_set(pairs.without(np.array([1, 9]), np.array([3, 8]))) == {(0, 2), (2, 4)}
    assert as_set(pairs.within(np.array([0, 1, 0, 1, -1]))) == {(1, 3), (0, 2)}
    assert pairs.sample(7, np.random.default_rng(0)) is pairs


@given(n=st.integers(2, 12), seed=st.integers(0, 2**32))
def test_a_list_knows_what_it_holds_and_loses_what_it_is_told_to(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n, 1)
    kept, asked = rng.random(len(left)) < 0.5, rng.random(len(left)) < 0.3
    swap = rng.random(len(left)) < 0.5
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    pairs = PairList.of(left[kept], right[kept])
    np.testing.assert_array_equal(pairs.holds(right[asked], left[asked]), kept[asked])
    assert as_set(pairs.without(right[asked], left[asked])) == as_set(
        PairList.of(left[kept & ~asked], right[kept & ~asked])
    )


@given(n=st.integers(2, 10), seed=st.integers(0, 2**32))
def test_parts_of_a_list_are_what_is_left_of_it_and_share_its_listing(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n, 1)
    order = rng.permutation(len(left))
    pairs = PairList.of(left[order], right[order])
    part, expected = pairs, as_set(pairs)
    for _ in range(4):
        # A division may know fewer items than the list: the others have not arrived yet.
        group, gone = rng.integers(-1, 2, rng.integers(n - 1, n + 1)), rng.random(len(left)) < 0.2
        if rng.random() < 0.5:
            part = part.within(group)
            expected = {(i, j) for i, j in expected if j < len(group) and group[i] == group[j] >= 0}
        else:
            part = part.without(right[gone], left[gone])
            expected -= as_set(PairList.of(left[gone], right[gone]))
        assert as_set(part) == expected
        assert part.size == len(expected)
        assert part.listing is pairs.listing
    asked = zip(left.tolist(), right.tolist(), strict=True)
    assert part.holds(left, right).tolist() == [pair in expected for pair in asked]
