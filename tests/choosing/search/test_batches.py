"""Choices of batches, for several people at once, are those of a look at all pairs by the plain formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.choosing.search import CurvaturePower, LazySearch, MonotoneUtility, best_scored
from ordinate.choosing.utilities.bald import Information
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import AllPairs
from ordinate.learning.belief import Belief, pending, update
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.belief.factored import FactoredBelief

UTILITIES: dict[str, MonotoneUtility] = {
    "norm-min": CurvaturePower(0),
    "guro": CurvaturePower(2),
    "bald": Information(),
    "guro with weights": CurvaturePower(2, 10.0 ** np.random.default_rng(0).uniform(-4.0, 0.0, 60)),
}


def fitted(rng: np.random.Generator, kind: str, n: int, coarse: bool, columns: int = 4) -> Belief:
    def numbers(*shape: int) -> Floats:
        drawn = rng.normal(size=shape)
        return np.round(drawn) if coarse else drawn

    if kind == "dense":
        root = numbers(n, n)
        return DenseCovariance(root @ root.T / n).belief(numbers(n))
    return FactoredBelief(numbers(n), numbers(n, columns) * (4.0 / columns) ** 0.5, np.abs(numbers(n)))


def utilities_under(belief: Belief, utility: MonotoneUtility) -> Callable[[Integers, Integers], Floats]:
    weights = np.ones(len(belief.mean)) if utility.weights is None else utility.weights
    return lambda left, right: utility(*belief.differences(left, right)) * (weights[left] * weights[right])


def check_batches(kind: str, name: str, n: int, groups: int, coarse: bool, seed: int) -> None:
    """Batches for people who have seen some pairs each; some of a batch are answered, in any order, others given up."""
    rng, utility = np.random.default_rng(seed), UTILITIES[name]
    answered = fitted(rng, kind, n, coarse)
    every = AllPairs.of(rng.integers(-1 if groups > 1 else 0, groups, n))
    search, seen = LazySearch(), [every.sample(int(rng.integers(0, 30)), rng) for _ in range(3)]
    batch: list[tuple[int, int]] = []
    for _ in range(4):
        belief, asked = answered, every
        for pair in batch:
            belief, asked = pending(belief, pair), asked.without(np.array([pair[0]]), np.array([pair[1]]))
        for _ in range(int(rng.integers(1, 12))):
            hers = seen[int(rng.integers(3))]
            pool = asked.without(hers.left, hers.right)
            if rng.random() < 0.2:  # as where nobody is shown an item twice running
                item = int(rng.integers(n))
                partners = pool.partners(item)
                pool = pool.without(np.full(len(partners), item), partners)
            if pool.size == 0:
                continue
            number = int(rng.integers(2**32))
            choice = search.best(answered, belief, pool, utility, np.random.default_rng(number))
            plain = best_scored(pool, utilities_under(belief, utility), np.random.default_rng(number))
            assert {choice.left, choice.right} == {plain.left, plain.right}
            assert choice.utility == plain.utility
            belief = pending(belief, (choice.left, choice.right))
            asked = asked.without(np.array([choice.left]), np.array([choice.right]))
            batch.append((choice.left, choice.right))
        rng.shuffle(batch)
        for _ in range(int(rng.integers(len(batch) + 1))):
            answered = update(answered, *batch.pop())
        if batch and rng.random() < 0.3:
            batch.pop()


cases = given(
    kind=st.sampled_from(["dense", "factored"]),
    name=st.sampled_from(list(UTILITIES)),
    n=st.integers(2, 60),
    groups=st.integers(1, 3),
    coarse=st.booleans(),
    seed=st.integers(0, 2**32),
)


@settings(max_examples=40)
@cases
def test_every_choice_is_that_of_a_look_at_all_pairs(
    kind: str, name: str, n: int, groups: int, coarse: bool, seed: int
) -> None:
    check_batches(kind, name, n, groups, coarse, seed)


@pytest.mark.load
@settings(max_examples=3000)
@cases
def test_every_choice_is_that_of_a_look_at_all_pairs_in_thousands_of_batches(
    kind: str, name: str, n: int, groups: int, coarse: bool, seed: int
) -> None:
    check_batches(kind, name, n, groups, coarse, seed)


@pytest.mark.parametrize("kind", ["dense", "factored"])
def test_open_queries_cost_no_second_look_whoever_answers_first(kind: str) -> None:
    """Twenty queries stay open while they are answered in any order and others take their place."""
    rng, n = np.random.default_rng(0), 400
    answered = fitted(rng, kind, n, coarse=False, columns=30)
    pool, search = AllPairs.of(np.zeros(n, dtype=np.int64)), LazySearch()
    waiting: list[tuple[int, int]] = []
    evaluated = []
    for _ in range(60):
        if len(waiting) == 20:
            answered = update(answered, *waiting.pop(int(rng.integers(20))))
        belief = answered
        for pair in waiting:
            belief = pending(belief, pair)
        choice = search.best(answered, belief, pool, CurvaturePower(2), rng)
        waiting.append((choice.left, choice.right))
        pool = pool.without(np.array([choice.left]), np.array([choice.right]))
        evaluated.append(choice.pairs_evaluated)
    assert np.mean(evaluated[1:]) < 0.2 * pool.size
