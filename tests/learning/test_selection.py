"""Which items are wanted, counted item by item in draws; and the closed forms for many items against draws."""

import numpy as np
import pytest

from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.data.ordering import REACH
from ordinate.learning.error_spread import doubt
from ordinate.learning.membership import Wanted
from ordinate.learning.models import Answers
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.ranks import Draws, draw_scores
from ordinate.learning.selection import found_by, parts_of
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.study.study import Study

GROUP = np.array([0] * 6 + [1] * 5 + [-1])
AIMS = {
    "first": Wanted(first=2),
    "last": Wanted(last=5),
    "mark": Wanted(marks=np.array([2, 8])),
    "grades": Wanted(marks=np.array([2, 4, 8])),
}


def plain_parts(scores: Floats, group: Integers, wanted: Wanted) -> list[int]:
    """One item after another."""
    parts = []
    for item, code in enumerate(group.tolist()):
        others = [row for row in range(len(group)) if group[row] == code]
        above = sum(scores[row] > scores[item] or (scores[row] == scores[item] and row < item) for row in others)
        if code < 0:
            parts.append(0)
        elif wanted.first:
            parts.append(1 if above < wanted.first else 2)
        elif wanted.last:
            parts.append(1 if above >= len(others) - wanted.last else 2)
        else:
            parts.append(1 + sum(scores[item] <= scores[mark] for mark in wanted.marks if group[mark] == code))
    return parts


@pytest.mark.parametrize("aim", AIMS)
def test_parts_are_those_of_a_count_item_by_item(aim: str) -> None:
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(40, len(GROUP))), 1)  # some tie
    found = parts_of(scores, GROUP, AIMS[aim])
    assert found.tolist() == [plain_parts(one, GROUP, AIMS[aim]) for one in scores]


@pytest.mark.parametrize("many", [False, True])
def test_of_a_group_without_a_mark_nothing_is_said(many: bool) -> None:
    posterior, wanted = study_of(12, 30)[0].posterior(), Wanted(marks=np.array([2]))
    draws = draw_scores(posterior, GROUP, np.random.default_rng(0))
    found = found_by(posterior, Draws(draws.scores, None) if many else draws, GROUP, wanted, 33)
    marked = found_by(posterior, draws, np.where(GROUP == 0, 0, -1), wanted, 18)
    assert found.part[6:].tolist() == [0] * 6
    assert np.isnan(found.membership[6:]).all()
    assert found.part[:6].tolist() == marked.part[:6].tolist()
    if not many:
        assert found.right == marked.right


def study_of(n: int, answers: int) -> tuple[Study, Floats]:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(n, 2))
    truth = features @ np.array([1.0, -0.5]) + 0.7 * rng.normal(size=n)
    study = Study.create(Items([str(row) for row in range(n)], features), coefficient_variance=1.0, random=0.0)
    people = LogisticAnnotators(truth, seed=2)
    for _ in range(answers):
        query = study.ask()
        study.tell(query.id, people.answer(int(query.left), int(query.right)))
    return study, truth


@pytest.mark.parametrize("aim", AIMS)
def test_probabilities_and_shares_are_counted_in_the_draws(aim: str) -> None:
    posterior, wanted = study_of(12, 30)[0].posterior(), AIMS[aim]
    draws = draw_scores(posterior, GROUP, np.random.default_rng(0))
    found = found_by(posterior, draws, GROUP, wanted, 30)
    shown = plain_parts(posterior.centred(GROUP)[0], GROUP, wanted)
    assert found.part.tolist() == shown
    parts = np.array([plain_parts(one, GROUP, wanted) for one in draws.scores])
    assert found.measure == {"mark": "right side", "grades": "right grade"}.get(aim, "recall")
    for item in range(11):
        part = shown[item] if aim == "grades" else 1
        assert found.membership[item] == pytest.approx((parts[:, item] == part).mean())
    assert np.isnan(found.membership[11])
    counted = [item for item in range(11) if (shown[item] == 1 if not len(wanted.marks) else item not in wanted.marks)]
    shares = (parts[:, counted] == np.array(shown)[counted]).mean(axis=1)
    assert found.right.estimate == pytest.approx(shares.mean())
    assert found.right.low <= np.quantile(shares, 0.06)
    assert found.right.high >= np.quantile(shares, 0.94)


@pytest.mark.parametrize("aim", [Wanted(first=10), Wanted(last=30), Wanted(marks=np.array([7]))])
def test_of_independent_scores_the_closed_form_is_close_to_draws(aim: Wanted) -> None:
    posterior, group = study_of(80, 200)[0].posterior(), np.zeros(80, dtype=np.int64)
    scores, errors = posterior.centred(group)
    closed = found_by(posterior, Draws(np.empty((0, 80)), None), group, aim, 200)
    draws = scores + errors * np.random.default_rng(0).standard_normal((20_000, 80))
    parts = parts_of(draws, group, aim)
    assert np.abs(closed.membership - (parts == 1).mean(axis=0)).max() < 0.04
    counted = closed.part == 1 if not len(aim.marks) else np.arange(80) != 7
    shares = (parts[:, counted] == closed.part[counted]).mean(axis=1)
    assert closed.right.estimate == pytest.approx(shares.mean(), abs=0.02)


def test_of_independent_scores_and_several_marks_grades_are_close_to_draws() -> None:
    posterior, group = study_of(80, 200)[0].posterior(), np.zeros(80, dtype=np.int64)
    scores, errors = posterior.centred(group)
    order = np.argsort(-scores)
    wanted = Wanted(marks=np.array([order[50], order[15]]))
    closed = found_by(posterior, Draws(np.empty((0, 80)), None), group, wanted, 200)
    draws = scores + errors * np.random.default_rng(0).standard_normal((20_000, 80))
    parts = parts_of(draws, group, wanted)
    others = np.setdiff1d(np.arange(80), wanted.marks)
    assert set(closed.part[others].tolist()) == {1, 2, 3}
    assert np.abs(closed.membership - (parts == closed.part).mean(axis=0))[others].max() < 0.08
    assert closed.right.estimate == pytest.approx((parts == closed.part)[:, others].mean(), abs=0.05)


@pytest.mark.parametrize("places", [(200,), (198, 202), (100, 200, 300)], ids=["one", "near", "three"])
def test_of_independent_scores_all_memberships_share_what_marks_leave_open(places: tuple[int, ...]) -> None:
    """Nobody knows the order of two marks that are near, and one error of a mark moves all items about it."""
    rng = np.random.default_rng(3)
    features, noise = rng.normal(size=(400, 2)), rng.normal(size=400)
    truth = features.sum(axis=1) + noise
    left = rng.integers(0, 400, 2000)
    right = (left + rng.integers(1, 400, 2000)) % 400
    won = rng.random(2000) < 1.0 / (1.0 + np.exp(truth[right] - truth[left]))
    posterior = FactoredHybrid().fit(features, Answers(left, right, won.astype(np.float64)))
    group = np.zeros(400, dtype=np.int64)
    scores, errors = posterior.centred(group)
    wanted = Wanted(marks=np.argsort(-scores)[list(places)])
    found = found_by(posterior, Draws(np.empty((0, 400)), None, seed=5), group, wanted, 10_000)
    drawn = Draws(scores + errors * rng.standard_normal((10_000, 400)), posterior.belief)
    counted = found_by(posterior, drawn, group, wanted, 10_000)
    assert found.membership == pytest.approx(counted.membership, abs=0.04)
    assert found.right == pytest.approx(counted.right, abs=0.015)
    assert found.spread == pytest.approx(counted.spread, rel=0.05)
    again = found_by(posterior, Draws(np.empty((0, 400)), None, seed=5), group, wanted, 10_000)
    assert again.right == found.right
    other = found_by(posterior, Draws(np.empty((0, 400)), None, seed=6), group, wanted, 10_000)
    assert other.right == pytest.approx(found.right, abs=0.01)


def test_where_all_are_wanted_all_are_found() -> None:
    posterior = study_of(12, 10)[0].posterior()
    for draws in (draw_scores(posterior, GROUP, np.random.default_rng(0)), Draws(np.empty((0, 12)), None)):
        found = found_by(posterior, draws, GROUP, Wanted(first=9), 10)
        assert found.part[:11].tolist() == [1] * 11
        assert found.membership[:11].tolist() == [1.0] * 11
        assert found.right == (1.0, 1.0, 1.0)


def test_the_interval_allows_for_a_belief_that_is_wrong_while_answers_are_few() -> None:
    """By the doubt about the expected error, on the share that is not right; beyond what the draws differ by."""
    posterior, group, wanted = study_of(80, 200)[0].posterior(), np.zeros(80, dtype=np.int64), Wanted(first=30)
    draws = draw_scores(posterior, group, np.random.default_rng(0))
    shares = (parts_of(draws.scores, group, wanted) == parts_of(posterior.mean[None], group, wanted))[
        :, found_by(posterior, draws, group, wanted, 200).part == 1
    ].mean(axis=1)
    ends = np.quantile(shares, [0.05, 0.95], method="inverted_cdf")
    for answers in (100, 200, 100_000):
        right = found_by(posterior, draws, group, wanted, answers).right
        assert right.estimate == pytest.approx(shares.mean())
        for end, own in zip((right.low, right.high), ends, strict=True):
            more = np.sqrt((end - right.estimate) ** 2 - (own - right.estimate) ** 2)
            assert more == pytest.approx(REACH * doubt(answers / 80) * (1.0 - right.estimate))


def test_answers_say_less_about_items_that_are_much_alike() -> None:
    posterior = study_of(12, 30)[0].posterior()
    draws = draw_scores(posterior, GROUP, np.random.default_rng(0))
    scores, errors = posterior.centred(GROUP)
    found = found_by(posterior, draws, GROUP, Wanted(first=2), 33)
    assert found.information == pytest.approx(33 / 11 * np.mean(scores[:11] ** 2 + errors[:11] ** 2))
