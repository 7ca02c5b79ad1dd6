"""The aim of a study: what may be given, how it changes, and that the log tells it."""

from typing import Any

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, UnknownItem
from ordinate.study.aim import Aim, aim_of
from ordinate.study.ledger import Ledger
from ordinate.study.study import Study

FEATURES = np.random.default_rng(0).normal(size=(8, 2))
PLAIN = Items(list("abcdefgh"), FEATURES)
GROUPED = Items(list("abcdefgh"), FEATURES, group=["one"] * 4 + ["two"] * 4)


@pytest.mark.parametrize(
    ("given", "aim"),
    [
        ("order", Aim("order")),
        ("top:3", Aim("top", 3)),
        ("bottom:1", Aim("bottom", 1)),
        ("above:b", Aim("above", marks=("b",))),
        (["above:b", "above:g"], Aim("above", marks=("b", "g"))),
    ],
)
def test_an_aim_is_stored_as_it_is_given(given: Any, aim: Aim) -> None:
    study = Study.create(PLAIN, aim=given)
    assert study.rules.aim == ((given,) if isinstance(given, str) else tuple(given))
    assert aim_of(study.rules.aim) == aim


def test_ids_of_marks_may_hold_colons_and_commas() -> None:
    study = Study.create(Items(["a:1,2", "b", "c"], FEATURES[:3]), aim="above:a:1,2")
    assert aim_of(study.rules.aim).marks == ("a:1,2",)


NO_AIMS: list[Any] = [None, 3, [], [1], "best", "order:1", "above", "above:", ["above:a", "above:a"]]
NO_AIMS += ["top", "top:", "top:0", "top:-1", "top:1.5", "top:x", "top:" + "9" * 30]
NO_AIMS += [["order", "top:1"], ["top:1", "top:2"], ["above:a", "top:1"]]


@pytest.mark.parametrize("given", NO_AIMS)
def test_what_is_no_aim_is_refused_with_what_there_is(given: Any) -> None:
    with pytest.raises(InvalidInput, match=r"top:10"):
        Study.create(PLAIN, aim=given)
    study = Study.create(PLAIN)
    with pytest.raises(InvalidInput, match=r"top:10"):
        study.set_rules(aim=given)
    assert study.rules.aim == ("order",)


def test_aims_that_the_items_do_not_allow_are_refused_and_no_file_is_left(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with pytest.raises(UnknownItem, match="no item 'z'"):
        Study.create(PLAIN, aim="above:z", storage=url)
    with pytest.raises(InvalidInput, match="top:8 leaves nothing to find out: there are only 8 items"):
        Study.create(PLAIN, aim="top:8", storage=url)
    with pytest.raises(InvalidInput, match="no group has more than 4"):
        Study.create(GROUPED, aim="bottom:4", storage=url)
    with pytest.raises(InvalidInput, match="group 'two' has no mark"):
        Study.create(GROUPED, aim="above:b", storage=url)
    assert not list(tmp_path.iterdir())
    Study.create(GROUPED, aim=["above:b", "above:f"], storage=url).close()


def test_a_mark_stays_in_use_while_it_is_one() -> None:
    study = Study.create(PLAIN)
    study.exclude_item("c")
    with pytest.raises(InvalidInput, match="'c' is excluded"):
        study.set_rules(aim="above:c")
    study.set_rules(aim="above:d")
    with pytest.raises(InvalidInput, match="'d' is a mark"):
        study.exclude_item("d")
    study.set_rules(aim="order")
    study.exclude_item("d")


def test_the_aim_changes_with_the_answers_kept_and_each_query_says_its_own(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    study = Study.create(PLAIN, random=0.0, storage=url, aim="top:2")
    for aim in ("top:2", "order", "above:b"):
        study.set_rules(aim=aim)
        for _ in range(3):
            study.tell(study.ask().id, "left")
    study.close()
    with Study.open(url) as again:
        assert len(again.comparisons()) == 9
        assert again.rules.aim == ("above:b",)
        entries = list(again._ledger._state.queries)
        told = [str(entry.strategy).partition(" for ")[2] for entry in entries]
        assert told == ["top:2"] * 3 + [""] * 3 + ["above:b"] * 3
        assert entries[3].strategy == "Greedy(utility=CurvaturePower(exponent=2))"


def test_an_aim_changes_no_question_of_an_algorithm_that_has_its_own_strategy() -> None:
    for algorithm in ("uniform-hybrid", "bald-contextual"):
        asked = []
        for aim in ("order", "top:2"):
            study = Study.create(PLAIN, algorithm=algorithm, aim=aim, random=0.0)
            pairs = []
            for _ in range(6):
                query = study.ask()
                study.tell(query.id, "left")
                pairs.append((query.left, query.right))
            asked.append(pairs)
        assert asked[0] == asked[1]


def test_no_group_without_a_mark_comes_to_an_aim_of_marks() -> None:
    study = Study.create(Items(list("abcd"), FEATURES[:4], group=["one"] * 4), aim="above:b")
    new = Items(["x", "y"], FEATURES[4:6], group=["two"] * 2)
    with pytest.raises(InvalidInput, match="group 'two' is new and has no mark of the study's aim"):
        study.add_items(new)
    assert len(study.items) == 4
    study.add_items(Items(["e"], FEATURES[6:7], group=["one"]))
    study.set_rules(aim="order")
    study.add_items(new)
    study.exclude_item("x")
    study.exclude_item("y")
    study.set_rules(aim="above:b")
    with pytest.raises(InvalidInput, match="'x' is of group 'two', which has no mark"):
        study.include_item("x")
    study.set_rules(aim=["order"])
    study.include_item("x")
    study.set_rules(aim=["above:b", "above:x"])
    study.include_item("y")


def test_items_may_be_added_while_an_aim_of_a_number_asks_for_more_than_there_are() -> None:
    study = Study.create(PLAIN, aim="top:7")
    study.exclude_item("a")
    study.add_items(Items(["new"], FEATURES[:1] + 1.0))
    assert len(study.items) == 9


def test_rules_are_stored_with_the_items_or_not_at_all(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    for rules in ({"aim": "above:z"}, {"budget": -1}, {"nothing": 1}):
        with pytest.raises((InvalidInput, UnknownItem)):
            Study.create(PLAIN, storage=url, rules=rules)
    assert list(tmp_path.iterdir()) == []
    # As if the process were killed after the transaction that makes the study.
    monkeypatch.setattr(Ledger, "write", None)
    Study.create(PLAIN, storage=url, aim="top:2", rules={"budget": 50, "lease": 60.0}).close()
    with Study.open(url) as study:
        assert (study.rules.aim, study.rules.budget, study.rules.lease) == (("top:2",), 50, 60.0)


@pytest.mark.parametrize("alike", [False, True])
def test_of_items_that_people_find_alike_the_expected_share_is_withheld(alike: bool) -> None:
    """Without random pairs, so that no bet on coin tosses withholds it."""
    rng = np.random.default_rng(2)
    features = rng.normal(size=(20, 2))
    study = Study.create(Items([str(row) for row in range(20)], features), aim="top:4", random=0.0)
    for _ in range(80):
        query = study.ask()
        margin = 0.0 if alike else 4.0 * (features[int(query.left), 0] - features[int(query.right), 0])
        study.tell(query.id, "left" if rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right")
    selection = study.selection()
    assert selection is not None
    if alike:
        assert selection.right is None
        assert "so much alike" in str(selection.withheld)
    else:
        assert selection.withheld is None
        assert selection.right is not None
