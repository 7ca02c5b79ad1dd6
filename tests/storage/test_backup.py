"""The backups that docs/postgresql.md names, taken while somebody writes: each is the study as it was at one moment."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.errors import StudyMoved
from ordinate.study.study import Study

ITEMS = Items([str(row) for row in range(40)], np.random.default_rng(0).normal(size=(40, 3)))


@contextmanager
def somebody_who_answers(url: str) -> Iterator[Callable[[], int]]:
    """Gives how many answers were acknowledged."""
    stop, answers = threading.Event(), 0

    def judge() -> None:
        nonlocal answers
        with Study.open(url) as study, study.serving():
            while not stop.is_set():
                study.tell(study.ask("Ann").id, "left")
                answers += 1

    thread = threading.Thread(target=judge)
    thread.start()
    while answers < 5:
        assert thread.is_alive()
    try:
        yield lambda: answers
    finally:
        stop.set()
        thread.join()


def assert_is_a_prefix(url: str, original: str, least: int) -> None:
    with Study.open(url) as copy, Study.open(original) as study:
        found, all_of_them = copy.comparisons(), study.comparisons()
    assert least <= len(found)
    assert found == all_of_them[: len(found)]


def test_a_file_is_backed_up_while_it_is_served(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    Study.create(ITEMS, storage=url, algorithm="uniform-hybrid").close()
    with somebody_who_answers(url) as answers:
        least = answers()
        with (
            closing(sqlite3.connect(tmp_path / "study.db")) as one,
            closing(sqlite3.connect(tmp_path / "copy.db")) as copy,
        ):
            one.backup(copy)  # what the command .backup does
    assert_is_a_prefix(f"sqlite:///{tmp_path / 'copy.db'}", url, least)


def test_a_schema_is_dumped_while_it_is_served_and_restored(postgresql: Any, tmp_path: Path) -> None:
    import psycopg

    url = postgresql.url()
    Study.create(ITEMS, storage=url, algorithm="uniform-hybrid").close()
    name, port = url.rpartition("/")[2], postgresql.port
    dump, at = postgresql.data.parent / f"{name}.dump", ["--host=127.0.0.1", f"--port={port}", "--username=ordinate"]
    with somebody_who_answers(url) as answers:
        least = answers()
        postgresql.program("pg_dump", *at, "--format=custom", f"--schema={name}", f"--file={dump}", "postgres")
    with psycopg.connect(postgresql.database, autocommit=True) as connection, Study.open(url) as still_open:
        connection.execute("CREATE DATABASE other")
        postgresql.program("pg_restore", *at, "--dbname=other", dump)
        assert_is_a_prefix(url.replace("/postgres/", "/other/"), url, least)

        connection.execute(f'DROP SCHEMA "{name}" CASCADE')
        postgresql.program("pg_restore", *at, "--dbname=postgres", dump)
        assert_is_a_prefix(url, url, least)
        with pytest.raises(StudyMoved, match=r"put in its place|replaced or restored"):
            still_open.ask("Bob")
        connection.execute("DROP DATABASE other")
