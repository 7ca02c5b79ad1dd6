"""The search that does not look at every pair, against one that does.

Its choice is a pair of the pool, near the best, under the bound, and the same whatever was kept from earlier searches.
"""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.belief import FactoredBelief, ProjectedBelief, difference, pending, update
from ordinate.search import AllPairs, Bounds, CurvaturePower, best_pair, large
from ordinate.search.large import Large, ceiling


def make_belief(rng: np.random.Generator, n: int, k: int, spread: float, hybrid: bool) -> ProjectedBelief:
    features = rng.normal(size=(n, k)).astype(np.float32) + np.float32(rng.normal())
    root = rng.normal(size=(k, k)) / np.sqrt(max(k, 1)) + np.eye(k)
    residual = rng.uniform(0, 1, n) if hybrid else np.zeros(n)
    return ProjectedBelief(spread * rng.normal(size=n), features, root, residual, root)


def plain(belief: ProjectedBelief) -> FactoredBelief:
    return FactoredBelief(belief.mean, belief.features.astype(float) @ belief.root, belief.residual)


pytestmark = pytest.mark.usefixtures("one_thread")

few = mock.patch.multiple(large, _UNIVERSE=40, _LEVELS=4, _PER_LEVEL=2, _OVERALL=4, _RANDOM=4, _STARTS=2, _TILE=5)


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(2, 70),
    k=st.integers(0, 5),
    groups=st.integers(1, 3),
    spread=st.sampled_from([0.0, 1.0, 20.0, 1000.0]),
    hybrid=st.booleans(),
    exponent=st.sampled_from([0, 2]),
    masked=st.sampled_from([0.0, 0.1, 0.9]),
    small=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_the_pair_is_of_the_pool_and_no_better_than_the_bound(
    n: int, k: int, groups: int, spread: float, hybrid: bool, exponent: int, masked: float, small: bool, seed: int
) -> None:
    rng, utility = np.random.default_rng(seed), CurvaturePower(exponent)
    belief = make_belief(rng, n, k, spread, hybrid)
    group = rng.integers(-1, groups, n)
    left, right = np.triu_indices(n, 1)
    gone = rng.random(len(left)) < masked
    pool = AllPairs.of(group).without(left[gone], right[gone])
    open_pair = rng.choice(n, 2, replace=False)
    with_open = pending(belief, int(open_pair[0]), int(open_pair[1]))
    if pool.size == 0:
        return
    with few if small else mock.patch.object(large, "_TILE", 7):
        found = Large(pool, belief).best(belief, with_open, pool, utility, np.random.default_rng(seed))
    exact = best_pair(plain(with_open), pool, utility, np.random.default_rng(seed))
    if found is None:
        assert small  # the universe, of 40 items, has no pair of the pool
        return
    assert group[found.left] == group[found.right] >= 0
    pair = min(found.left, found.right), max(found.left, found.right)
    assert pair not in set(zip(left[gone].tolist(), right[gone].tolist(), strict=True))
    worth = utility(*difference(plain(with_open), np.array([found.left]), np.array([found.right])))[0]
    assert found.utility == pytest.approx(worth, rel=1e-9, abs=1e-12)
    assert found.utility <= exact.utility * (1 + 1e-9) + 1e-12
    assert exact.utility <= ceiling(with_open, group, exponent) + 1e-12
    if not small:  # every item is a candidate
        assert found.utility == pytest.approx(exact.utility, rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 1300),
    k=st.integers(0, 6),
    groups=st.integers(1, 2),
    spread=st.sampled_from([0.0, 1.0, 10.0, 300.0]),
    exponent=st.sampled_from([0, 2]),
    seed=st.integers(0, 2**32),
)
def test_the_loops_find_what_the_plain_formula_finds(
    n: int, k: int, groups: int, spread: float, exponent: int, seed: int
) -> None:
    """The best partner of some rows in each chunk, and of each item among those after it."""
    rng = np.random.default_rng(seed)
    belief = make_belief(rng, n, k, spread, True)
    group, places = rng.integers(0, groups, n), rng.permutation(n)[:150]
    left, right = rng.choice(places, (2, 2000))
    left, right = left[left != right], right[left != right]
    pool = AllPairs.of(group).without(left, right)
    universe = large._Universe.of(belief.features, group)
    fit, barred = large._Fit.of(belief.mean, universe), large._Barred.of(pool, universe)
    variance = large._Variances(universe, belief).after(()) + belief.residual[universe.rows]
    scan = large._Scan(universe, fit, variance, belief.root, exponent, barred)

    every = np.repeat(places, n), np.tile(np.arange(n), len(places))
    worths = CurvaturePower(exponent)(*difference(plain(belief), *every)).reshape(-1, n)
    worths[group[places][:, None] != group] = -1.0
    apart = np.zeros((n, n), dtype=np.bool_)
    apart[left, right] = apart[right, left] = apart[np.arange(n), np.arange(n)] = True
    worths[apart[places]] = -1.0

    rows = scan.rows(places[:9])
    for number, place in enumerate(places[:9].tolist()):
        mine = rows.left == place
        chunks = np.array_split(worths[number], np.arange(large.scans.CHUNK, n, large.scans.CHUNK))
        best = np.array([chunk.max() for chunk in chunks])
        np.testing.assert_allclose(np.sort(rows.value[mine]), np.sort(best[best >= 0]), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(worths[number, rows.right[mine]], rows.value[mine], rtol=1e-4, atol=1e-5)

    among = scan.among(places)
    later = np.triu(worths[:, places], 1) - np.tril(np.ones((len(places), len(places))))
    best = later.max(axis=1)
    np.testing.assert_array_equal(among.left, places[best >= 0])
    np.testing.assert_allclose(among.value, best[best >= 0], rtol=1e-4, atol=1e-5)
    of_row = {place: number for number, place in enumerate(places.tolist())}
    found = [worths[of_row[i], j] for i, j in zip(among.left.tolist(), among.right.tolist(), strict=True)]
    np.testing.assert_allclose(found, among.value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", ["round", "clusters", "heavy"])
def test_little_is_lost(shape: str) -> None:
    """Against the exact search over 12 million pairs, as it is in use: at most 1% of the utility on average."""
    rng, n, k = np.random.default_rng(0), 5000, 32
    features = {
        "round": lambda: rng.normal(size=(n, k)),
        "clusters": lambda: rng.normal(size=(12, k))[rng.integers(0, 12, n)] + 0.5 * rng.normal(size=(n, k)),
        "heavy": lambda: rng.standard_t(4, size=(n, k)),
    }[shape]()
    root = np.eye(k) * np.sqrt(2 / k)
    belief = ProjectedBelief(0.5 * features @ rng.normal(size=k), features.astype(np.float32), root, np.zeros(n), root)
    pool, exact, losses = AllPairs.of(np.zeros(n, dtype=np.int64)), plain(belief), []
    search, bounds = Large(pool, belief), Bounds()
    for question in range(40):
        found = search.best(belief, belief, pool, CurvaturePower(2), np.random.default_rng(question))
        assert found is not None
        assert found.looked < 0.1 * pool.size
        best = bounds.best(exact, exact, pool, CurvaturePower(2), np.random.default_rng(question))
        losses.append(1 - found.utility / best.utility)
        pool = pool.without(np.array([found.left]), np.array([found.right]))
        belief, exact = update(belief, found.left, found.right), update(exact, found.left, found.right)
    assert np.mean(losses) < 0.01


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), hybrid=st.booleans(), steps=st.lists(st.sampled_from("aors"), max_size=12))
def test_what_was_kept_changes_no_choice(seed: int, hybrid: bool, steps: list[str]) -> None:
    rng, n = np.random.default_rng(seed), 60
    answered = make_belief(rng, n, 3, 1.0, hybrid)
    pool, belief = AllPairs.of(np.zeros(n, dtype=np.int64)), answered
    with few:
        kept = Large(pool, answered)
        for number, step in enumerate([*steps, "a"]):
            i, j = (int(item) for item in rng.choice(n, 2, replace=False))
            if step == "a":
                answered = belief = update(answered, i, j)
            elif step == "o":
                belief = pending(belief, i, j)
            elif step == "r":  # a refit that keeps the covariance
                answered = belief = answered.settle(rng.normal(size=n))
            else:  # a skip: the open queries are gone
                belief = answered
            anew = Large(pool, answered)
            one, two = (
                search.best(answered, belief, pool, CurvaturePower(2), np.random.default_rng([seed, number]))
                for search in (kept, anew)
            )
            assert one == two
            assert kept.serves(pool, answered)


def test_where_nothing_tells_items_apart_the_pair_is_random() -> None:
    n = 3000
    root = np.empty((0, 0))
    belief = ProjectedBelief(np.zeros(n), np.empty((n, 0), dtype=np.float32), root, np.ones(n), root)
    pool = AllPairs.of(np.zeros(n, dtype=np.int64))
    search = Large(pool, belief)
    found = [search.best(belief, belief, pool, CurvaturePower(2), np.random.default_rng(seed)) for seed in range(40)]
    items = {item for choice in found if choice is not None for item in choice[:2]}
    assert len(items) > 60
