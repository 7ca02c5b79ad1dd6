"""What Python users expect of a study and an ordering: winners by id, one comparison, iteration, frames, pickling."""

import copy
import pickle
import sys

import pandas
import pytest

from ordinate import Comparison, Items, Study
from ordinate.data import ordering as module
from ordinate.errors import InvalidInput, UnknownQuery


def test_tell_takes_the_id_of_the_winner():
    study = Study.create(Items(["a", "b", "7"]))
    first = study.ask()
    study.tell(first.id, first.right)
    second = study.ask()
    study.tell(second.id, second.left)
    assert [one.outcome for one in study.comparisons()] == ["right", "left"]
    third = study.ask()
    with pytest.raises(InvalidInput, match=f"unknown answer 'c'; it is left, .*'{third.left}' or '{third.right}'"):
        study.tell(third.id, "c")
    with pytest.raises(UnknownQuery):
        study.tell("nothing", "a")
    if "7" in third[1:3]:
        study.tell(third.id, 7)  # type: ignore[arg-type]  # as an id in a frame may be


def test_a_side_goes_before_an_id():
    study = Study.create(Items(["left", "right"]))
    query = study.ask()
    study.tell(query.id, "right")
    assert study.comparisons()[0].outcome == "right"


def test_one_comparison_is_recorded_and_a_wrong_call_says_how():
    study = Study.create(Items(["a", "b"]))
    assert study.record(("a", "b", "a")) == 1
    assert study.record(("b", "a", "tie", "ann")) == 1
    assert study.record([("a", "b", "b")]) == 1
    assert study.comparisons()[1] == Comparison("b", "a", "tie", "ann")
    with pytest.raises(InvalidInput, match=r"write record\(\('a', 'b', 'a'\)\), for several a list"):
        study.record("a", "b", "a")  # type: ignore[arg-type]


def test_an_ordering_iterates_and_becomes_a_frame(monkeypatch):
    study = Study.create(Items(["a", "b", "c", "d"], group=["g", "g", "h", "h"]))
    study.record([("a", "b", "b"), ("c", "d", "c")])
    ordering = study.ordering()
    rows = list(ordering)
    assert [(row.id, row.rank, row.group) for row in rows] == [
        ("b", 1, "g"),
        ("a", 2, "g"),
        ("c", 1, "h"),
        ("d", 2, "h"),
    ]
    assert [row.score for row in rows] == ordering.scores.tolist()
    assert pandas.DataFrame(ordering)["id"].tolist() == ["b", "a", "c", "d"]
    assert type(ordering.to_frame()).__module__.startswith("polars")
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "polars" else object())
    monkeypatch.setitem(sys.modules, "polars", None)
    assert isinstance(ordering.to_frame(), pandas.DataFrame)


@pytest.mark.parametrize("attempt", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_study_says_why_it_is_not_pickled(attempt):
    with pytest.raises(TypeError, match=r"several processes would write to it.*Study\.open"):
        attempt(Study.create(Items(["a", "b"])))
