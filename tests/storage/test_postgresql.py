"""What a study in PostgreSQL promises beside the contract of all storages."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate import storage as storages
from ordinate.data.items import Items
from ordinate.errors import (
    InvalidInput,
    NotAStudy,
    StorageFailed,
    StudyExists,
    StudyMoved,
    StudyNotFound,
)
from ordinate.storage import Entry, Settings, tables
from ordinate.storage.log import asked_at
from ordinate.study.study import Study

ITEMS = Items(ids=["a", "b", "c"], features=np.eye(3))


@pytest.fixture
def url(postgresql: Any) -> str:
    made: str = postgresql.url()
    storages.create(made, Settings("guro-hybrid"), ITEMS).close()
    return made


@pytest.fixture
def database(url: str) -> Iterator[Any]:
    """A connection of somebody else, who sees the tables of the study."""
    import psycopg

    address, _, name = url.rpartition("/")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'SET search_path TO "{name}"')
        yield connection


def test_a_person_can_read_the_tables(url: str, database: Any) -> None:
    with Study.open(url) as study:
        query = study.ask("Ann")
        study.tell(query.id, "left")
    rows = database.execute('SELECT position, kind, "left", annotator FROM log ORDER BY position').fetchall()
    assert rows == [
        (1, "add-items", None, None),
        (2, "ask", query.left, "Ann"),
        (3, "answer", query.left, "Ann"),
    ]


def test_there_is_one_study_of_a_name_and_the_first_one_stays(url: str) -> None:
    with pytest.raises(StudyExists, match="exists already"):
        storages.create(url, Settings("guro-contextual"), ITEMS)
    with storages.open(url).reading() as log:
        assert len(log.entries(0)) == 1


def test_a_study_that_cannot_be_made_leaves_nothing(postgresql: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ordinate.storage import postgresql as module

    url = postgresql.url()
    with monkeypatch.context() as patched:
        patched.setattr(module, "SqlLog", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            storages.create(url, Settings("guro-hybrid"), ITEMS)
    with pytest.raises(StudyNotFound, match="there is no study"):
        storages.open(url)
    storages.create(url, Settings("guro-hybrid"), ITEMS).close()


def test_two_writers_never_take_one_position(url: str) -> None:
    def write(name: str) -> None:
        storage = storages.open(url)
        for _ in range(20):
            with storage.writing() as log:
                newest = log.entries(0)[-1].position
                log.append([Entry(newest + 1, "exclude-annotator", "t", annotator=name)])
        storage.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, "abcd"))
    with storages.open(url).reading() as log:
        entries = log.entries(0)
    assert [entry.position for entry in entries] == list(range(1, 82))
    assert sorted(str(entry.annotator) for entry in entries[1:]) == sorted("abcd" * 20)


def test_a_write_is_flushed_even_where_the_database_would_not_wait(url: str, database: Any) -> None:
    database.execute("ALTER ROLE ordinate SET synchronous_commit TO off")
    try:
        storage = storages.open(url)
        with storage.writing() as log:
            found = log._connection.execute("SHOW synchronous_commit").fetchone()  # type: ignore[attr-defined]
        storage.close()
    finally:
        database.execute("ALTER ROLE ordinate RESET synchronous_commit")
    assert found == ("on",)


def test_a_served_study_knows_at_once_of_every_write_of_others(url: str) -> None:
    mine, other = storages.open(url), storages.open(url)
    assert mine.version() is None
    with mine.serving():
        seen = {mine.version()}
        for position in range(2, 12):
            with other.writing() as log:
                log.append([Entry(position, "exclude-annotator", "t", annotator="Ann")])
            assert mine.version() not in seen
            seen.add(mine.version())
            assert mine.version() == mine.version()
    assert mine.version() is None
    for one in (mine, other):
        one.close()


def test_one_request_asks_for_new_entries_once_and_sees_all_that_was_stored_before_it(url: str) -> None:
    from ordinate.storage.postgresql_connections import FRESH_SECONDS

    mine, other = storages.open(url), storages.open(url)

    def write(position: int) -> None:
        with other.writing() as log:
            log.append([Entry(position, "exclude-annotator", "t", annotator="Ann")])

    with mine.serving():
        assert mine.version() == 1
        write(2)
        began = asked_at.set(time.monotonic())
        assert mine.version() == 2
        write(3)
        assert mine.version() == 2, "as when the request came"
        time.sleep(FRESH_SECONDS)
        assert mine.version() == 3, "it lasts long"
        write(4)
        asked_at.set(time.monotonic())
        assert mine.version() == 4
        asked_at.reset(began)
        write(5)
        assert mine.version() == 5
    for one in (mine, other):
        one.close()


def test_after_a_restart_of_the_database_everything_goes_on(url: str, postgresql: Any) -> None:
    with Study.open(url) as study, study.serving():
        study.tell(study.ask("Ann").id, "left")
        postgresql.stop()
        # What is known is still shown; nothing is stored.
        assert study.annotators() == {"Ann": 1}
        with pytest.raises(StorageFailed, match="does not answer") as refused:
            study.ask("Bob")
        assert "secret" not in str(refused.value)
        postgresql.start()
        ends = time.monotonic() + 20
        while True:
            try:
                query = study.ask("Bob")
                break
            except StorageFailed:
                assert time.monotonic() < ends
                time.sleep(0.05)
        study.tell(query.id, "right")
        assert study.annotators() == {"Ann": 1, "Bob": 1}
        with Study.open(url) as other:
            other.tell(other.ask("Cleo").id, "left")
        while study.annotators() != {"Ann": 1, "Bob": 1, "Cleo": 1}:
            assert time.monotonic() < ends
            time.sleep(0.01)


def test_a_connection_that_is_cut_between_two_calls_is_made_again_at_once(url: str, database: Any) -> None:
    with Study.open(url) as study:
        study.ask("Ann")
        database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ordinate'"
        ).fetchall()
        study.tell(study.ask("Ann").id, "left")


def test_a_connection_that_is_cut_within_a_transaction_leaves_nothing(url: str, database: Any) -> None:
    storage = storages.open(url)

    def write() -> None:
        with storage.writing() as log:
            log.append([Entry(2, "exclude-annotator", "t", annotator="Ann")])
            database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ordinate'"
            ).fetchall()

    with pytest.raises(StorageFailed, match="ended the connection"):
        write()
    with storage.reading() as log:
        assert len(log.entries(0)) == 1
    storage.close()


def test_readers_do_not_wait_for_a_writer_who_waits_for_another_one(
    url: str, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ordinate.storage import postgresql_connections

    monkeypatch.setattr(postgresql_connections, "BUSY_SECONDS", 1)
    storage = storages.open(url)
    database.execute("BEGIN")
    database.execute("SELECT * FROM study FOR UPDATE").fetchall()
    with storage.reading() as log:
        assert len(log.entries(0)) == 1
    began = time.monotonic()
    with pytest.raises(StorageFailed, match="keeps the study locked"), storages.open(url).writing():
        pass
    assert 0.9 < time.monotonic() - began < 10
    database.execute("ROLLBACK")
    with storage.writing():
        pass
    storage.close()


@pytest.mark.parametrize("how", ["dropped", "restored", "upgraded"])
def test_what_is_open_stores_nothing_in_another_study(how: str, url: str, database: Any) -> None:
    storage = storages.open(url)
    name = url.rpartition("/")[2]
    if how == "upgraded":
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    else:
        database.execute(f'ALTER SCHEMA "{name}" RENAME TO "{name}-old"')
    if how == "restored":
        database.execute(f'CREATE SCHEMA "{name}"; SET search_path TO "{name}"')
        for table in ("study", "log", "alembic_version"):
            database.execute(f'CREATE TABLE {table} AS SELECT * FROM "{name}-old".{table}')
    with pytest.raises(StudyMoved, match=how), storage.writing() as log:
        log.append([Entry(2, "exclude-annotator", "t", annotator="Ann")])
    with pytest.raises(StudyMoved, match=how), storage.reading() as log:
        log.entries(0)
    storage.close()


def test_tables_of_another_version_are_refused_and_upgraded_in_one_step(
    url: str, database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = tables.revisions()[-1]
    folder = tmp_path / "migrations"
    shutil.copytree(tables.MIGRATIONS, folder)
    (folder / "9000_more.sql").write_text(
        "-- A column more.\nALTER TABLE log ADD COLUMN more INTEGER;\n"
        "ALTER TABLE study ADD COLUMN bolder BOOLEAN NOT NULL DEFAULT 1;\n"
    )
    with monkeypatch.context() as later:
        later.setattr(tables, "MIGRATIONS", folder)
        with pytest.raises(NotAStudy, match=re.escape("ordinate db upgrade postgresql://ordinate@127.0.0.1")):
            storages.open(url)
        assert storages.upgrade(url) == (newest, "9000")
        assert storages.upgrade(url) == ("9000", "9000")
        storages.open(url).close()
    assert database.execute("SELECT bolder FROM study").fetchone() == (True,)
    with pytest.raises(NotAStudy, match="a newer version of ordinate wrote it"):
        storages.open(url)


def test_an_id_that_postgresql_cannot_index_is_refused(postgresql: Any) -> None:
    letters = np.random.default_rng(0).integers(0x4E00, 0x9FFF, 5000)
    long = "".join(map(chr, letters))  # one that does not compress
    with pytest.raises(InvalidInput, match="too long for PostgreSQL"):
        storages.create(postgresql.url(), Settings("guro-hybrid"), Items(ids=["a", long]))


def test_an_error_shows_neither_the_password_nor_a_row(url: str, postgresql: Any) -> None:
    storage = storages.open(url)
    with pytest.raises(StorageFailed) as refused, storage.writing() as log:
        log.append([Entry(1, "exclude-annotator", "t", annotator="Ann the secret")])
    storage.close()
    wrong = url.replace("secret", "guess")
    with pytest.raises(StorageFailed, match="password authentication failed") as failed:
        storages.open(wrong)
    for error in (refused.value, failed.value):
        assert not re.search("secret|guess|w%C3|wö", str(error))
        assert error.__cause__ is None
    assert "secret" not in repr(storages.place(url))


def test_a_process_that_was_forked_leaves_the_connections_of_its_parent_alone(url: str) -> None:
    storage = storages.open(url)
    child = os.fork()
    if child == 0:
        try:
            with storage.writing() as log:
                log.append([Entry(2, "exclude-annotator", "t", annotator="child")])
            storage.close()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    with storage.writing() as log:
        log.append([Entry(3, "exclude-annotator", "t", annotator="parent")])
        assert [entry.annotator for entry in log.entries(1)] == ["child", "parent"]
    storage.close()


def test_many_threads_share_one_storage(url: str) -> None:
    with Study.open(url) as study, study.serving():
        lock, seen = threading.Lock(), []

        def work(name: str) -> None:
            query = study.ask(name)
            study.tell(query.id, "left")
            with lock:
                seen.append(query.id)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, [f"person {number}" for number in range(24)]))
        assert len(set(seen)) == 24
        assert sum(study.annotators().values()) == 24
