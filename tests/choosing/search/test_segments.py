"""Bounds left by earlier searches change no choice: every one is that of a look at all pairs by the plain formula.

Answers, refits, open queries that come and go in any order, masks that differ between questions, dropped bounds,
ties everywhere or nowhere.
"""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.choosing.search import Choice, CurvaturePower, LazySearch, MonotoneUtility, best_pair, best_scored
from ordinate.choosing.utilities.bald import Information
from ordinate.data.pairs import AllPairs, PairList, Pool
from ordinate.learning.belief import Belief, pending, update
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.belief.factored import FactoredBelief

UTILITIES: dict[str, MonotoneUtility] = {
    "norm-min": CurvaturePower(0),
    "guro": CurvaturePower(2),
    "bald": Information(),
    "guro with weights": CurvaturePower(2, np.ones(60)),
}
KINDS = ["dense", "contextual", "hybrid"]


def fitted(rng: np.random.Generator, kind: str, n: int, spread: float, coarse: bool) -> Belief:
    def numbers(*shape: int) -> np.ndarray:
        drawn = rng.normal(size=shape)
        return np.round(drawn) if coarse else drawn  # coarse: many exact ties

    mean = spread * numbers(n)
    if kind == "dense":
        root = numbers(n, n)
        return DenseCovariance(root @ root.T / n).belief(mean)
    residual = np.abs(numbers(n)) if kind == "hybrid" else np.zeros(n)
    return FactoredBelief(mean, numbers(n, int(rng.integers(0, 6))), residual)


def refitted(rng: np.random.Generator, belief: Belief, change: float) -> Belief:
    """Another fit whose scores and variances differ a little, or much, from those of the belief before it."""
    n = len(belief.mean)
    mean = belief.mean + change * rng.normal(size=n)
    scale = np.exp(change * rng.normal())
    if belief.pieces.sign < 0:
        root = rng.normal(size=(n, n))
        left_over = belief.pieces.base - belief.pieces.factor @ belief.pieces.factor.T
        return DenseCovariance(scale * left_over + change * root @ root.T / n).belief(mean)
    factor = belief.pieces.factor
    mixed = np.eye(factor.shape[1]) + change * rng.normal(size=(factor.shape[1],) * 2)
    return FactoredBelief(mean, factor @ mixed, belief.pieces.residual * scale)


def weighted(rng: np.random.Generator, n: int) -> CurvaturePower:
    """Each refit comes with other weights: of all sizes, or all alike so that pairs tie."""
    return CurvaturePower(2, 10.0 ** rng.uniform(-4.0, 0.0, n) if rng.random() < 0.8 else np.full(n, 0.01))


class Asking:
    """A study's worth of questions, with the pool and the open queries as they happen to be."""

    def __init__(self, rng: np.random.Generator, belief: Belief, pool: Pool, utility: MonotoneUtility) -> None:
        self.rng, self.answered, self.pool, self.utility = rng, belief, pool, utility
        self.n = len(belief.mean)
        self.open: list[tuple[int, int]] = []
        self.with_open = belief
        self.search = LazySearch()

    def pair(self) -> tuple[int, int]:
        i, j = self.rng.choice(self.n, 2, replace=False)
        return int(i), int(j)

    def refresh(self) -> None:
        self.with_open = self.answered
        for left, right in self.open:
            self.with_open = pending(self.with_open, (left, right))

    def answer(self) -> None:
        self.answered = update(self.answered, *(self.open.pop(0) if self.open else self.pair()))
        self.refresh()

    def refit(self) -> None:
        if self.utility.weights is not None:
            self.utility = weighted(self.rng, self.n)
        self.answered = refitted(self.rng, self.answered, float(self.rng.choice([0.0, 0.01, 0.3, 3.0])))
        self.refresh()

    def add_open(self, pair: tuple[int, int]) -> None:
        self.open.append(pair)
        self.with_open = pending(self.with_open, pair)

    def close_one(self) -> None:
        """An open query is withdrawn, or its time is up: variance comes back."""
        if self.open:
            self.open.pop(int(self.rng.integers(len(self.open))))
            self.refresh()

    def forget(self) -> None:
        self.search = LazySearch()

    def ask(self) -> Choice | None:
        """A question to someone who has seen a random part of the pairs, none of them, or the last one's best."""
        pool = self.pool
        for _ in range(int(self.rng.integers(0, 4))):
            pool = pool.without(*(np.array([row]) for row in self.pair()))
        if self.open and self.rng.random() < 0.7:
            pool = pool.without(*np.array(self.open).T.copy())
        if self.rng.random() < 0.1:
            item = int(self.rng.integers(self.n))
            partners = pool.partners(item)
            pool = pool.without(np.full(len(partners), item), partners)
        if self.rng.random() < 0.1:
            some = pool.sample(int(self.rng.integers(0, pool.size + 1)), self.rng)
            pool = pool.without(some.left, some.right)
        if pool.size == 0:
            return None
        seed = int(self.rng.integers(2**32))
        choice = self.search.best(self.answered, self.with_open, pool, self.utility, np.random.default_rng(seed))
        plain = best_scored(pool, self.score, np.random.default_rng(seed))
        assert {choice.left, choice.right} == {plain.left, plain.right}
        assert choice.utility == plain.utility
        return choice

    def score(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        values = self.utility(*self.with_open.differences(left, right))
        weights = self.utility.weights
        return values if weights is None else values * (weights[left] * weights[right])

    def ask_and_wait(self) -> None:
        if (choice := self.ask()) is not None:
            self.add_open((choice.left, choice.right))

    def ask_and_answer(self) -> None:
        if (choice := self.ask()) is not None:
            self.answered = update(self.answered, choice.left, choice.right)
            self.refresh()

    def lose_for_good(self) -> None:
        """A pair that nobody is asked any more."""
        if (choice := self.ask()) is not None:
            self.pool = self.pool.without(np.array([choice.left]), np.array([choice.right]))


STEPS: list[Callable[[Asking], object]] = [
    Asking.ask,
    Asking.ask_and_answer,
    Asking.ask_and_answer,
    Asking.ask_and_wait,
    Asking.answer,
    Asking.close_one,
    Asking.lose_for_good,
    Asking.refit,
    Asking.forget,
]


def run(kind: str, name: str, n: int, groups: int, spread: float, coarse: bool, listed: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    belief = fitted(rng, kind, n, spread, coarse)
    pool: Pool = AllPairs.of(rng.integers(-1 if groups > 1 else 0, groups, n))
    if listed:
        pool = pool.sample(int(rng.integers(0, pool.size + 1)), rng)
    utility = UTILITIES[name]
    asking = Asking(rng, belief, pool, utility if utility.weights is None else weighted(rng, n))
    # Bounds are worth something only over stretches of answers, so refits and dropped bounds are rarer in some runs.
    chances = np.array([1, 1, 1, 1, 1, 1, 1, 0.3, 0.1] if rng.random() < 0.7 else [1.0] * len(STEPS))
    for step in rng.choice(len(STEPS), 25, p=chances / chances.sum()):
        STEPS[step](asking)
    asking.ask()


cases = given(
    kind=st.sampled_from(KINDS),
    name=st.sampled_from(list(UTILITIES)),
    n=st.integers(2, 60),
    groups=st.integers(1, 4),
    spread=st.sampled_from([0.0, 1.0, 20.0, 1000.0]),
    coarse=st.booleans(),
    listed=st.booleans(),
    seed=st.integers(0, 2**32),
)


@settings(max_examples=200)
@cases
def test_every_choice_is_that_of_a_look_at_all_pairs(
    kind: str, name: str, n: int, groups: int, spread: float, coarse: bool, listed: bool, seed: int
) -> None:
    run(kind, name, n, groups, spread, coarse, listed, seed)


@pytest.mark.load
@settings(max_examples=5000)
@cases
def test_every_choice_is_that_of_a_look_at_all_pairs_in_thousands_of_runs(
    kind: str, name: str, n: int, groups: int, spread: float, coarse: bool, listed: bool, seed: int
) -> None:
    run(kind, name, n, groups, spread, coarse, listed, seed)


@pytest.mark.parametrize("waiting", [False, True])
@pytest.mark.parametrize("kind", ["dense", "factored"])
def test_a_search_after_another_looks_at_a_small_part(kind: str, waiting: bool) -> None:
    """Each pair answered before the next is asked, or all of them asked in one batch."""
    rng, n = np.random.default_rng(0), 500
    factor = rng.normal(size=(n, 20)) / np.sqrt(20)
    belief: Belief = FactoredBelief(rng.normal(size=n), factor, np.full(n, 0.1))
    if kind == "dense":
        belief = DenseCovariance(factor @ factor.T + 0.1 * np.eye(n)).belief(belief.mean)
    search, pool, evaluated, answered = LazySearch(), AllPairs.of(np.zeros(n, dtype=np.int64)), [], belief
    for _ in range(30):
        choice = search.best(answered, belief, pool, CurvaturePower(2), rng)
        assert choice[:2] == best_pair(belief, pool, CurvaturePower(2), rng)[:2]
        evaluated.append(choice.pairs_evaluated)
        belief = pending(belief, (choice.left, choice.right)) if waiting else update(belief, choice.left, choice.right)
        answered = answered if waiting else belief
    assert n * (n - 1) // 2 < evaluated[0] < 1.1 * n * (n - 1) // 2
    assert np.mean(evaluated[1:]) < 0.2 * evaluated[0]


def test_bounds_that_an_answer_made_loose_are_replaced_not_evaluated_one_by_one() -> None:
    """The answer to an open query about items that are far apart gives back much of what was taken off."""
    rng, n = np.random.default_rng(0), 3000
    fit = FactoredBelief(rng.normal(size=n), 1.5 * rng.normal(size=(n, 4)), np.zeros(n))
    pair = int(fit.mean.argmax()), int(fit.mean.argmin())
    fit = fit.with_mean(1.5 * fit.mean)
    search, pool, total = LazySearch(), AllPairs.of(np.zeros(n, dtype=np.int64)), n * (n - 1) // 2
    waiting, answered = pending(fit, pair), update(fit, *pair)
    search.best(fit, waiting, pool, CurvaturePower(2), rng)
    assert answered.history.growth_since(waiting.history) > 1.5
    choice = search.best(answered, answered, pool, CurvaturePower(2), rng)
    assert choice[:2] == best_pair(answered, pool, CurvaturePower(2), rng)[:2]
    assert choice.pairs_evaluated % total < 0.02 * total


def test_lists_that_lose_pairs_and_get_them_back_are_looked_at_in_small_part() -> None:
    rng, n = np.random.default_rng(1), 300
    belief: Belief = FactoredBelief(rng.normal(size=n), rng.normal(size=(n, 20)) / np.sqrt(20), np.full(n, 0.1))
    search, every, evaluated = LazySearch(), AllPairs.of(np.zeros(n, dtype=np.int64)).sample(n**2, rng), []
    for number in range(30):
        pool = every.without(every.left[number::50], every.right[number::50])
        choice = search.best(belief, belief, pool, CurvaturePower(2), rng)
        assert choice[:2] == best_pair(belief, pool, CurvaturePower(2), rng)[:2]
        evaluated.append(choice.pairs_evaluated)
        belief = update(belief, choice.left, choice.right)
    assert evaluated[0] == len(pool.left)
    assert np.mean(evaluated[1:]) < 0.1 * evaluated[0]


def test_a_belief_continues_those_it_came_from_and_no_other() -> None:
    fit = fitted(np.random.default_rng(0), "hybrid", 5, 1.0, coarse=False)
    once = update(fit, 0, 1)
    twice = update(once, 2, 3)
    other = update(once, 2, 3)
    assert twice.history.continues(once.history)
    assert twice.history.continues(fit.history)
    assert fit.history.continues(fit.history)
    assert not once.history.continues(twice.history)
    assert not twice.history.continues(other.history)
    assert not twice.history.continues(fitted(np.random.default_rng(0), "hybrid", 5, 1.0, coarse=False).history)


@pytest.mark.slow
def test_a_long_history_comes_and_goes() -> None:
    belief: Belief = FactoredBelief(np.zeros(2), np.ones((2, 1)), np.ones(2))
    first = belief
    for _ in range(100_000):
        belief = update(belief, 0, 1)
    assert belief.history.continues(first.history)
    del belief


def test_pair_lists_are_pools_of_their_own() -> None:
    """Two lists of the same length, one after the other, do not share bounds."""
    belief = FactoredBelief(np.zeros(4), np.zeros((4, 0)), np.array([4.0, 3.0, 2.0, 1.0]))
    search, rng = LazySearch(), np.random.default_rng(0)
    for left, right in ((2, 3), (0, 1), (1, 3), (0, 3)):
        pool = PairList.of(np.array([left, 2]), np.array([right, 3]))
        choice = search.best(belief, belief, pool.without(np.array([9]), np.array([9])), CurvaturePower(2), rng)
        assert choice[:2] == (left, right)


def test_pools_without_an_item_now_and_then_cost_no_later_search() -> None:
    """As where nobody is shown an item twice running: the pairs of the item come back at the next question."""
    rng, n = np.random.default_rng(2), 500
    belief: Belief = FactoredBelief(rng.normal(size=n), rng.normal(size=(n, 20)) / np.sqrt(20), np.full(n, 0.1))
    search, every, evaluated = LazySearch(), AllPairs.of(np.zeros(n, dtype=np.int64)), []
    for _ in range(30):
        item = search.best(belief, belief, every, CurvaturePower(2), rng).left
        partners = every.partners(item)
        pool = every.without(np.full(len(partners), item), partners)
        choice = search.best(belief, belief, pool, CurvaturePower(2), rng)
        assert choice[:2] == best_pair(belief, pool, CurvaturePower(2), rng)[:2]
        evaluated.append(choice.pairs_evaluated)
        belief = update(belief, choice.left, choice.right)
    assert np.mean(evaluated[1:]) < 0.2 * every.size
