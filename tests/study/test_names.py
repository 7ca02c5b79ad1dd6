"""Names that are alike are one annotator, wherever they come from; existing studies keep the names they have."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import AnnotatorExcluded, InvalidInput, NothingToUndo, StudyPaused
from ordinate.study.study import Study

ITEMS = Items([str(row) for row in range(8)])


def test_spaces_and_case_do_not_make_another_annotator() -> None:
    study = Study.create(ITEMS)
    query = study.ask("Ann Lee")
    assert study.ask(" ann  lee ") == query
    assert query.annotator == "Ann Lee"
    study.answer(query.id, "left", annotator="ANN LEE")
    assert study.annotators() == {"Ann Lee": 1}
    assert study.progress("ann lee").answers == 1
    assert study.undo("ann lee").id == query.id
    study.exclude_annotator("ann lee")
    assert study.excluded_annotators == ("Ann Lee",)
    with pytest.raises(AnnotatorExcluded, match="'Ann Lee'"):
        study.ask("aNN lEE")
    assert study.make_link("annotator", "ann lee").annotator == "Ann Lee"


def test_who_rests_is_known_by_any_spelling_of_their_name() -> None:
    study = Study.create(ITEMS)
    study.tell(study.ask("Ann").id, "left")
    study.set_rules(resting=["ann", "ANN"])
    assert study.rules.resting == ("Ann",)
    with pytest.raises(StudyPaused):
        study.ask("aNN")


def test_names_of_a_table_are_names_of_the_study() -> None:
    study = Study.create(ITEMS)
    study.ask("Ann")
    table = [
        Comparison("0", "1", "left", "ann"),
        Comparison("1", "2", "left", " Bo\u0308b"),
        Comparison("2", "3", "tie", "b\u00f6b"),
    ]
    assert study.known(table) == 0
    study.record(table)
    assert study.annotators() == {"Ann": 1, "B\u00f6b": 2}
    assert study.known(table) == 3, "as they are in the table"
    with pytest.raises(InvalidInput, match=r"row 2: .*80 characters, not 90"):
        study.record([Comparison("0", "1", "left", "Ann"), Comparison("0", "1", "left", "x" * 90)])
    with pytest.raises(InvalidInput, match="cannot be seen"):
        study.ask("\u202eAnn")
    assert study.annotators() == {"Ann": 1, "B\u00f6b": 2}


def test_an_existing_study_keeps_its_names(tmp_path: Path) -> None:
    """Two annotators who differ in case, and names that would not be taken today."""
    odd = ["Ann", "ann", " Ann  Lee ", "x" * 200, "a\u202eb"]
    path = tmp_path / "study.db"
    with Study.create(ITEMS, storage=f"sqlite:///{path}") as study:
        study.record([Comparison("0", str(number), "left", f"name {number}") for number in range(1, 6)])
    with closing(sqlite3.connect(path)) as connection, connection:
        for number, name in enumerate(odd, start=1):
            connection.execute("UPDATE log SET annotator = ? WHERE annotator = ?", (name, f"name {number}"))
    with Study.open(f"sqlite:///{path}") as study:
        assert study.annotators() == dict.fromkeys(odd, 1)
        for name in odd:
            query = study.ask(name)
            assert query.annotator == name, "an exact match wins"
            study.tell(query.id, "left")
        assert study.ask("ANN").annotator == "Ann", "the first of those that are alike"
        assert study.name_of("ann lee") == "ann lee", "not the odd one, whose spaces differ"
        given = study.comparisons()
        assert study.known(given) == len(given)
        study.record(given[:5])
        assert list(study.annotators()) == odd


def test_only_an_owner_is_told_whose_answers_there_are() -> None:
    study = Study.create(ITEMS)
    study.tell(study.ask("Ann").id, "left")
    with pytest.raises(
        NothingToUndo, match="there is no answer of 'Bob' that could be taken back; there are answers of 'Ann'"
    ):
        study.undo("Bob")
    with pytest.raises(NothingToUndo) as told:
        study.take_back("Bob")
    assert str(told.value) == "there is no answer of 'Bob' that could be taken back"
