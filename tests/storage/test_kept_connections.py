"""A connection stays open between calls: not across a fork, and not where it would see what is no longer there."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ordinate import Items, Study
from ordinate.errors import NotAStudy

ITEMS = Items([str(row) for row in range(8)])


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def answer(study: Study, count: int = 1, name: str = "Ann") -> None:
    for _ in range(count):
        study.tell(study.ask(name).id, "left")


def answers_in(path: Path) -> int:
    with Study.open(url(path)) as study:
        return len(study.comparisons())


def open_files(path: Path) -> int:
    """How often this process has the file open."""
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("this system does not list open files")
    return sum(os.path.realpath(one) == os.path.realpath(path) for one in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


@pytest.fixture
def study(path: Path) -> Iterator[Study]:
    with Study.create(ITEMS, storage=url(path), algorithm="uniform-independent") as study:
        answer(study)
        yield study


def test_one_connection_is_kept_until_the_study_is_closed(study: Study, path: Path) -> None:
    assert open_files(path) == 1
    answer(study, 3)
    assert open_files(path) == 1
    study.close()
    assert open_files(path) == 0
    answer(study)
    assert answers_in(path) == 5


def test_a_study_that_nobody_closed_leaves_no_open_file(path: Path) -> None:
    study = Study.create(ITEMS, storage=url(path), algorithm="uniform-independent")
    answer(study)
    del study
    assert open_files(path) == 0


def test_no_connection_is_kept_after_a_call_that_failed(study: Study, path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("ALTER TABLE log RENAME TO gone")
        other.commit()
    with pytest.raises(NotAStudy, match="no such table"):
        answer(study)
    assert open_files(path) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")
def test_a_child_process_opens_its_own_connection(study: Study, path: Path) -> None:
    for count in range(3):
        child = os.fork()
        if not child:
            failed = 1
            try:
                answer(study, 2, "Bob")
                failed = 0
            finally:
                os._exit(failed)
        answer(study, 2)
        assert os.waitpid(child, 0)[1] == 0
        assert len(study.comparisons()) == 1 + 4 * (count + 1)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_two_studies_of_one_file_write_in_turns(study: Study, path: Path) -> None:
    with Study.open(url(path)) as other:
        for count in range(5):
            answer(study)
            answer(other)
            assert len(study.comparisons()) == len(other.comparisons()) == 3 + 2 * count


def test_a_copy_with_as_many_changes_written_over_the_file_is_read(study: Study, path: Path) -> None:
    """SQLite counts the changes of a file, and would take what it knows of one copy for what is in the other."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    answer(study, 2)
    with Study.open(url(copy)) as other:
        other.tell(other.ask("Bob").id, "right")
        other.tell(other.ask("Bob").id, "right")
    before = path.stat().st_mtime_ns
    path.write_bytes(copy.read_bytes())
    assert path.stat().st_mtime_ns != before
    with study._ledger.storage.reading() as log:
        assert [entry.annotator for entry in log.entries(0) if entry.kind == "answer"] == ["Ann", "Bob", "Bob"]
    with closing(sqlite3.connect(path)) as check:
        assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_nothing_is_kept_while_another_program_serves_the_study(study: Study, path: Path) -> None:
    with Study.open(url(path)) as server, server.serving():
        answer(study)
        answer(server)
        before = open_files(path)
        answer(study)
        assert open_files(path) == before
    assert sorted(os.listdir(path.parent)) == ["study.db"]
    with closing(sqlite3.connect(path)) as check:
        assert check.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert answers_in(path) == 4
