"""All studies of a PostgreSQL database: which there are, those in the archive, and those that go.

An archived study is in a schema of another name, so no process that has it open can store anything in it, and none
takes it for a study. What is done here is done in one transaction.

A study that is being deleted is in a schema of another name, too, until its files are deleted: whoever is killed in
between leaves what says which files these are.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import errors as sql_errors

from ordinate.data.media import KINDS
from ordinate.errors import InvalidInput, StudyExists, StudyNotFound
from ordinate.storage.places import PostgresqlDatabase, PostgresqlSchema, is_study_name
from ordinate.storage.postgresql import translated
from ordinate.storage.postgresql_connections import MOST, WRITE, Connections, DatabaseConnection, Watch

ARCHIVE = "archive."
"""What the schema of an archived study begins with. No study can be called so."""
DELETED = "deleted."
"""What the schema of a study that is being deleted begins with; its comment is the name of the study."""
LONGEST_NAME = 63 - len(ARCHIVE)
"""Letters of a name that can be archived: PostgreSQL cuts off the rest."""
_STUDIES = """
    SELECT nspname, pg_class.oid::bigint, pg_has_role(nspowner, 'USAGE')
    FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = 'study' AND relkind = 'r'
    WHERE has_schema_privilege(pg_namespace.oid, 'USAGE')
      AND EXISTS (SELECT FROM pg_class WHERE relnamespace = pg_namespace.oid AND relname = 'alembic_version')
"""


_DELETED = """
    SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace
    WHERE starts_with(nspname, %s) AND pg_has_role(nspowner, 'USAGE')
      AND obj_description(oid, 'pg_namespace') IS NOT NULL
"""
_KINDS = """
    SELECT nspname, attname FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid AND relname = 'items'
    JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE nspname = ANY(%s) AND attname = ANY(%s)
"""
_MOST_CONNECTIONS = """
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
"""


class Found(NamedTuple):
    """A study of the database.

    table  identifies it: another study of the same name has another one
    own    whether this user of the database may rename and drop it
    """

    table: int
    own: bool


class OpenDatabase:
    def __init__(self, at: PostgresqlDatabase) -> None:
        self._at = at
        # The statements here name their schemas; nothing of the place but its connection is used.
        self._place = PostgresqlSchema("", at.connection, "pg_catalog", at.shown)
        self._connections = Connections(self._place)
        self._watch = Watch(self._connections, _STUDIES)
        self._locks = Locks(self._place)

    @property
    def shown(self) -> str:
        return self._at.shown

    def study(self, name: str) -> PostgresqlSchema:
        return self._at.study(name)

    def studies(self) -> Mapping[str, Found]:
        """By name, as they are now. A schema with any other name is none that we made."""
        rows = self._rows()
        return {name: Found(table, own) for name, table, own in sorted(rows) if is_study_name(name)}

    def archived(self) -> list[str]:
        return sorted(
            name.removeprefix(ARCHIVE)
            for name, _, _ in self._rows()
            if name.startswith(ARCHIVE) and is_study_name(name.removeprefix(ARCHIVE))
        )

    def _rows(self) -> list[tuple[Any, ...]]:
        with translated(self._place):
            return self._watch.rows()

    def most_connections(self) -> int:
        """How many connections the server of the database takes from all its users together."""
        with translated(self._place), self._connections.transaction(WRITE) as connection:
            ((most,),) = connection.raw.execute(_MOST_CONNECTIONS).fetchall()
        return int(most)

    @property
    def own_connections(self) -> int:
        """How many of them this process may have for all its studies: those that they share, and that of `Locks`."""
        return MOST + 1

    def forget(self) -> None:
        """Ask the database again at the next call."""
        self._watch.forget()

    def require_free(self, name: str) -> None:
        """Raise StudyExists where a study has this name, archived or not; InvalidInput where none can be called so."""
        self.study(name)
        if len(name) > LONGEST_NAME:
            raise InvalidInput(f"a name has at most {LONGEST_NAME} characters here")
        self.forget()
        if name in self.studies() or name in self.archived():
            raise StudyExists(f"there is a study {name!r} already, perhaps in the archive; choose another name")

    def archive(self, name: str) -> None:
        if len(name) > LONGEST_NAME:
            raise InvalidInput(f"a study whose name has more than {LONGEST_NAME} characters cannot be archived")
        self._rename(name, ARCHIVE + name)

    def restore(self, name: str) -> None:
        """Take a study out of the archive."""
        self._rename(ARCHIVE + name, name)

    def _rename(self, before: str, after: str) -> None:
        with self._changing(before) as connection:
            try:
                connection.raw.execute(f'ALTER SCHEMA "{before}" RENAME TO "{after}"')
            except sql_errors.DuplicateSchema as error:
                raise StudyExists(f"there is a study {after.removeprefix(ARCHIVE)!r} already; delete one") from error

    def begin_deleting(self, name: str, *, archived: bool = False) -> None:
        """Take a study away for good: from now on it is one of `being_deleted`."""
        schema, gone = ARCHIVE + name if archived else name, DELETED + secrets.token_hex(8)
        with self._changing(schema) as connection:
            connection.raw.execute(f'ALTER SCHEMA "{schema}" RENAME TO "{gone}"')
            connection.raw.execute(f"COMMENT ON SCHEMA \"{gone}\" IS '{name}'")

    def being_deleted(self) -> dict[str, str]:
        """The names of studies that are being deleted, by schema."""
        with translated(self._place), self._connections.transaction(WRITE) as connection:
            found = connection.raw.execute(_DELETED, (DELETED,)).fetchall()
        return {schema: name for schema, name in found if is_study_name(name)}

    def files(self, schemas: Sequence[str], beginning: str) -> set[str]:
        """The files that the studies in these schemas show whose paths begin so, also by the tables of old versions; a
        schema may be missing."""
        files: set[str] = set()
        with translated(self._place), self._connections.transaction(WRITE) as connection:
            for schema, kind in connection.raw.execute(_KINDS, (list(schemas), list(KINDS))).fetchall():
                query = f'SELECT DISTINCT "{kind}" FROM "{schema}".items WHERE starts_with("{kind}", %s)'
                files |= {path for (path,) in connection.raw.execute(query, (beginning,))}
        return files

    def files_of_others(self, name: str, beginning: str) -> set[str]:
        """`files` of the studies that have this name, now or in the archive."""
        return self.files([name, ARCHIVE + name], beginning)

    def end_deleting(self, schema: str) -> None:
        """Drop what is left of a study that is being deleted."""
        with translated(self._place), self._connections.transaction(WRITE) as connection:
            connection.raw.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')

    @contextmanager
    def _changing(self, schema: str) -> Iterator[DatabaseConnection]:
        """A transaction on a schema, whose name is that of a study, or of one in the archive."""
        name = schema.removeprefix(ARCHIVE)
        missing = StudyNotFound(f"there is no study {name!r} in {self.shown}")
        if not is_study_name(name):
            raise missing
        with translated(self._place):
            try:
                with self._connections.transaction(WRITE) as connection:
                    yield connection
            except sql_errors.InvalidSchemaName:
                raise missing from None
        self.forget()

    @contextmanager
    def holding(self, name: str) -> Iterator[bool]:
        """Whether nobody else holds this name; then nobody else does while the block runs. A crash ends it."""
        with translated(self._place):
            free = self._locks.take(name)
        try:
            yield free
        finally:
            if free:
                self._locks.release(name)

    def close(self) -> None:
        self._connections.close()


class Locks:
    """Names that this process holds in the database, all over one connection, which is there while it holds any."""

    def __init__(self, place: PostgresqlSchema) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._connection: DatabaseConnection | None = None

    def take(self, name: str) -> bool:
        """Whether it was free, and is held from now on. Nobody waits for it."""
        with self._lock:
            if name in self._held:  # the database would give it to the same connection once more
                return False
            try:
                if self._take(name):
                    self._held.add(name)
                    return True
            finally:
                self._close_if_unused()
        return False

    def _take(self, name: str) -> bool:
        if self._connection is not None:
            with suppress(psycopg.OperationalError):
                return self._taken(self._connection, name)
            self._connection.close()
        self._connection = DatabaseConnection(self._place)
        for lost in self._held:  # with the connection that was cut
            self._taken(self._connection, lost)
        return self._taken(self._connection, name)

    def _taken(self, connection: DatabaseConnection, name: str) -> bool:
        ((free,),) = connection.raw.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (name,))
        return bool(free)

    def release(self, name: str) -> None:
        with self._lock:
            self._held.remove(name)
            if self._connection is not None:
                with suppress(psycopg.Error):  # it was cut, and the database holds nothing for it
                    self._connection.raw.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (name,))
            self._close_if_unused()

    def _close_if_unused(self) -> None:
        if not self._held and self._connection is not None:
            self._connection.close()
            self._connection = None
