"""What a choice is based on, rebuilt from plain parts: a cold fit, an update per answer, a piece per open query."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from ordinate import belief as beliefs
from ordinate.algorithms import ALGORITHMS
from ordinate.models import Answers
from ordinate.scaling import FeatureMap
from ordinate.search import AllPairs, Choice
from ordinate.strategies import Situation
from ordinate.strategies.subsampled import Subsampled
from ordinate.study import Study
from ordinate.types import Items

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(20, 3))
LEFT, RIGHT = np.triu_indices(20, 1)


def study_after(algorithm: str, answers: int, refit_every: int | None = None) -> Study:
    study = Study.create(Items([str(k) for k in range(20)], FEATURES), algorithm=algorithm, refit_every=refit_every)
    rng = np.random.default_rng(1)
    for left, step, winner in zip(
        rng.integers(0, 20, answers), rng.integers(1, 20, answers), rng.integers(0, 2, answers), strict=True
    ):
        study.record([(str(left), str((left + step) % 20), ("left", "right")[winner])])
    return study


@pytest.mark.parametrize("algorithm", ["guro-hybrid", "guro-hybrid-factored", "guro-contextual", "guro-independent"])
def test_the_belief_is_a_fit_then_updates_then_open_queries(algorithm: str) -> None:
    study = study_after(algorithm, 107)
    for name in ("ada", "bob", "cleo"):
        study.ask(name)
    answers = Answers(*study._state.effective.first(107))
    scaled = FeatureMap.fit(FEATURES, False, "auto", np.ones(20, dtype=bool)).transform(FEATURES)
    expected = ALGORITHMS[algorithm].model.fit(scaled, Answers(*(column[:100] for column in answers))).belief
    for row in range(100, 107):
        expected = beliefs.update(expected, int(answers.left[row]), int(answers.right[row]))
    for query in study.open_queries():
        expected = beliefs.pending(expected, int(query.left), int(query.right))
    found = study._inference.belief(study._state)
    for one, other in zip(
        beliefs.difference(found, LEFT, RIGHT), beliefs.difference(expected, LEFT, RIGHT), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("algorithm", [name for name, row in ALGORITHMS.items() if row.refit_every == 1])
def test_models_that_take_one_answer_after_another_move_with_each_whatever_the_schedule(algorithm: str) -> None:
    study = study_after(algorithm, 13, refit_every=10)
    before = study._inference.belief(study._state).mean.copy()
    study.record([("0", "1", "left")])
    assert not np.array_equal(study._inference.belief(study._state).mean, before)


class Watching:
    """Notes the pool it is given and how many threads BLAS would use."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.threads: set[int] = set()

    def choose(self, situation: Situation, pool: object, rng: np.random.Generator) -> Choice:
        self.sizes.append(pool.size)  # type: ignore[attr-defined]
        self.threads |= {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
        return Choice(0, 1, 0.0)


def test_candidates_limit_what_a_strategy_sees() -> None:
    watching = Watching()
    Subsampled(watching, 5).choose(
        None,  # type: ignore[arg-type]
        AllPairs.of(np.zeros(20, dtype=np.int64)),
        np.random.default_rng(0),
    )
    assert watching.sizes == [5]


def test_a_choice_is_made_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    watching = Watching()
    monkeypatch.setattr("ordinate.asking.strategy_of", lambda *_: watching)
    study_after("guro-contextual", 3).ask()
    assert watching.threads == {1}


@pytest.mark.parametrize("algorithm", ["guro-contextual", "guro-hybrid", "guro-hybrid-factored"])
def test_unseen_items_that_are_alike_share_a_score(algorithm: str) -> None:
    study = study_after(algorithm, 30)
    new = Items([f"new-{k}" for k in range(37)], np.tile(RNG.normal(size=3), (37, 1)))
    assert len(set(study.ordering(new).scores.tolist())) == 1
