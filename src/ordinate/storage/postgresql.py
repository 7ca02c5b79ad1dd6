"""A study in a schema of a PostgreSQL database. Any number of processes may use it; a write is on disk when it returns.

A writer locks the only row of the table `study`, so nobody else writes until its transaction ends, and it has read all
entries before it appends one. Whoever serves the study asks for the position of the newest entry before it answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import errors as sql_errors

from ordinate.data.matrices import FileMatrix
from ordinate.errors import (
    InvalidInput,
    NotAStudy,
    StorageFailed,
    StudyExists,
    StudyMoved,
    StudyNotFound,
)
from ordinate.storage import feature_files, sql, tables
from ordinate.storage.log import Log, Settings
from ordinate.storage.places import Fill, PostgresqlSchema
from ordinate.storage.postgresql_connections import READ, WRITE, Connections, DatabaseConnection, Watch
from ordinate.storage.sql import SqlLog, read_settings, write_settings

# `tableoid` differs where the study was restored from a backup.
WHICH = "SELECT token, tableoid, (SELECT max(version_num) FROM alembic_version) FROM study"
LOCK = f"{WHICH} FOR UPDATE"
NEWEST = 'SELECT max(position) FROM "{schema}".log'
FAILURES: tuple[tuple[type[psycopg.Error] | tuple[type[psycopg.Error], ...], str], ...] = (
    (sql_errors.DiskFull, "the disk of the database is full; free some space and repeat"),
    (sql_errors.LockNotAvailable, "another program keeps the study locked; end it and repeat"),
    (sql_errors.InsufficientPrivilege, "this user may not do that; grant CREATE on the database, or own the schema"),
    (sql_errors.ReadOnlySqlTransaction, "the database is read-only, as a standby is; name the primary server"),
    (sql_errors.TooManyConnections, "the database has as many connections as it takes; raise max_connections"),
)


def create(place: PostgresqlSchema, settings: Settings, token: str, fill: Fill) -> PostgresqlStorage:
    """A new schema with the study, made in one transaction."""
    with translated(place):
        connections = Connections(place)
        try:
            with connections.transaction(WRITE) as connection:
                try:
                    connection.raw.execute(f'CREATE SCHEMA "{place.name}"')
                except (sql_errors.DuplicateSchema, sql_errors.UniqueViolation) as error:
                    raise StudyExists(
                        f"{place.shown} exists already; it was left as it is. Choose another name, or drop the schema "
                        f'first, with all its answers: DROP SCHEMA "{place.name}" CASCADE'
                    ) from error
                tables.create(connection)
                write_settings(connection, settings, token)
                fill(SqlLog(connection, None))
        finally:
            connections.close()
    return open(place)


def open(place: PostgresqlSchema) -> PostgresqlStorage:
    return PostgresqlStorage(place)


def upgrade(place: PostgresqlSchema) -> tuple[str, str]:
    newest = tables.revisions()[-1]
    with translated(place):
        connections = Connections(place)
        try:
            with connections.transaction(WRITE) as connection:
                _revision(place, connection)  # which says where there is no study
                connection.execute(LOCK).fetchall()
                before = _revision(place, connection)
                if before != newest:
                    tables.migrate(connection, before)
        finally:
            connections.close()
    return before, newest


def delete(place: PostgresqlSchema) -> None:
    with translated(place):
        connections = Connections(place)
        try:
            with connections.transaction(WRITE) as connection:
                connection.raw.execute(f'DROP SCHEMA "{place.name}" CASCADE')
        finally:
            connections.close()


class PostgresqlStorage:
    folder: Path | None = None

    def __init__(self, place: PostgresqlSchema) -> None:
        self._place = place
        self._connections = Connections(place)
        self._watch: Watch | None = None
        with translated(place), self._connections.transaction(READ) as connection:
            if _revision(place, connection) != tables.revisions()[-1]:
                raise NotAStudy(
                    "an older version of ordinate wrote it; make a backup, end all servers, then run once: "
                    f"ordinate db upgrade {place.shown}"
                )
            self.token, self.settings = read_settings(connection)
            ((self._table,),) = connection.execute("SELECT tableoid FROM study").fetchall()

    @contextmanager
    def reading(self) -> Iterator[Log]:
        with translated(self._place), self._connections.transaction(READ) as connection:
            self._require_same(connection.execute(WHICH).fetchall())
            yield SqlLog(connection, None)

    @contextmanager
    def writing(self) -> Iterator[Log]:
        with translated(self._place), self._connections.transaction(WRITE) as connection:
            self._require_same(connection.execute(LOCK).fetchall())
            yield SqlLog(connection, None)

    def _require_same(self, rows: list[tuple[str, int, str]]) -> None:
        if [row[:2] for row in rows] != [(self.token, self._table)]:
            raise StudyMoved(
                f"{self._place.shown} was replaced or restored while the study was open, so nothing more is read or "
                "stored; open the study again"
            )
        if rows[0][2] != tables.revisions()[-1]:
            raise StudyMoved(
                f"{self._place.shown} was upgraded by a newer version of ordinate while it was open, so nothing more "
                "is read or stored here; update with: python -m pip install -U ordinate"
            )

    def feature_files(self) -> list[FileMatrix]:
        with translated(self._place), self._connections.transaction(READ) as connection:
            return [kept.matrix for kept in feature_files.read(connection, None)]

    def move_features(self, path: Path) -> FileMatrix:
        with translated(self._place), self._connections.transaction(WRITE) as connection:
            return feature_files.move(connection, None, path).matrix

    def erase(self, annotator: str, pseudonym: str) -> int:
        """Also from old versions of the rows; backups and the write-ahead log of the database are its keeper's."""
        with translated(self._place):
            with self._connections.transaction(WRITE) as connection:
                self._require_same(connection.execute(LOCK).fetchall())
                changed = sql.erase(connection, annotator, pseudonym)
            self._connections.run(f'VACUUM FULL "{self._place.name}".log')
        return changed

    def check(self) -> None:
        """Raise StorageFailed where the database of a served study does not answer; each write finds out the rest."""
        self.version()

    def version(self) -> int | None:
        if self._watch is None:
            return None
        with translated(self._place):
            return int(self._watch.rows()[0][0])

    @contextmanager
    def serving(self) -> Iterator[None]:
        self._watch = Watch(self._connections, NEWEST.format(schema=self._place.name))
        try:
            yield
        finally:
            self._watch = None

    def close(self) -> None:
        self._connections.close()


def _revision(place: PostgresqlSchema, connection: DatabaseConnection) -> str:
    if not (names := connection.tables()):
        raise StudyNotFound(f"there is no study {place.shown}; create one with: ordinate create, or Study.create")
    return tables.revision(connection, names)


@contextmanager
def translated(place: PostgresqlSchema) -> Iterator[None]:
    """Raise errors of PostgreSQL, and values that cannot be stored, as our errors with the address."""
    try:
        yield
    except NotAStudy as error:
        raise NotAStudy(f"{place.shown} is not a study that can be opened: {error}") from error
    except psycopg.Error as error:
        # Without the original one: it may quote rows of the study.
        raise _translate(place, error) from None
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{error.object!r} holds a character that cannot be stored; leave it out") from error


def _translate(place: PostgresqlSchema, error: psycopg.Error) -> Exception:
    said = error.diag.message_primary or str(error).strip().partition("\n")[0] or type(error).__name__
    for kind, advice in FAILURES:
        if isinstance(error, kind):
            return StorageFailed(f"{place.shown}: {advice} ({said})")
    match error:
        case sql_errors.ProgramLimitExceeded():
            return InvalidInput(f"an id or a block of features is too long for PostgreSQL ({said})")
        case sql_errors.UndefinedTable() | sql_errors.InvalidSchemaName():
            return StudyMoved(f"{place.shown} was dropped while the study was open, so nothing more is stored")
        case sql_errors.UndefinedColumn():
            return NotAStudy(f"{place.shown} is damaged or no study: {said}")
        case psycopg.OperationalError():
            return StorageFailed(f"{place.shown}: the database does not answer, or has ended the connection ({said})")
    return StorageFailed(f"{place.shown}: {said}")
