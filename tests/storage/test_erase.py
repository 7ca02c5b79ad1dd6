"""A person is erased: the name is nowhere in the study, the ordering is the same, and others are not touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ordinate import storage as storages
from ordinate.cli.db import erase
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.storage import AnswerDetails
from ordinate.study.ledger import acting_as
from ordinate.study.study import Study

NAME = "Zebediah Quux"
ITEMS = Items([str(row) for row in range(12)], np.random.default_rng(0).normal(size=(12, 3)))


def file_of(request: pytest.FixtureRequest) -> tuple[str, Callable[[], bytes]]:
    path: Path = request.getfixturevalue("tmp_path") / "study.db"
    return f"sqlite:///{path}", path.read_bytes


def schema_of(request: pytest.FixtureRequest) -> tuple[str, Callable[[], bytes]]:
    """With the bytes of the table on disk, once the database has written it."""
    import psycopg

    postgresql = request.getfixturevalue("postgresql")
    url = postgresql.url()

    def read() -> bytes:
        with psycopg.connect(postgresql.database, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            name = url.rpartition("/")[2]
            found = connection.execute("SELECT pg_relation_filepath(%s)", (f'"{name}".log',)).fetchone()
        assert found is not None
        return bytes((postgresql.data / found[0]).read_bytes())

    return url, read


@pytest.mark.parametrize("place", [file_of, schema_of])
def test_the_name_is_gone_and_the_ordering_is_the_same(
    place: Callable[[pytest.FixtureRequest], tuple[str, Callable[[], bytes]]], request: pytest.FixtureRequest
) -> None:
    url, stored = place(request)
    with Study.create(ITEMS, storage=url, seed=2) as study:
        study.make_link("annotator", NAME)
        for number in range(16):
            query = study.ask((NAME, "Ann")[number % 2])
            side = "skip" if number in (6, 7) else "left" if query.left > query.right else "right"
            study.tell(query.id, side, AnswerDetails(reason=f"said by {number % 2}", client="a phone"))
        study.exclude_annotator(NAME)
        study.include_annotator(NAME)
        study.set_rules(makers=[("1", "Ann"), ("2", NAME.upper())])
        study.let_rest(NAME)
        before = study.ordering()
    assert NAME.encode() in stored()
    assert NAME.upper().encode() in stored()

    pseudonym, changed = storages.erase(url, NAME)
    assert changed == 21
    assert NAME.encode() not in stored()
    assert NAME.upper().encode() not in stored()
    assert b"said by 0" not in stored()
    assert b"said by 1" in stored()
    with Study.open(url) as study:
        after = study.ordering()
        assert study.annotators() == {pseudonym: 7, "Ann": 7}
        assert study.rules.resting == (pseudonym,)
        assert study.rules.makers == (("1", "Ann"), ("2", pseudonym))
        query = study.ask(NAME)  # a new person of this name
        study.tell(query.id, "left")
    np.testing.assert_array_equal(before.scores, after.scores)
    np.testing.assert_array_equal(before.standard_errors, after.standard_errors)


def test_an_owner_is_erased_who_did_something_or_let_a_program_answer(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Study.create(ITEMS, storage=f"sqlite:///{path}") as study, acting_as("Olga Owner"):
        study.tell(study.ask("Ann").id, "left")
    erase(str(path), "Olga Owner")
    assert b"Olga Owner" not in path.read_bytes()
    with pytest.raises(InvalidInput, match="no annotator or owner 'Olga Owner'"):
        erase(str(path), "Olga Owner")
