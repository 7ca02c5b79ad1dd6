"""Many small groups of many items: the pair that the exact search over all pairs finds, whatever was kept."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.belief import FactoredBelief, ProjectedBelief, pending, update
from ordinate.search import AllPairs, Bounds, CurvaturePower, best_pair, small_groups

pytestmark = pytest.mark.usefixtures("one_thread")


def plain(belief: ProjectedBelief) -> FactoredBelief:
    return FactoredBelief(belief.mean, belief.features.astype(float) @ belief.root, belief.residual)


@settings(max_examples=100, deadline=None)
@given(
    n=st.integers(2, 60),
    k=st.integers(0, 4),
    groups=st.integers(1, 25),
    spread=st.sampled_from([0.0, 1.0, 100.0]),
    twins=st.booleans(),
    exponent=st.sampled_from([0, 2]),
    at_once=st.sampled_from([1, 20, 10**6]),
    steps=st.lists(st.sampled_from("aaormi"), max_size=12),
    seed=st.integers(0, 2**32),
)
def test_the_pair_is_the_best_of_all(
    n: int, k: int, groups: int, spread: float, twins: bool, exponent: int, at_once: int, steps: list[str], seed: int
) -> None:
    rng, utility = np.random.default_rng(seed), CurvaturePower(exponent)
    features = rng.normal(size=(n, k)).astype(np.float32) + np.float32(3 * rng.normal())
    if twins:  # many ties
        features[n // 2 :] = features[: n - n // 2]
    root, residual = rng.normal(size=(k, k)), np.full(n, float(rng.integers(0, 2)))
    answered = belief = ProjectedBelief(spread * rng.normal(size=n), features, residual, root)
    whole = pool = AllPairs.of(rng.integers(-1, groups, n))
    bounds = Bounds()
    with mock.patch.object(small_groups, "_AT_ONCE", at_once):
        for number, step in enumerate(["", *steps]):
            if pool.size == 0:
                return
            i, j = (int(item) for item in rng.choice(n, 2, replace=False))
            if step == "a":
                answered = belief = update(answered, i, j)
            elif step == "o":
                belief = pending(belief, i, j)
            elif step == "r":
                answered = belief = answered.settle(rng.normal(size=n))
            elif step == "i":  # another annotator, who has seen nothing
                pool, belief = whole, answered
            found = bounds.best(answered, belief, pool, utility, np.random.default_rng([seed, number]))
            exact = best_pair(plain(belief), pool, utility, np.random.default_rng([seed, number]))
            assert {found.left, found.right} == {exact.left, exact.right}
            assert found.utility == pytest.approx(exact.utility, rel=1e-9, abs=1e-12)
            if step == "m":
                pool = pool.without(np.array([found.left]), np.array([found.right]))


def test_between_refits_few_groups_are_looked_at() -> None:
    rng, n, k = np.random.default_rng(0), 5000, 8
    root = np.eye(k)
    belief = ProjectedBelief(rng.normal(size=n), rng.normal(size=(n, k)).astype(np.float32), np.zeros(n), root)
    pool, bounds = AllPairs.of(np.arange(n) // 20), Bounds()
    with mock.patch.object(small_groups, "_AT_ONCE", 1000):
        first = bounds.best(belief, belief, pool, CurvaturePower(2), rng)
        belief = update(belief, first.left, first.right)
        second = bounds.best(belief, belief, pool, CurvaturePower(2), rng)
    assert first.looked == pool.size
    assert second.looked < 0.2 * pool.size
