"""CoLSTIM against its rule written out for one item and one opponent at a time."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from ordinate.algorithms import NO_MEANING, algorithm, for_budget
from ordinate.choosing.search import Search
from ordinate.choosing.strategies.colstim import Colstim
from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.data.pairs import AllPairs
from ordinate.errors import InvalidInput
from ordinate.learning.belief import Belief
from ordinate.study.study import Study


@dataclass(frozen=True)
class Linear:
    x: Floats
    theta: Floats
    left: Integers
    right: Integers

    def belief(self) -> Belief:
        raise AssertionError("its matrix has unit curvature, unlike that of any belief")

    def answered(self) -> Belief:
        raise AssertionError("the rule looks at no belief")

    def search(self) -> Search:
        raise AssertionError("the rule makes no search")

    def weights(self) -> Floats | None:
        raise AssertionError("the rule looks for the best item")

    def coefficients(self) -> Floats:
        return self.theta

    def features(self) -> Floats:
        return self.x

    def asked(self) -> tuple[Integers, Integers]:
        return self.left, self.right


@pytest.mark.parametrize("noise", ["width", "one"])
@pytest.mark.parametrize("seed", range(20))
def test_both_items_are_the_rule_s(seed: int, noise: Literal["width", "one"]) -> None:
    rng = np.random.default_rng(seed)
    count, columns, asked = 12, 3, 15
    left = rng.integers(0, count, asked)
    situation = Linear(
        rng.normal(size=(count, columns)),
        rng.normal(size=columns),
        left,
        (left + rng.integers(1, count, asked)) % count,
    )
    pool = AllPairs.of(np.repeat([0, 1], [7, 5]))
    choice = Colstim(500, noise).choose(situation, pool, np.random.default_rng(seed))

    matrix = np.eye(columns)
    for i, j in zip(situation.left, situation.right, strict=True):
        z = situation.x[i] - situation.x[j]
        matrix += np.outer(z, z)
    inverse = np.linalg.inv(matrix)
    gumbel = np.random.default_rng(seed).gumbel(size=count)
    perturbed = [
        x @ situation.theta + g * (np.sqrt(x @ inverse @ x) if noise == "width" else 1.0)
        for x, g in zip(situation.x, gumbel, strict=True)
    ]
    assert choice.left == np.argmax(perturbed)

    def worth(j: int) -> float:
        z = situation.x[j] - situation.x[choice.left]
        return float(z @ situation.theta + np.sqrt(columns * np.log(500)) * np.sqrt(z @ inverse @ z))

    rivals = [j for j in (range(7) if choice.left < 7 else range(7, 12)) if j != choice.left]
    assert choice.right == max(rivals, key=worth)
    assert choice.utility == pytest.approx(worth(choice.right))


def test_without_noise_the_first_item_has_the_best_score() -> None:
    """As in the authors' scripts, which take the argmax before they add the noise; ties are broken at random."""
    rng = np.random.default_rng(0)
    nothing = np.empty(0, dtype=np.int64)
    features, theta = rng.normal(size=(12, 3)), rng.normal(size=3)
    pool, strategy = AllPairs.of(np.zeros(12, dtype=np.int64)), algorithm("colstim-noiseless-contextual").strategy
    for seed in range(20):
        choice = strategy.choose(Linear(features, theta, nothing, nothing), pool, np.random.default_rng(seed))
        assert choice.left == np.argmax(features @ theta)
    tied = Linear(features, np.zeros(3), nothing, nothing)
    assert len({strategy.choose(tied, pool, np.random.default_rng(seed)).left for seed in range(20)}) > 5


def test_an_item_without_partners_is_passed_over() -> None:
    """The best item has met everyone this annotator may be asked about."""
    situation = Linear(np.diag([100.0, 1.0, 1.0]), np.ones(3), np.array([0]), np.array([1]))
    pool = AllPairs.of(np.zeros(3, dtype=np.int64)).without(np.array([0, 0]), np.array([1, 2]))
    for kind in (pool, pool.sample(9, np.random.default_rng(0))):
        assert set(Colstim(10).choose(situation, kind, np.random.default_rng(0))[:2]) == {1, 2}


def test_a_study_tells_it_what_was_asked() -> None:
    """Open queries count as asked: the same question is not the best one twice, and a batch spreads out."""
    rng = np.random.default_rng(0)
    study = Study.create(Items([str(k) for k in range(30)], rng.normal(size=(30, 4))), algorithm="colstim-contextual")
    for _ in range(25):
        study.tell(study.ask().id, "left")
    queries = study.ask(count=10)
    assert len({frozenset((query.left, query.right)) for query in queries}) == 10


@pytest.mark.parametrize("name", NO_MEANING)
def test_combinations_without_a_meaning_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"no algorithm '{name}': .*(features|linear)"):
        algorithm(name)


def test_the_horizon_follows_the_name_and_a_simulation_s_its_budget() -> None:
    assert algorithm("colstim-contextual").strategy == Colstim(2_000)
    assert algorithm("colstim-contextual:500").strategy == Colstim(500)
    assert algorithm("colstim-noiseless-contextual:500").strategy == Colstim(500, noise="none")
    assert for_budget("colstim-noiseless-contextual", 70) == "colstim-noiseless-contextual:70"
    assert for_budget("colstim-contextual", 70) == "colstim-contextual:70"
    assert for_budget("colstim-contextual:500", 70) == "colstim-contextual:500"
    assert for_budget("guro-contextual", 70) == "guro-contextual"
    study = Study.create(Items(["a", "b", "c"], np.eye(3)), algorithm="colstim-contextual:500")
    assert study.ask().id
    assert study.settings.algorithm == "colstim-contextual:500"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("guro-contextual:500", "guro-contextual has neither a horizon nor draws"),
        ("colstim-contextual:", "as in colstim-contextual:2000"),
        ("colstim-contextual:0", "as in colstim-contextual:2000"),
        ("colstim-contextual:many", "as in colstim-contextual:2000"),
        (f"colstim-contextual:{2**63}", "as in colstim-contextual:2000"),
        ("colstim-hybrid:5", "no algorithm 'colstim-hybrid'"),
        ("bayes-guro-hybrid:", "a number from 2 to 10,000, as in bayes-guro-hybrid:200"),
        ("bayes-guro-hybrid:1", "a number from 2 to 10,000"),
        ("bayes-guro-hybrid:10001", "a number from 2 to 10,000"),
    ],
)
def test_a_number_that_means_nothing_is_refused(name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        algorithm(name)
