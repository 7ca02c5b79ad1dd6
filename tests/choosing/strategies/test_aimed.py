"""Questions for an aim: against the formulas written out pair by pair, and against a look at all pairs in a study."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from ordinate.algorithms import AIMED, GURO
from ordinate.choosing.search import LazySearch, best_scored
from ordinate.choosing.strategies.aimed import membership_variance
from ordinate.data.arrays import Floats
from ordinate.data.items import Items
from ordinate.data.pairs import AllPairs
from ordinate.learning.belief import pending, update
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.membership import Goal, Wanted, openness
from ordinate.study.next_pair import allowed_pairs, pending_pairs
from ordinate.study.study import Study
from tests.choosing.strategies.test_strategies import Known


@given(n=st.integers(3, 12), groups=st.integers(1, 2), seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_membership_variance_is_its_formula_pair_by_pair(n: int, groups: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    belief = DenseCovariance(root @ root.T).belief(rng.normal(size=n))
    belief = pending(update(belief, 0, 1), 1, 2)
    group = np.arange(n) % groups
    marks = np.arange(groups)
    goal = Goal(group, Wanted(marks=marks), np.ones(n))
    covariance = belief.covariance(slice(None), slice(None))
    for left, right in ((0, groups), (n - 1, n - 1 - groups)):
        z = np.zeros(n)
        z[left], z[right] = 1.0, -1.0
        slope = 1.0 / (2.0 + 2.0 * np.cosh(belief.mean @ z))
        wanted = 0.0
        for mark in marks:
            for row in np.flatnonzero(group == group[mark]):
                if row == mark:
                    continue
                contrast = np.zeros(n)
                contrast[row], contrast[mark] = 1.0, -1.0
                variance = contrast @ covariance @ contrast
                density = norm.pdf(belief.mean @ contrast / np.sqrt(variance))
                # How far an answer may move the mean of f_l - c.
                moved = (contrast @ covariance @ z) ** 2 * slope / (1.0 + slope * (z @ covariance @ z))
                wanted += density**2 / variance * moved
        values = membership_variance(belief, goal)
        found = values(np.array([left]), np.array([right]))[0]
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9)
        assert found == values(np.array([right]), np.array([left]))[0]


def test_membership_variance_is_what_answers_take_off_the_variance_of_memberships() -> None:
    """By drawing answers: the mean of P (1 - P) over items, P the probability to be above the mark, falls by that."""
    rng, n = np.random.default_rng(0), 6
    root = 0.4 * rng.normal(size=(n, n))
    covariance = root @ root.T + 0.05 * np.eye(n)
    mean = 0.3 * rng.normal(size=n)
    belief = DenseCovariance(covariance.copy()).belief(mean)
    found = membership_variance(belief, Goal(np.zeros(n, dtype=np.int64), Wanted(marks=np.array([0])), np.ones(n)))
    draws = rng.multivariate_normal(mean, covariance, size=200_000)
    above = (draws > draws[:, :1])[:, 1:]
    before = (above.mean(axis=0) * (1.0 - above.mean(axis=0))).sum()
    gains, values = [], []
    for i in range(n):
        for j in range(i + 1, n):
            wins = rng.random(len(draws)) < 1.0 / (1.0 + np.exp(draws[:, j] - draws[:, i]))
            after = 0.0
            for part in (wins, ~wins):
                share = above[part].mean(axis=0)
                after += part.mean() * (share * (1.0 - share)).sum()
            gains.append(before - after)
            values.append(found(np.array([i]), np.array([j]))[0])
    assert np.corrcoef(gains, values)[0, 1] > 0.97
    assert np.argmax(values) == np.argmax(gains)


def test_without_an_aim_it_is_guro() -> None:
    rng = np.random.default_rng(3)
    belief = DenseCovariance(np.diag(rng.random(30))).belief(rng.normal(size=30))
    pool = AllPairs.of(np.zeros(30, dtype=np.int64))
    for seed in range(5):
        one, two = (strategy.choose(Known(belief), pool, np.random.default_rng(seed)) for strategy in (AIMED, GURO))
        assert one == two


def test_it_asks_about_items_near_the_boundary() -> None:
    """The best three of thirty, equally well known: whole-order GURO asks about close items anywhere."""
    n = 30
    covariance: Floats = 0.05 * np.eye(n)
    belief = DenseCovariance(covariance).belief(np.linspace(8.7, 0.0, n))
    group = np.zeros(n, dtype=np.int64)
    wanted = Wanted(first=3)
    goal = Goal(group, wanted, openness(belief, group, wanted))

    class Situation(Known):
        def goal(self) -> Goal:
            return goal

    choice = AIMED.choose(Situation(belief), AllPairs.of(group), np.random.default_rng(0))
    assert {choice.left, choice.right} == {2, 3}


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
        number = len(state.queries) + 1
        waiting = state.open()
        pool = allowed_pairs(state, who, None, waiting)
        situation = inference.situation(state, pending_pairs(state, waiting), LazySearch())
        goal, belief = situation.goal(), situation.belief()
        assert goal is not None
        refit = inference._refitted
        assert refit is not None
        assert refit.answers == len(state.effective) - len(state.effective) % 4
        weights = openness(refit.belief, state.active, goal.wanted)

        def score(left: Any, right: Any, belief: Any = belief, weights: Any = weights) -> Any:
            margins, variances = belief.differences(left, right)
            return (1.0 / (2.0 + 2.0 * np.cosh(margins))) ** 2 * variances * weights[left] * weights[right]

        utility = score if aim in ("top", "bottom") else membership_variance(belief, goal)
        plain = best_scored(pool, utility, np.random.default_rng([3, number]))
        query = study.ask(who, count=1 + len([entry for entry in waiting if entry.annotator == who]))[-1]
        assert {int(query.left), int(query.right)} == {plain.left, plain.right}
        entry = state.queries[-1]
        assert (entry.strategy or "").startswith("Aimed(")
        assert str(AIMS[aim] if isinstance(AIMS[aim], str) else "above:4, above:9") in (entry.strategy or "")
        if step % 3:
            study.tell(query.id, "left" if rng.random() < 0.5 else "right")
