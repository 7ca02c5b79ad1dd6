"""A contract that every strategy of the table keeps."""

from dataclasses import replace

import numpy as np
import pytest
from tests.choosing.strategies.conftest import Known

from ordinate.algorithms import ALGORITHMS, GURO, NORM_MIN, strategy_of
from ordinate.choosing.strategies import Strategy
from ordinate.choosing.strategies.subsampled import Subsampled
from ordinate.choosing.strategies.uniform import Uniform
from ordinate.data.pairs import AllPairs
from ordinate.errors import InvalidInput, PoolExhausted
from ordinate.learning.belief import Belief
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.membership import Wanted
from ordinate.study.schedule import last_refit

STRATEGIES: dict[str, Strategy] = {repr(row.strategy): row.strategy for row in ALGORITHMS.values()}
STRATEGIES |= {f"5 candidates, {name}": Subsampled(strategy, 5) for name, strategy in STRATEGIES.items()}


GROUP = np.array([0] * 6 + [1] * 5 + [-1])
NUMBERS = np.random.default_rng(0)
SITUATION = Known(
    FactoredBelief(NUMBERS.normal(size=12), NUMBERS.normal(size=(12, 3)), NUMBERS.random(12)),
    group=GROUP,
    theta=np.array([1.0, -0.5, 0.2]),
    pairs=(np.array([0, 3, 7]), np.array([1, 5, 8])),
)
AIMS = {"order": None, "first": Wanted(first=2), "last": Wanted(last=5), "marks": Wanted(marks=np.array([1, 4, 7]))}


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("name", STRATEGIES)
def test_chooses_a_pair_of_the_pool_and_the_same_one_for_the_same_seed(name: str, aim: str) -> None:
    situation = replace(SITUATION, aim=AIMS[aim])
    full = AllPairs.of(GROUP)
    every = full.sample(99, np.random.default_rng(0))
    for seed in range(20):
        gone = np.random.default_rng(seed).random(every.size) < 0.8
        for pool in (
            full.without(every.left[gone], every.right[gone]),
            every.without(every.left[gone], every.right[gone]),
        ):
            if pool.size == 0:
                continue
            one, two = (STRATEGIES[name].choose(situation, pool, np.random.default_rng(seed)) for _ in range(2))
            assert one[:2] == two[:2]
            assert GROUP[one.left] == GROUP[one.right] >= 0
            assert pool.without(np.array([one.left]), np.array([one.right])).size == pool.size - 1


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_empty_pool_is_refused(name: str) -> None:
    with pytest.raises(PoolExhausted):
        STRATEGIES[name].choose(SITUATION, AllPairs.of(np.array([0, 1, -1])), np.random.default_rng(0))


def test_uniform_never_asks_for_a_belief() -> None:
    class Never(Known):
        def belief(self) -> Belief:
            raise AssertionError("uniform needs no fit")

    Uniform().choose(Never(SITUATION.given), AllPairs.of(GROUP), np.random.default_rng(0))


def test_guro_prefers_close_items_and_norm_min_does_not() -> None:
    """Items 0 and 1 are far apart and badly known, 2 and 3 close and a little better known."""
    known = FactoredBelief(np.array([9.0, -9.0, 0.1, 0.0]), np.zeros((4, 0)), np.array([1.0, 1.0, 0.8, 0.8]))
    pool = AllPairs.of(np.zeros(4, dtype=np.int64))
    rng = np.random.default_rng(0)
    assert set(GURO.choose(Known(known), pool, rng)[:2]) == {2, 3}
    assert set(NORM_MIN.choose(Known(known), pool, rng)[:2]) == {0, 1}


def test_refits_follow_the_schedule() -> None:
    assert [last_refit(answers, 500) for answers in (0, 1, 99, 100, 101, 109, 110, 119)] == [
        0,
        1,
        99,
        100,
        100,
        100,
        110,
        110,
    ]
    assert [last_refit(answers, 6000) for answers in (100, 110, 124, 125)] == [100, 100, 100, 125]
    assert [last_refit(answers, 500, 10) for answers in (0, 9, 10, 25)] == [0, 0, 10, 20]
    assert last_refit(17, 500, 1) == 17


def test_unknown_algorithms_are_refused_with_the_names_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"'guro'.*guro-hybrid"):
        strategy_of("guro", None)
