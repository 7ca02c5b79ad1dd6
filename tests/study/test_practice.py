"""Practice pairs: whoever is new judges them first, in every client, and nothing of them reaches a fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StudyPaused, UnknownItem, UnknownQuery
from ordinate.study.machines import Machine
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


def test_nobody_practises_with_what_they_made(study: Study) -> None:
    study.set_rules(makers=[("3", "ann")])
    assert study.ask("Ann")[1:3] == ("5", "1")
    assert study.ask("Bob")[1:3] == ("3", "7")
    study.set_rules(makers=[("7", "Bob")])
    assert study.ask("Bob")[1:3] == ("5", "1")


def test_what_the_owner_removes_or_corrects_is_not_practised_as_it_was(study: Study) -> None:
    wrong = study.ask("Ann")
    study.tell(study.ask("Bob").id, "left")
    study.set_rules(practice=[("3", "7", "right"), PAIRS[1]])
    (corrected, second) = study.take("Ann", 2)
    assert corrected.query.id != wrong.id
    assert (corrected.query[1:3], corrected.expected) == (("3", "7"), "right")
    assert second.query[1:3] == ("5", "1")
    assert study.ask("Bob")[1:3] == ("5", "1"), "a pair is judged once"
    study.set_rules(practice=PAIRS)
    assert study.ask("Ann") == wrong
    study.set_rules(practice=[])
    assert not study.is_practice(study.ask("Ann").id)
    study.tell(wrong.id, "right")  # it was on a screen


def test_whoever_only_practised_is_a_person_of_the_study(study: Study) -> None:
    study.tell(study.ask("Ann").id, "left")
    study.ask("Bob")
    assert [one.name for one in study.people()] == ["Ann", "Bob"]
    study.let_rest("Ann")
    study.exclude_annotator("Bob")
    assert study.excluded_annotators == ("Bob",)
    with pytest.raises(InvalidInput, match="has been asked or has answered as a person"):
        study.add_machine("Ann", Machine("a model", "0" * 64))


def test_people_who_come_after_models_practise_too(study: Study) -> None:
    study.set_rules(practice=[])
    name = study.add_machine("M", Machine("a model", "0" * 64))
    for query in study.ask_model(name, 3):
        study.tell(query.id, "tie")
    study.set_rules(practice=PAIRS[:1], after_models=True)
    query = study.ask("Ann")
    assert study.is_practice(query.id)
    study.tell(query.id, "left")
    asked = study.ask("Ann")
    assert {asked.left, asked.right} in [{one.left, one.right} for one in study.comparisons()]


def test_a_practice_pair_is_answered_and_nothing_else(study: Study) -> None:
    lease = study.take("Ann", 1)[0]
    assert study.show(lease.query.id) == lease
    assert study.expected(lease.query.id) == "left"
    for wrong in (study.withdraw, lambda one: study.discard_answers([one])):
        with pytest.raises(InvalidInput, match="is a practice pair; it can be answered or skipped"):
            wrong(lease.query.id)


def test_a_tie_is_no_answer_where_the_study_takes_none(study: Study) -> None:
    with pytest.raises(InvalidInput, match="practice pair 3 expects a tie"):
        study.set_rules(ties=False)
    study.set_rules(ties=False, practice=PAIRS[:1])
    query = study.ask("Ann")
    with pytest.raises(InvalidInput, match="ties are no answer"):
        study.tell(query.id, "tie")
    study.tell(query.id, "left")
    study.tell(query.id, "tie")  # sent again, it is the same answer, whatever it says


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
        (["34"], "practice pair 1 must be two ids"),
        (5, "practice must be a list"),
        (None, "practice must be a list"),
        ("34", "practice must be a list"),
        ([("3", "4"), ("4", "3", "left")], "practice pair 2 is pair 1 again"),
    ):
        with pytest.raises(InvalidInput, match=message):
            study.set_rules(practice=wrong)
    with pytest.raises(UnknownItem, match="practice pair 1: the study has no item '33'"):
        study.set_rules(practice=[("33", "3")])
    grouped = Items(["a", "b", "c"], group=["x", "x", "y"])
    for make_it in (
        lambda: Study.create(grouped, rules={"practice": [("a", "c")]}),
        lambda: Study.create(grouped).set_rules(practice=[("a", "c")]),
    ):
        with pytest.raises(InvalidInput, match="practice pair 1: item 'a' is in group 'x' and 'c' in 'y'"):
            make_it()
    with pytest.raises(UnknownQuery, match="unknown practice pair"):
        study.tell(f"{study.token}-practice-9", "left")


def test_a_practice_pair_of_somebody_else_is_not_answered(study: Study) -> None:
    query = study.ask("Ann")
    with pytest.raises(InvalidInput, match="was given to somebody else"):
        study.answer(query.id, "left", annotator="Bob")
