"""A study in one SQLite file. It is created completely or not at all, and never by opening; a write is on disk when it
returns."""

from __future__ import annotations

import os
import shlex
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from traceback import clear_frames
from typing import Any
from urllib.parse import quote

from ordinate.data.formats import FORMATS
from ordinate.data.matrices import FileMatrix
from ordinate.errors import (
    DiskFull,
    InvalidInput,
    NotAStudy,
    StorageFailed,
    StudyExists,
    StudyMoved,
    StudyNotFound,
)
from ordinate.storage import feature_files, sql, tables
from ordinate.storage.log import Log, Settings
from ordinate.storage.sql import SqlLog, read_settings, write_settings

BUSY_SECONDS = 30
SETTLED_SECONDS = 1.0
"""A file that has not changed for so long is not being copied into any more."""
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


def create(path: Path, settings: Settings, token: str, fill: Callable[[Log], None]) -> SqliteStorage:
    """A new study file. It is built under a temporary name and then renamed, so nobody sees an incomplete one."""
    if os.path.lexists(path):
        raise StudyExists(f"{path} exists already; it was left as it is. Choose another name, or delete it first")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}; make it first")
    partial = path.with_name(f".{path.name[:100]}.{token}.partial")
    try:
        with _translated(path), closing(_connect(partial, "rwc")) as connection, _transaction(connection, "IMMEDIATE"):
            tables.create(connection)
            write_settings(connection, settings, token)
            fill(SqlLog(connection, _folder(path)))
        _put_in_place(partial, path)
    finally:
        for leftover in (partial, partial.with_name(partial.name + "-journal")):
            leftover.unlink(missing_ok=True)
    return open(path)


def open(path: Path) -> SqliteStorage:
    if not path.exists():
        raise StudyNotFound(f"there is no study {path}; create one with: ordinate create, or Study.create")
    if not path.is_file():
        raise NotAStudy(f"{path} is a folder, not a study")
    return SqliteStorage(path)


def upgrade(path: Path) -> tuple[str, str]:
    if not path.is_file():
        raise StudyNotFound(f"there is no study {path}")
    newest = tables.revisions()[-1]
    with _translated(path), closing(_connect(path, "rw")) as connection, _transaction(connection, "IMMEDIATE"):
        before = tables.revision(connection, _tables(connection))
        if before != newest:
            tables.migrate(connection, before)
    return before, newest


class SqliteStorage:
    """The file of an open study: its transactions, and whether it is still the file that was opened."""

    def __init__(self, path: Path) -> None:
        self._path, self.folder = path, _folder(path)
        self._identity = _identity(path)
        self._connections = _Connections(path)
        self._served: _Served | None = None
        with _translated(path), self._connections.one() as connection, _transaction(connection):
            if tables.revision(connection, _tables(connection)) != tables.revisions()[-1]:
                raise NotAStudy(
                    "an older version of ordinate wrote it; keep a copy, then run once: "
                    f"ordinate db upgrade {shlex.quote(str(path))}"
                )
            self.token, self.settings = read_settings(connection)
        self._connections.token = self.token

    @contextmanager
    def reading(self) -> Iterator[Log]:
        if self._served is None:
            # While the study is served the connections stay those to the file that was opened, wherever it is now.
            self.check()
        with self._noting_foreign_files(), self._connections.one() as connection, _transaction(connection):
            yield SqlLog(connection, self.folder)

    @contextmanager
    def writing(self) -> Iterator[Log]:
        with self._noting_foreign_files():
            self.check()  # before a connection that may have to be opened
            self._require_settled()
            with self._connections.one() as connection:
                # A writer takes its lock before it reads, so what it has read is still true when it appends.
                with _transaction(connection, "IMMEDIATE"):
                    self.check()
                    self._require_untouched(connection)
                    yield SqlLog(connection, self.folder)
                if self._served is not None:
                    self._served.empty_write_ahead_log()
                self.check()

    def check(self) -> None:
        if (now := _identity(self._path)) != self._identity:
            raise _moved(self._path, "was moved or deleted" if now is None else "was replaced by another file")

    def _require_untouched(self, connection: sqlite3.Connection) -> None:
        """Raise StudyMoved where somebody wrote over the file of a served study without SQLite's knowledge.

        The connection would not notice: it trusts the pages that it has in memory. A new one has none, so where the
        file was changed by somebody else, both must find the same.
        """
        served, found = self._served, _version(self._path)
        if served is None:
            return
        if served.left != found:
            with closing(_connect(self._path, "rw")) as new:
                _require_same(self._path, new, self.token)
                if _summary(new) != _summary(connection):
                    raise _moved(self._path, "was overwritten with another copy of the study")
                if served.foreign is not None and new.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                    raise _moved(self._path, "was overwritten")
        served.left, served.foreign = found, None

    def _require_settled(self) -> None:
        """Raise StudyMoved where the file of a served study may hold something else.

        Whoever puts the study back may copy it into the file page by page. So the file is trusted again only when
        nobody has changed it for SETTLED_SECONDS, and no connection that may have read half of the copy is kept.
        """
        if self._served is not None and self._served.foreign is not None:
            self._connections.close()
            if not self._served.is_settled():
                raise StudyMoved(self._served.foreign)

    @contextmanager
    def _noting_foreign_files(self) -> Iterator[None]:
        """Translate errors; of a served study, whose file was whole when it was opened, damage is another's doing."""
        with _translated(self._path):
            try:
                yield
            except StudyMoved as error:
                if self._served is not None:
                    self._served.foreign = str(error)
                raise
            except sqlite3.DatabaseError as error:
                if self._served is None or not _is_damage(error):
                    raise
                moved = _moved(self._path, "was overwritten")
                self._served.foreign = str(moved)
                raise moved from error

    def feature_files(self) -> list[FileMatrix]:
        """The files that hold features of this study; they are not opened."""
        with _translated(self._path), self._connections.one() as connection, _transaction(connection):
            return [kept.matrix for kept in feature_files.read(connection, self.folder)]

    def move_features(self, path: Path) -> FileMatrix:
        """Note that one of them is at `path` now; the log does not change."""
        with _translated(self._path), self._connections.one() as connection, _transaction(connection, "IMMEDIATE"):
            return feature_files.move(connection, self.folder, path).matrix

    def erase(self, annotator: str, pseudonym: str) -> int:
        """Also from the parts of the file that are free now."""
        with _translated(self._path), self._connections.one() as connection:
            with _transaction(connection, "IMMEDIATE"):
                changed = sql.erase(connection, annotator, pseudonym)
            connection.execute("VACUUM")
        return changed

    def version(self) -> int | None:
        if self._served is None:
            return None
        with self._noting_foreign_files():
            return self._served.version()

    @contextmanager
    def serving(self) -> Iterator[None]:
        """SQLite's write-ahead log while the block runs, one file again after it, unless others still use the study.

        Readers never wait then. (`synchronous`: FULL and EXTRA are one there.)
        """
        with _translated(self._path):
            self._served = _Served(self._path)
        self._connections.served = True
        try:
            yield
        finally:
            served, self._served, self._connections.served = self._served, None, False
            self._connections.close()
            served.close()
            if _identity(self._path) == self._identity:
                with suppress(sqlite3.DatabaseError), closing(_connect(self._path, "rw")) as last:
                    last.execute("PRAGMA busy_timeout = 0")
                    last.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        self._connections.close()


class _Connections:
    """Connections to one file, kept between transactions. A thread takes one that no other uses.

    What SQLite keeps of the file is trusted only where nobody else has changed the file since, and never in another
    process: a connection must not be used, nor closed, after a fork.
    """

    def __init__(self, path: Path) -> None:
        self.served = False
        self.token = ""  # of the study, once it is known
        self._path = path
        self._write_ahead_log = f"{path}-wal"
        self._idle: list[sqlite3.Connection] = []
        self._process = os.getpid()
        self._left: tuple[int, ...] | None = None

    @contextmanager
    def one(self) -> Iterator[sqlite3.Connection]:
        """A connection; it is closed where the block fails: it may have seen what does not stay."""
        connection = self._take()
        try:
            yield connection
        except BaseException as error:
            connection.close()
            # From Python 3.13 on, a statement that was not read to its end keeps the file locked while the error lasts.
            clear_frames(error.__traceback__)
            raise
        # Where another program serves the study, whoever keeps a connection would keep it from ending that cleanly.
        if self.served or not os.path.exists(self._write_ahead_log):
            self._left = _version(self._path)
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        if self._process != os.getpid():
            _of_parents.extend(self._idle)
            self._idle, self._process = [], os.getpid()
        try:
            # Another thread may take the last one meanwhile.
            while True:
                self._idle.pop().close()
        except IndexError:
            pass

    def __del__(self) -> None:
        try:  # noqa: SIM105
            self.close()
        except AttributeError:
            # The interpreter ends, and the modules are gone, `suppress` too.
            pass

    def _take(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            self.close()
        if not self.served and self._left != _version(self._path):
            self.close()
        try:
            return self._idle.pop()
        except IndexError:
            made = _connect(self._path, "rw")
        try:
            _require_same(self._path, made, self.token)
        except BaseException:
            made.close()
            raise
        return made


_of_parents: list[sqlite3.Connection] = []
"""Connections of the process that this one was forked from, so that they are not closed here."""


class _Served:
    """What a study needs while it is served: two more connections, and the file in the mode of a write-ahead log.

    left     the version of the file after the last write of this process
    foreign  what is wrong with the file, where it was away or held something else when it was last used
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._watching = _connect(path, "rw")
        self._watching.execute("PRAGMA journal_mode = WAL")
        self._checkpointer = _connect(path, "rw")
        self._checkpointer.execute("PRAGMA busy_timeout = 0")
        self.left = _version(path)
        self.foreign: str | None = None
        self._seen: tuple[tuple[int, ...] | None, float] = (self.left, 0.0)

    def is_settled(self) -> bool:
        """Whether nobody has changed the file for a while, or since the last write of this process."""
        found, now = _version(self._path), time.monotonic()
        if found != self._seen[0]:
            self._seen = (found, now)
        return found == self.left or now - self._seen[1] >= SETTLED_SECONDS

    def version(self) -> int:
        """A number that changes with every write."""
        return int(self._watching.execute("PRAGMA data_version").fetchone()[0])

    def empty_write_ahead_log(self) -> None:
        """Move what is in SQLite's write-ahead log into the file.

        Whoever moves the file leaves that log behind: acknowledged answers would be missing, and another file that is
        put in its place would be overwritten with them. Where somebody is reading just now, or the disk is full, a part
        may stay behind until the next commit: what was committed is on disk all the same.
        """
        try:
            self._checkpointer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
                raise
        finally:
            self.left = _version(self._path)

    def close(self) -> None:
        # The log is empty after each write; where the file is damaged or gone, nothing more can be done.
        with suppress(sqlite3.DatabaseError):
            self.empty_write_ahead_log()
        self._checkpointer.close()
        self._watching.close()


def _folder(path: Path) -> Path:
    """Where the file is, also where a symbolic link is its name."""
    return Path(os.path.realpath(path)).parent


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Mode "rw" never creates a file, and falls back to reading where the file is read-only."""
    address = f"file:{quote(str(path))}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        # EXTRA also flushes the folder after the journal is deleted; without it a power cut could undo a stored answer.
        connection.execute("PRAGMA synchronous = EXTRA")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection, lock: str = "DEFERRED") -> Iterator[None]:
    connection.execute(f"BEGIN {lock}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.DatabaseError):  # some errors have ended the transaction already
            connection.execute("ROLLBACK")
        raise


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file the path leads to; None: to none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _moved(path: Path, what: str) -> StudyMoved:
    return StudyMoved(
        f"{path} {what} while the study was open, so nothing more is stored; put the file back, or close the study and "
        "open it where it is now"
    )


def _require_same(path: Path, new: sqlite3.Connection, token: str) -> None:
    """Raise StudyMoved where a new connection finds another study than that of the token."""
    if token and new.execute("SELECT token FROM study").fetchone() != (token,):
        raise _moved(path, "was replaced by another file")


def _summary(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """The newest entry of the log, and how large the database is."""
    queries = ("SELECT * FROM log ORDER BY position DESC LIMIT 1", "PRAGMA page_count", "PRAGMA freelist_count")
    return [connection.execute(query).fetchone() for query in queries]


def _version(path: Path) -> tuple[int, ...] | None:
    """Which file the path leads to, and when it was changed last."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


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
    except sqlite3.DatabaseError as error:
        raise _translate(path, error) from error
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{error.object!r} holds a character that cannot be stored; leave it out") from error


def _is_damage(error: BaseException | None) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith(DAMAGED) or "decode to UTF-8" in str(error)


def _translate(path: Path, error: BaseException | None) -> Exception:
    name = getattr(error, "sqlite_errorname", None) or ""
    if _is_damage(error):
        if path.suffix.lower() in (*FORMATS, ".npy", ".txt"):
            shown = shlex.quote(str(path))
            return NotAStudy(f"{path} is a table, not a study. Make one: ordinate create study.db --items {shown}")
        return NotAStudy(f"{path} is damaged or no study: {error}")
    for prefix, advice in FAILURES.items():
        if name.startswith(prefix):
            kind = DiskFull if prefix == "SQLITE_FULL" else StorageFailed
            return kind(f"{path}: {advice} ({error})")
    return StorageFailed(f"{path}: {error}")
