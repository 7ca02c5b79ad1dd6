"""The file of an open study is moved, deleted or replaced: nothing is acknowledged that the next opening would miss."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from ordinate import Items, Study
from ordinate.errors import NotAStudy, StorageFailed, StudyMoved
from ordinate.storage import sqlite

StudyUnusable = (NotAStudy, StorageFailed)

ITEMS = Items([str(row) for row in range(8)])


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def answer(study: Study, count: int = 1) -> None:
    for _ in range(count):
        study.tell(study.ask("Ann").id, "left")


def answers_in(path: Path) -> int:
    with Study.open(url(path)) as study:
        return len(study.comparisons())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


@pytest.fixture(params=["open", "served"])
def study(request: pytest.FixtureRequest, path: Path) -> Iterator[Study]:
    with ExitStack() as stack:
        study = stack.enter_context(Study.create(ITEMS, storage=url(path), algorithm="uniform-independent"))
        if request.param == "served":
            stack.enter_context(study.serving())
        answer(study, 3)
        yield study


def deleted(path: Path) -> None:
    path.unlink()


def renamed(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replaced_by_another_study(path: Path) -> None:
    other = path.with_name("other.db")
    with Study.create(ITEMS, storage=url(other), algorithm="uniform-independent") as study:
        answer(study, 5)
    other.replace(path)


def replaced_by_its_copy(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


@pytest.mark.parametrize(
    ("happens", "there"),
    [(deleted, None), (renamed, None), (replaced_by_another_study, 5), (replaced_by_its_copy, 3)],
)
def test_an_answer_that_would_be_lost_is_refused(
    study: Study, path: Path, happens: Callable[[Path], None], there: int | None
) -> None:
    query = study.ask("Ann")
    happens(path)
    for _ in range(2):
        with pytest.raises(StorageFailed):
            study.tell(query.id, "left")
        assert (answers_in(path) if path.exists() else None) == there


@pytest.mark.parametrize("happens", [renamed, replaced_by_another_study])
def test_what_was_acknowledged_is_in_the_file_and_answers_go_on_once_it_is_back(
    study: Study, path: Path, happens: Callable[[Path], None]
) -> None:
    kept = path.with_name("kept.db")
    path.rename(kept)
    if happens is replaced_by_another_study:
        happens(path)
    with pytest.raises(StorageFailed):
        answer(study)
    alone = path.with_name("alone.db")
    shutil.copy(kept, alone)
    assert answers_in(alone) == 3
    kept.replace(path)
    answer(study)
    assert len(study.comparisons()) == 4


def test_each_acknowledged_answer_is_in_the_file_itself_while_the_study_is_served(path: Path) -> None:
    with Study.create(ITEMS, storage=url(path), algorithm="uniform-independent") as study, study.serving():
        for count in range(1, 6):
            answer(study)
            alone = path.with_name(f"{count}.db")
            shutil.copy(path, alone)
            assert answers_in(alone) == count


def test_a_moved_file_is_told_from_a_deleted_and_a_replaced_one(path: Path) -> None:
    with Study.create(ITEMS, storage=url(path), algorithm="uniform-independent") as study, study.serving():
        query = study.ask()
        renamed(path)
        with pytest.raises(StudyMoved, match="was moved or deleted while the study was open"):
            study.tell(query.id, "left")
        replaced_by_another_study(path)
        with pytest.raises(StudyMoved, match="was replaced by another file while the study was open"):
            study.tell(query.id, "left")
    assert answers_in(path) == 5
    assert answers_in(path.with_name("elsewhere.db")) == 0


def another_study(path: Path) -> bytes:
    replaced_by_another_study(path.with_name("another.db"))
    return path.with_name("another.db").read_bytes()


def older_copy(path: Path) -> bytes:
    return path.with_name("older.db").read_bytes()


def nonsense(path: Path) -> bytes:
    return b"nonsense" * (path.stat().st_size // 8)


def nothing(path: Path) -> bytes:
    return b""


@pytest.mark.parametrize("content", [another_study, older_copy, nonsense, nothing])
def test_what_is_written_over_the_file_in_place_is_noticed(
    study: Study, path: Path, content: Callable[[Path], bytes]
) -> None:
    shutil.copy(path, path.with_name("older.db"))
    answer(study)
    query, kept, other = study.ask("Ann"), path.read_bytes(), content(path)
    path.write_bytes(other)
    for _ in range(2):
        with pytest.raises(StudyUnusable):
            study.tell(query.id, "left")
    # What was written is left as it is, and with the study's own bytes answers go on.
    assert path.read_bytes() == other
    path.write_bytes(kept)
    tell_once_it_is_taken(study, query.id)
    assert len(study.comparisons()) == 5


def tell_once_it_is_taken(study: Study, query: str) -> None:
    """A served study waits until nobody writes into its file any more."""
    ends = time.monotonic() + 60
    while True:
        try:
            study.tell(query, "left")
            return
        except StudyMoved:
            assert time.monotonic() < ends
            time.sleep(0.05)


def test_a_study_that_is_being_copied_back_is_not_written_to(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first half of the copy has the study's token already; what is written now would be overwritten."""
    clock = [100.0]
    monkeypatch.setattr(sqlite, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with Study.create(ITEMS, storage=url(path), algorithm="uniform-independent") as study, study.serving():
        answer(study, 60)
        query, kept, other = study.ask("Ann"), path.read_bytes(), another_study(path)

        def is_refused() -> bool:
            try:
                study.tell(query.id, "left")
            except StudyMoved:
                return True
            return False

        path.write_bytes(other)
        assert is_refused()
        half = len(kept) // 2
        for content in (kept[:half], kept[:half] + bytes(len(kept) - half), kept):
            path.write_bytes(content)
            assert is_refused()
            assert path.read_bytes() == content
            clock[0] += 0.9
            assert is_refused()
        clock[0] += 0.2
        assert not is_refused()
        assert len(study.comparisons()) == 61
    assert answers_in(path) == 61


def test_what_other_processes_write_is_no_overwriting(path: Path) -> None:
    """Also where they move their entries from the write-ahead log into the file."""
    program = (
        "import sqlite3, sys; from ordinate import Study;"
        "study = Study.open(sys.argv[1]); study.tell(study.ask('Bob').id, 'left'); study.close();"
        "print(sqlite3.connect(sys.argv[1][10:]).execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone())"
    )
    with Study.create(ITEMS, storage=url(path), algorithm="uniform-independent") as study, study.serving():
        for count in range(1, 3):
            answer(study)
            subprocess.run([sys.executable, "-c", program, url(path)], check=True, capture_output=True)
            assert study.annotators() == {"Ann": count, "Bob": count}
        answer(study)


def test_an_older_copy_written_over_the_file_in_place_is_noticed(path: Path) -> None:
    with Study.create(ITEMS, storage=url(path), algorithm="uniform-independent") as study:
        older = path.with_name("older.db")
        shutil.copy(path, older)
        answer(study, 3)
        path.write_bytes(older.read_bytes())
        with pytest.raises(StudyMoved, match="an older copy of the study was put in its place"):
            answer(study)
    assert answers_in(path) == 0
