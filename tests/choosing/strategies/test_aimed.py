"""Questions for an aim: where they are asked, and against a look at all pairs in a study."""

from typing import Any

import numpy as np
import pytest
from tests.choosing.strategies.conftest import Known

from ordinate.algorithms import AIMED, GURO
from ordinate.choosing.search import LazySearch, best_scored
from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.data.pairs import AllPairs
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.membership import Wanted, item_weights
from ordinate.study.aim import aim_of
from ordinate.study.next_pair import allowed_pairs, pending_pairs
from ordinate.study.study import Study

GROUP: Integers = np.zeros(30, dtype=np.int64)


def test_without_an_aim_it_is_guro() -> None:
    rng = np.random.default_rng(3)
    belief = DenseCovariance(np.diag(rng.random(30))).belief(rng.normal(size=30))
    for seed in range(5):
        one, two = (
            strategy.choose(Known(belief), AllPairs.of(GROUP), np.random.default_rng(seed))
            for strategy in (AIMED, GURO)
        )
        assert one == two


def asked(wanted: Wanted) -> set[int]:
    """Of thirty equally well known items, the first one highest: whole-order GURO asks about neighbours anywhere."""
    covariance: Floats = 0.05 * np.eye(30)
    belief = DenseCovariance(covariance).belief(np.linspace(8.7, 0.0, 30))
    return set(AIMED.choose(Known(belief, wanted, GROUP), AllPairs.of(GROUP), np.random.default_rng(0))[:2])


def test_it_asks_about_items_near_the_boundary() -> None:
    assert asked(Wanted(first=3)) == {2, 3}
    assert asked(Wanted(last=3)) == {26, 27}
    mark = asked(Wanted(marks=np.array([12])))
    assert mark in ({11, 12}, {12, 13})


AIMS: dict[str, Any] = {"top": "top:3", "bottom": "bottom:2", "mark": "above:4", "grades": ["above:4", "above:9"]}


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("algorithm", ["guro-hybrid", "aim-hybrid-factored", "aim-contextual", "aim-independent"])
def test_a_study_asks_what_a_look_at_all_pairs_gives(algorithm: str, aim: str) -> None:
    """With batches, open queries, answers, and pairs that somebody has seen; weights are those since the refit."""
    rng = np.random.default_rng(1)
    columns = 0 if algorithm == "aim-independent" else 3
    items = Items([str(row) for row in range(20)], rng.normal(size=(20, columns)))
    study = Study.create(items, algorithm=algorithm, aim=AIMS[aim], random=0.0, refit_every=4, seed=3)
    for step in range(25):
        who = f"annotator {step % 2}"
        state, inference = study._ledger._state, study._ledger.inference
        number, waiting = len(state.queries) + 1, state.open()
        pool = allowed_pairs(state, who, None, waiting)
        belief = inference.situation(state, pending_pairs(state, waiting), LazySearch()).belief()
        refit, wanted = inference._refitted, aim_of(state.rules.aim).wanted(state.rows)
        assert refit is not None
        assert wanted is not None
        assert refit.answers == len(state.effective) - len(state.effective) % 4
        # Grades are about the whole order.
        weights = np.ones(20) if aim == "grades" else item_weights(refit.belief, state.active, wanted)

        def score(left: Any, right: Any, belief: Any = belief, weights: Any = weights) -> Any:
            margins, variances = belief.differences(left, right)
            return (1.0 / (2.0 + 2.0 * np.cosh(margins))) ** 2 * variances * weights[left] * weights[right]

        plain = best_scored(pool, score, np.random.default_rng([3, number]))
        query = study.ask(who, count=1 + len([entry for entry in waiting if entry.annotator == who]))[-1]
        assert {int(query.left), int(query.right)} == {plain.left, plain.right}
        assert state.queries[-1].strategy == f"Aimed() for {', '.join(state.rules.aim)}"
        if step % 3:
            study.tell(query.id, "left" if rng.random() < 0.5 else "right")
