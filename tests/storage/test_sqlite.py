"""SQLite files that are no study, damaged, out of reach or on a full disk: one clear error, and the file as it was."""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np
import pytest

from ordinate import storage as storages
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import DiskFull, InvalidInput, NotAStudy, StorageFailed, StudyExists, StudyMoved, StudyNotFound
from ordinate.storage import Entry, Storage, sqlite, tables
from ordinate.study.study import Study

ITEMS = Items(ids=[f"item {row}" for row in range(30)], features=np.random.default_rng(1).normal(size=(30, 3)))


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


@pytest.fixture
def stored(path: Path) -> Path:
    """A study with a few answers."""
    with Study.create(ITEMS, storage=url_of(path)) as study:
        study.record([Comparison("item 1", "item 2", "left"), Comparison("item 3", "item 4", "tie", "Ann")])
        study.tell(study.ask().id, "right")
    return path


def execute(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


# Files that are no study -----------------------------------------------------------------------------------------


def foreign_database(path: Path) -> None:
    execute(path, "CREATE TABLE customers (name TEXT)", "INSERT INTO customers VALUES ('Ann')")


def another_numbered_database(path: Path) -> None:
    newest = f"INSERT INTO alembic_version VALUES ('{tables.revisions()[-1]}')"
    execute(path, "CREATE TABLE alembic_version (version_num TEXT)", newest)


def same_names_other_columns(path: Path) -> None:
    another_numbered_database(path)
    execute(path, "CREATE TABLE study (name TEXT)", "CREATE TABLE log (line TEXT)")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_text("id,text\n1,one\n" * 500), "no study"),
        (lambda path: path.write_bytes(np.random.default_rng(0).bytes(20_000)), "no study"),
        (lambda path: path.mkdir(), "is a folder"),
        (foreign_database, "holds no study"),
        (another_numbered_database, "holds no study"),
        (same_names_other_columns, "no study"),
    ],
)
def test_refuses_what_is_no_study(path: Path, make: Callable[[Path], None], words: str) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(NotAStudy, match=words) as caught:
        Study.open(url_of(path))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert os.listdir(path.parent) == ["study.db"]


def test_refuses_a_study_of_a_newer_version(stored: Path) -> None:
    execute(stored, "UPDATE alembic_version SET version_num = '9999'")
    for use in (Study.open, storages.upgrade):
        with pytest.raises(NotAStudy, match=r"newer version .* pip install -U ordinate"):
            use(url_of(stored))


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM study",
        "DELETE FROM alembic_version",
        "DROP TABLE items",
        "DELETE FROM features",
        "DELETE FROM items WHERE row > 20",
        "DELETE FROM items",
        "DELETE FROM log WHERE position = 3",
        "DELETE FROM log WHERE kind = 'ask'",
        "UPDATE log SET kind = 'dance' WHERE position = 2",
        "UPDATE log SET answer = 'perhaps' WHERE position = 2",
        "UPDATE log SET answer = NULL WHERE position = 2",
        "UPDATE log SET query = 17 WHERE kind = 'ask'",
        "UPDATE log SET query = NULL WHERE kind = 'answer'",
        "UPDATE log SET left = 'no such item' WHERE position = 2",
        "UPDATE log SET left = NULL WHERE position = 2",
        "UPDATE items SET id = '' WHERE row = 3",
        "UPDATE items SET id = CAST(X'ff00ff' AS TEXT) WHERE row = 3",
        "UPDATE features SET numbers = X'0011'",
        "UPDATE features SET numbers = 'text'",
        "UPDATE features SET names = '[\"one\"]'",
        "UPDATE features SET names = '{'",
        "UPDATE features SET columns = -4",
        "UPDATE study SET algorithm = 'astrology'",
    ],
)
def test_refuses_a_study_whose_rows_are_damaged(stored: Path, damage: str) -> None:
    execute(stored, damage)
    with pytest.raises(NotAStudy) as caught:
        Study.open(url_of(stored)).ordering()
    assert str(stored) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_study_that_was_refused_is_not_kept_locked_by_the_error(stored: Path) -> None:
    # Not the last entry, so that reading stops halfway.
    execute(stored, "UPDATE log SET kind = 'dance' WHERE position = 2")
    with pytest.raises(NotAStudy) as caught:
        Study.open(url_of(stored))
    with closing(sqlite3.connect(stored, timeout=0)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
    assert caught.value.__traceback__ is not None, "the error, and what it refers to, is still there"


def test_damaged_bytes_never_give_a_bare_error(stored: Path) -> None:
    rng = np.random.default_rng(5)
    whole = stored.read_bytes()
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        start = int(rng.integers(len(whole)))
        size = int(rng.choice([1, 16, 400, 4096]))
        damaged[start : start + size] = rng.bytes(len(damaged[start : start + size]))
        stored.write_bytes(damaged)
        try:
            with Study.open(url_of(stored)) as study:
                study.ordering()
                study.tell(study.ask().id, "tie")
        except (NotAStudy, StorageFailed):
            refused += 1
    assert refused > 10
    for cut in (1, 100, 4096, len(whole) // 2):
        stored.write_bytes(whole[:cut])
        with pytest.raises(NotAStudy):
            Study.open(url_of(stored)).ordering()


# Making one ------------------------------------------------------------------------------------------------------


def test_opening_a_missing_study_makes_none(path: Path) -> None:
    for use in (Study.open, storages.upgrade):
        with pytest.raises(StudyNotFound, match=str(path)):
            use(url_of(path))
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("make", [lambda path: path.write_text("mine"), lambda path: path.symlink_to("nowhere")])
def test_creating_leaves_an_existing_file_as_it_is(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    before = path.lstat()
    with pytest.raises(StudyExists, match=r"left as it (is|was)"):
        Study.create(ITEMS, storage=url_of(path))
    assert path.lstat()[:7] == before[:7]
    assert os.listdir(path.parent) == ["study.db"]


def test_of_two_that_create_one_file_the_second_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def overtaken(partial: Path, target: Path) -> None:
        path.write_text("another process was quicker")
        put_in_place(partial, target)

    put_in_place = sqlite._put_in_place
    monkeypatch.setattr(sqlite, "_put_in_place", overtaken)
    with pytest.raises(StudyExists):
        Study.create(ITEMS, storage=url_of(path))
    assert path.read_text() == "another process was quicker"
    assert os.listdir(path.parent) == ["study.db"]


def test_creates_where_the_disk_has_no_links(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    with Study.create(ITEMS, storage=url_of(path)) as study:
        assert study.items.ids == ITEMS.ids
    assert os.listdir(path.parent) == ["study.db"]
    path.write_text("mine")
    with pytest.raises(StudyExists):
        sqlite._put_in_place(path.parent / "partial", path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("step", ["SqlLog", "write_settings", "_put_in_place"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_create_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: type[BaseException]
) -> None:
    def interrupted(*_: object) -> None:
        raise error

    monkeypatch.setattr(sqlite, step, interrupted)
    with pytest.raises(error):
        Study.create(ITEMS, storage=url_of(path))
    assert os.listdir(path.parent) == []


def test_creating_in_a_missing_folder_names_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no folder .*missing"):
        Study.create(ITEMS, storage=url_of(tmp_path / "missing" / "study.db"))
    assert os.listdir(tmp_path) == []


# A hostile disk --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("ordinary_user")
def test_a_read_only_folder_allows_reading_alone(stored: Path) -> None:
    with Study.open(url_of(stored)) as study:
        expected = study.ordering()
    stored.parent.chmod(0o555)
    try:
        with pytest.raises(StorageFailed, match="writable"):
            Study.create(ITEMS, storage=url_of(stored.parent / "other.db"))
        with Study.open(url_of(stored)) as study:
            assert study.ordering().ids == expected.ids
            with pytest.raises(StorageFailed, match="writable"):
                study.ask()
            with pytest.raises(StorageFailed, match="writable"):
                study.record(Comparison("item 1", "item 2", "left"))
            assert len(study.comparisons()) == 3
    finally:
        stored.parent.chmod(0o755)
    with Study.open(url_of(stored)) as study:
        study.tell(study.ask().id, "left")
        assert len(study.comparisons()) == 4


@pytest.mark.usefixtures("ordinary_user")
def test_a_read_only_file_allows_reading_alone(stored: Path) -> None:
    stored.chmod(0o444)
    with Study.open(url_of(stored)) as study:
        assert len(study.ordering()) == 30
        with pytest.raises(StorageFailed, match="read-only"):
            study.ask()


@pytest.mark.usefixtures("ordinary_user")
def test_an_unreadable_file_says_so(stored: Path) -> None:
    stored.chmod(0o000)
    with pytest.raises(StorageFailed, match="cannot be opened"):
        Study.open(url_of(stored))


def test_relative_paths_start_where_the_file_is_and_not_at_a_link_to_it(tmp_path: Path) -> None:
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    own.mkdir()
    elsewhere.mkdir()
    np.save(own / "features.npy", ITEMS.features)
    items = Items(ITEMS.ids, np.load(own / "features.npy", mmap_mode="r"))
    Study.create(items, storage=url_of(own / "study.db")).close()
    (elsewhere / "link.db").symlink_to(own / "study.db")
    with Study.open(url_of(elsewhere / "link.db")) as study:
        assert study.folder == own.resolve()
        assert np.asarray(study.items.features).tolist() == ITEMS.features.tolist()


def test_a_full_disk_loses_nothing_that_was_acknowledged(tiny_disk: Path) -> None:
    path = tiny_disk / "study.db"
    with Study.create(ITEMS, storage=url_of(path)) as study:
        told: list[Comparison] = []

        def fill() -> None:
            for number in range(10_000):
                batch = [Comparison("item 1", "item 2", "left", f"annotator {number} " + "x" * 60)] * 50
                study.record(batch)
                told.extend(batch)

        with pytest.raises(StorageFailed, match="the disk is full"):
            fill()
        assert told
        assert study.comparisons() == told
        with Study.open(url_of(path)) as again:
            assert again.comparisons() == told
        with pytest.raises(StorageFailed, match="the disk is full"):
            study.record([told[0]] * 100)
    assert os.listdir(tiny_disk) == ["study.db"]


@pytest.mark.parametrize("size", [300, 700, 1100, 1500])
def test_what_a_served_study_refuses_on_a_full_disk_is_not_stored(tiny_disk: Path, size: int) -> None:
    path = tiny_disk / "study.db"
    with Study.create(ITEMS, storage=url_of(path)) as study:
        batch = [Comparison("item 1", "item 2", "left", "x" * 75)] * size
        told = 0
        with study.serving():
            for _ in range(20):
                try:
                    study.record(batch)
                except DiskFull:
                    break
                told += size
            else:
                pytest.fail("the disk has room for all of it")
            assert len(study.comparisons()) == told
        with Study.open(url_of(path)) as again:
            assert len(again.comparisons()) == told


def test_creating_on_a_full_disk_leaves_nothing(tiny_disk: Path) -> None:
    large = Items(ids=[str(row) for row in range(1000)], features=np.ones((1000, 100)))
    with pytest.raises(StorageFailed, match="the disk is full"):
        Study.create(large, storage=url_of(tiny_disk / "study.db"))
    assert os.listdir(tiny_disk) == []


def test_a_file_held_by_another_program(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)
    holder = sqlite3.connect(stored, isolation_level=None)
    with Study.open(url_of(stored)) as study:
        holder.execute("BEGIN IMMEDIATE")
        assert len(study.comparisons()) == 3
        with pytest.raises(StorageFailed, match="another program"):
            study.ask()
        holder.execute("ROLLBACK")
        assert study.ask().id.endswith("-2")
    holder.close()


def test_a_file_that_went_away(stored: Path) -> None:
    with Study.open(url_of(stored)) as study:
        stored.unlink()
        with pytest.raises(StudyMoved, match="was moved or deleted"):
            study.comparisons()
    assert os.listdir(stored.parent) == []


def test_a_character_that_cannot_be_stored_is_named(stored: Path) -> None:
    with Study.open(url_of(stored)) as study:
        with pytest.raises(InvalidInput, match=r"'Ann\\udc00'"):
            study.record(Comparison("item 1", "item 2", "left", "Ann\udc00"))
        assert len(study.comparisons()) == 3
    with pytest.raises(InvalidInput, match="the question holds a character that is no text"):
        Study.create(ITEMS, question="\udc00?", storage=url_of(stored.parent / "other.db"))
    assert os.listdir(stored.parent) == ["study.db"]


# What stays cheap ------------------------------------------------------------------------------------------------


def test_a_person_can_read_the_tables(stored: Path) -> None:
    connection = sqlite3.connect(stored)
    rows = connection.execute(
        "SELECT kind, query, left, right, answer, annotator FROM log ORDER BY position"
    ).fetchall()
    (question,) = connection.execute("SELECT question FROM study").fetchone()
    connection.close()
    assert question == "Which ranks higher?"
    assert rows[:3] == [
        ("add-items", None, None, None, None, None),
        ("record", None, "item 1", "item 2", "left", None),
        ("record", None, "item 3", "item 4", "tie", "Ann"),
    ]
    assert [row[0] for row in rows[3:]] == ["ask", "answer"]
    assert rows[4][1:5] == (1, rows[3][2], rows[3][3], "right")


def test_two_writers_cannot_take_one_position(stored: Path) -> None:
    def open_storage() -> Storage:
        return storages.open(url_of(stored))

    with open_storage().writing() as log:
        last = log.entries(0)[-1].position
        log.append([Entry(last + 1, "record", "t", None, "item 1", "item 2", "left")])
    with pytest.raises(StorageFailed, match="UNIQUE"), open_storage().writing() as log:
        log.append([Entry(last + 1, "record", "t", None, "item 1", "item 2", "right")])


@pytest.mark.parametrize("served", [False, True])
def test_a_writer_waits_for_the_one_before_it_and_then_reads_what_that_one_wrote(stored: Path, served: bool) -> None:
    """It takes its lock before it reads, so what it has read is still true when it appends."""
    seen: list[int] = []

    def write() -> None:
        with closing(storages.open(url_of(stored))) as second, second.writing() as log:
            position = log.entries(0)[-1].position
            seen.append(position)
            log.append([Entry(position + 1, "exclude-annotator", "t", annotator="Bob")])

    with closing(storages.open(url_of(stored))) as first, first.serving() if served else nullcontext():
        with first.writing() as log:
            last = log.entries(0)[-1].position
            waiting = threading.Thread(target=write)
            waiting.start()
            waiting.join(0.5)
            assert seen == []
            log.append([Entry(last + 1, "exclude-annotator", "t", annotator="Ann")])
        waiting.join()
        assert seen == [last + 1]
        with first.reading() as log:
            assert [entry.annotator for entry in log.entries(last)] == ["Ann", "Bob"]


def test_while_served_a_writer_does_not_wait_for_readers_who_see_what_was_there_when_they_began(stored: Path) -> None:
    with (
        closing(storages.open(url_of(stored))) as first,
        first.serving(),
        closing(storages.open(url_of(stored))) as other,
        other.reading() as seen,
    ):
        last = seen.entries(0)[-1].position
        with first.writing() as log:
            log.append([Entry(last + 1, "exclude-annotator", "t", annotator="Ann")])
        assert list(seen.entries(last)) == []
        with first.reading() as log:
            assert [entry.annotator for entry in log.entries(last)] == ["Ann"]
