"""Practice pairs: whoever is new judges them first, in every client, and nothing of them reaches a fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StudyPaused, UnknownItem, UnknownQuery
from ordinate.study.practice import Practice
from ordinate.study.study import Study

PAIRS = [("3", "7", "left"), ("5", "1", None), ("0", "2", "tie")]


def make(storage: str | None = None) -> Study:
    items = Items([str(row) for row in range(8)], np.random.default_rng(0).normal(size=(8, 2)))
    return Study.create(items, storage=storage, seed=3)


@pytest.fixture
def study() -> Study:
    made = make()
    made.set_rules(practice=PAIRS)
    return made


def test_whoever_is_new_practises_first_and_once(study: Study) -> None:
    for wanted in PAIRS:
        query = study.ask("Ann")
        assert (query.left, query.right) == wanted[:2]
        assert study.is_practice(query.id)
        assert study.ask("Ann") == query, "until it is answered"
        study.tell(query.id, "left")
    first = study.ask("Ann")
    assert not study.is_practice(first.id)
    study.tell(first.id, "left")
    assert not study.is_practice(study.ask("Ann").id)
    assert study.is_practice(study.ask("Bob").id)
    assert not study.is_practice(study.ask().id), "without a name nobody is known to be new"


def test_pairs_of_the_study_follow_where_more_are_asked_for(study: Study) -> None:
    assert len(study.ask("Ann", count=2)) == 2
    mixed = study.ask("Ann", count=5)
    assert [study.is_practice(query.id) for query in mixed] == [True] * 3 + [False] * 2
    leases = study.take("Bob", 4, [one for one in study.choose(["Bob"]) if one is not None])
    assert [lease.practice for lease in leases] == [True] * 3 + [False]
    assert [lease.expected for lease in leases] == ["left", None, "tie", None]


def test_nothing_of_it_is_in_the_fit_the_counts_or_the_choice() -> None:
    """A study whose people practised asks and finds the same, to the last bit, as one without."""
    plain, practising = make(), make()
    practising.set_rules(practice=PAIRS)
    for _ in PAIRS:
        practising.tell(practising.ask("Ann").id, "right")
    for number in range(12):
        queries = [one.ask("Ann") for one in (plain, practising)]
        assert queries[0][1:] == queries[1][1:]
        for one, query in zip((plain, practising), queries, strict=True):
            one.tell(query.id, "left" if number % 3 else "right")
    assert plain.comparisons() == practising.comparisons()
    assert plain.annotators() == practising.annotators() == {"Ann": 12}
    np.testing.assert_array_equal(plain.ordering().scores, practising.ordering().scores)
    assert practising.history()["query"] == [f"{practising.token}-{number}" for number in range(1, 13)]


def test_the_owner_sees_how_it_went(study: Study) -> None:
    for answer in ("left-much", "skip", "right"):
        study.tell(study.ask("Ann").id, answer)
    (ann,) = study.people()
    assert (ann.name, ann.answers, ann.skips) == ("Ann", 0, 0)
    assert ann.practice == (3, 2, 1)


def test_an_answer_that_is_sent_again_is_one(study: Study) -> None:
    query = study.ask("Ann")
    for _ in range(2):
        assert study.answer(query.id, "left", annotator="Ann").practice
    before = study.entries
    study.tell(query.id, "right")
    assert study.entries == before
    assert study.people()[0].practice == (1, 1, 1)


def test_it_is_the_same_after_reopening(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with make(url) as study:
        study.set_rules(practice=PAIRS)
        study.tell(study.ask("Ann").id, "left")
        waiting = study.ask("Ann")
    with Study.open(url) as study:
        assert study.rules.practice == tuple(Practice(*one) for one in PAIRS)  # type: ignore[arg-type]
        assert study.ask("Ann") == waiting
        assert study.people()[0].practice.answered == 1


def test_whoever_has_answered_is_not_new(study: Study) -> None:
    study.set_rules(practice=[])
    study.tell(study.ask("Ann").id, "left")
    study.set_rules(practice=PAIRS)
    assert not study.is_practice(study.ask("Ann").id)


def test_items_that_are_left_out_are_not_practised_with(study: Study) -> None:
    study.exclude_item("3")
    assert study.ask("Ann")[1:3] == ("5", "1")


def test_nobody_practises_in_a_study_that_rests(study: Study) -> None:
    study.set_rules(paused=True)
    with pytest.raises(StudyPaused):
        study.ask("Ann")


def test_what_is_no_practice_pair_is_refused(study: Study) -> None:
    for wrong, message in (
        ([("3", "3")], "practice pair 1 has '3' on both sides"),
        ([("3", "4"), ("3", "5", "both")], "practice pair 2: 'both' is no answer"),
        ([("3",)], "practice pair 1 must be two ids"),
        ([5], "practice pair 1 must be two ids"),
    ):
        with pytest.raises(InvalidInput, match=message):
            study.set_rules(practice=wrong)
    with pytest.raises(UnknownItem, match="practice pair 1: the study has no item '33'"):
        study.set_rules(practice=[("33", "3")])
    with pytest.raises(UnknownQuery, match="unknown practice pair"):
        study.tell(f"{study.token}-practice-9", "left")


def test_a_practice_pair_of_somebody_else_is_not_answered(study: Study) -> None:
    query = study.ask("Ann")
    with pytest.raises(InvalidInput, match="was given to somebody else"):
        study.answer(query.id, "left", annotator="Bob")
