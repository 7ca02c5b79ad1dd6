"""A study in one SQLite file. It is created completely or not at all, and never by opening; a write is on disk when it
returns."""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.pool import NullPool, Pool, QueuePool

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, NotAStudy, StorageFailed, StudyExists, StudyMoved, StudyNotFound
from ordinate.storage import tables
from ordinate.storage.log import Entry, Settings
from ordinate.storage.sql import SqlLog, SqlStorage, check_revision, migrate, write_settings

BUSY_SECONDS = 30
# SQLITE_ERROR: a table or a column is missing; the others: what a damaged or foreign file gives.
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT", "SQLITE_MISMATCH", "SQLITE_ERROR")
FAILURES = {
    "SQLITE_FULL": "the disk is full; free some space and repeat",
    "SQLITE_BUSY": "another program keeps the file locked; close it and repeat",
    "SQLITE_LOCKED": "another program holds the file; close it and repeat",
    "SQLITE_READONLY": "the file or its folder is read-only; make both writable, or copy the study elsewhere",
    "SQLITE_CANTOPEN": "the file cannot be opened; check that it is there and that it and its folder are writable",
    "SQLITE_PERM": "the file may not be opened; check its permissions",
    "SQLITE_IOERR": "the disk failed; check it, and that it is not full",
}


def create(path: Path, settings: Settings, token: str, first: Entry, items: Items) -> SqlStorage:
    """A new study file. It is built under a temporary name and then renamed, so nobody sees an incomplete one."""
    if os.path.lexists(path):
        raise StudyExists(f"{path} exists already; it was left as it is. Choose another name, or delete it first")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}; make it first")
    partial = path.with_name(f".{path.name[:100]}.{token}.partial")
    try:
        with _translated(path):
            engine = _engine(partial, "rwc")
            with engine.connect().execution_options(writing=True) as connection:
                migrate(connection)
                write_settings(connection, settings, token)
                SqlLog(connection, path.parent).append([first], items)
                connection.commit()
        _put_in_place(partial, path)
    finally:
        for leftover in (partial, partial.with_name(partial.name + "-journal")):
            leftover.unlink(missing_ok=True)
    return open(path)


def open(path: Path) -> SqlStorage:
    if not path.exists():
        raise StudyNotFound(f"there is no study {path}; create one with: ordinate create, or Study.create")
    if not path.is_file():
        raise NotAStudy(f"{path} is a folder, not a study")
    database = SqliteFile(path)
    with _translated(path), database.engine.connect() as connection:
        if check_revision(connection) != tables.REVISIONS[-1]:
            raise NotAStudy(
                "an older version of ordinate wrote it; keep a copy, then run once: "
                f"ordinate db upgrade {shlex.quote(str(path))}"
            )
    return SqlStorage(database, path.parent)


class SqliteFile:
    """The file of an open study: its connections, its errors, and whether it is still the file that was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)
        self._checkpointer: sqlite3.Connection | None = None
        self.engine = _engine(path, "rw")

    def translated(self) -> AbstractContextManager[None]:
        return _translated(self._path)

    def check(self) -> None:
        if (now := _identity(self._path)) == self._identity:
            return
        what = "was moved or deleted" if now is None else "was replaced by another file"
        raise StudyMoved(
            f"{self._path} {what} while the study was open, so nothing more is stored; put the file back, or close the "
            "study and open it where it is now"
        )

    def committed(self) -> None:
        self._empty_write_ahead_log()
        self.check()

    def _empty_write_ahead_log(self) -> None:
        """Move what is in SQLite's write-ahead log into the file.

        Whoever moves the file leaves that log behind: acknowledged answers would be missing, and another file that is
        put in its place would be overwritten with them. Where somebody is reading just now, a part may stay behind
        until the next commit.
        """
        if self._checkpointer is not None:
            self._checkpointer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    @contextmanager
    def serving(self) -> Iterator[Callable[[], int]]:
        """SQLite's write-ahead log while the block runs, one file again after it, unless others still use the study.

        Readers never wait then. (`synchronous`: FULL and EXTRA are one there.)
        """
        before, self.engine = self.engine, _engine(self._path, "rw", QueuePool)
        with self.translated():
            connection = self.engine.raw_connection()
            kept: Any = connection.driver_connection
            kept.execute("PRAGMA journal_mode = WAL")
            self._checkpointer = _connect(self._path, "rw")
            self._checkpointer.execute("PRAGMA busy_timeout = 0")
        try:
            yield lambda: int(kept.execute("PRAGMA data_version").fetchone()[0])
        finally:
            # It is empty after each write; where the file is damaged or gone, nothing more can be done.
            with suppress(sqlite3.DatabaseError):
                self._empty_write_ahead_log()
            self._checkpointer.close()
            self._checkpointer = None
            connection.close()
            self.engine.dispose()
            self.engine = before
            if _identity(self._path) == self._identity:
                with suppress(sqlite3.DatabaseError), closing(_connect(self._path, "rw")) as last:
                    last.execute("PRAGMA busy_timeout = 0")
                    last.execute("PRAGMA journal_mode = DELETE")


def upgrade(path: Path) -> tuple[str, str]:
    if not path.is_file():
        raise StudyNotFound(f"there is no study {path}")
    with _translated(path), _engine(path, "rw").connect().execution_options(writing=True) as connection:
        before = check_revision(connection)
        if before != tables.REVISIONS[-1]:
            migrate(connection)
            connection.commit()
    return before, tables.REVISIONS[-1]


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _engine(path: Path, mode: str, pool: type[Pool] = NullPool) -> Engine:
    """Connections to the file. By default each is opened for one transaction, so nothing is open between calls or
    across a fork.

    Mode "rw" never creates a file, and falls back to reading where the file is read-only.
    """
    engine = create_engine("sqlite://", creator=lambda: _connect(path, mode), poolclass=pool)

    @event.listens_for(engine, "connect")
    def _be_durable(connection: Any, _record: object) -> None:
        # EXTRA also flushes the folder after the journal is deleted; without it a power cut could undo a stored answer.
        connection.execute("PRAGMA synchronous = EXTRA")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes its lock before it reads, so what it has read is still true when it appends.
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file the path leads to; None: to none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _put_in_place(partial: Path, path: Path) -> None:
    """Give the finished file its name, unless there is a file of that name by now."""
    try:
        try:
            os.link(partial, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links (exFAT): take the name first, then replace
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
            os.replace(partial, path)
        _flush_folder(path.parent)
    except FileExistsError as error:
        raise StudyExists(f"{path} exists already; it was left as it is") from error
    except OSError as error:
        raise StorageFailed(f"cannot make {path}: {error.strerror}") from error


def _flush_folder(folder: Path) -> None:
    with suppress(PermissionError):  # Windows opens no folders, and needs no flush
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Raise errors of SQLite, and values that cannot be stored, as our errors with the file's name."""
    try:
        yield
    except NotAStudy as error:
        raise NotAStudy(f"{path} is not a study that can be opened: {error}") from error
    except DBAPIError as error:
        raise _translate(path, error.orig) from error
    except sqlite3.DatabaseError as error:
        raise _translate(path, error) from error
    except (NoResultFound, MultipleResultsFound) as error:
        raise NotAStudy(f"{path} is damaged: a row that must be there once is not") from error
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{error.object!r} holds a character that cannot be stored; leave it out") from error


def _translate(path: Path, error: BaseException | None) -> Exception:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith(DAMAGED) or "decode to UTF-8" in str(error):
        return NotAStudy(f"{path} is damaged or no study: {error}")
    for prefix, advice in FAILURES.items():
        if name.startswith(prefix):
            return StorageFailed(f"{path}: {advice} ({error})")
    return StorageFailed(f"{path}: {error}")
