"""Connections to the schema of one study in PostgreSQL: the dialect, those kept between transactions, and the one
that asks for new entries."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from math import inf
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ordinate.errors import InvalidInput, StorageFailed
from ordinate.storage.log import asked_at
from ordinate.storage.places import PostgresqlSchema

BUSY_SECONDS = 30
"""How long a writer waits for another one, and how long one may be idle within its transaction."""
RECONNECT_SECONDS = 0.5
FRESH_SECONDS = 0.5
# How soon a connection that was cut without a word counts as lost. What the address says comes first.
NETWORK = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    "application_name": "ordinate",
}
_DIALECT = (
    ("?", "%s"),
    ("[", '"'),
    ("]", '"'),
)
_TYPES = (
    (r"\bINTEGER\b", "BIGINT"),
    (r"\bBLOB\b", "BYTEA"),
    (r"\bBOOLEAN NOT NULL DEFAULT 0\b", "BOOLEAN NOT NULL DEFAULT FALSE"),
    (r"\bBOOLEAN NOT NULL DEFAULT 1\b", "BOOLEAN NOT NULL DEFAULT TRUE"),
)


@lru_cache(maxsize=200)
def in_dialect(sql: str) -> str:
    """A statement of sql.py, or of a script in `migrations`, as PostgreSQL takes it."""
    for ours, theirs in _DIALECT:
        sql = sql.replace(ours, theirs)
    for pattern, theirs in _TYPES if sql.lstrip().startswith(("--", "CREATE", "ALTER")) else ():
        sql = re.sub(pattern, theirs, sql)
    return sql


class SchemaConnection:
    """A connection whose statements concern the tables of one schema."""

    def __init__(self, place: PostgresqlSchema) -> None:
        try:
            given = {**NETWORK, **conninfo_to_dict(place.connection)}
        except psycopg.Error:
            # The message of libpq may repeat what it takes for a port, or the password.
            raise InvalidInput(
                f"{place.shown}: the part of the address after ? has an option that PostgreSQL does not know"
            ) from None
        self.raw = psycopg.connect(**given, autocommit=True)  # type: ignore[arg-type]
        try:
            self.raw.execute(
                f'SET search_path TO "{place.name}"; SET synchronous_commit TO on; SET client_encoding TO UTF8; '
                f"SET lock_timeout TO '{BUSY_SECONDS}s'; SET idle_in_transaction_session_timeout TO '{BUSY_SECONDS}s'"
            )
        except BaseException:
            self.raw.close()
            raise

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        return self.raw.execute(in_dialect(sql), values or None, binary=True)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> None:
        with self.raw.cursor() as cursor:
            cursor.executemany(in_dialect(sql), rows)

    def tables(self) -> list[str]:
        found = self.raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return [name for (name,) in found]

    def close(self) -> None:
        self.raw.close()


class Connections:
    """Connections kept between transactions. A thread takes one that no other uses; none survives a fork."""

    def __init__(self, place: PostgresqlSchema) -> None:
        self._place = place
        self._idle: list[SchemaConnection] = []
        self._process = os.getpid()

    @contextmanager
    def transaction(self, begin: str) -> Iterator[SchemaConnection]:
        """A transaction. Where it fails its connection is closed, and nothing that it did stays."""
        connection = self._begun(begin)
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with suppress(psycopg.Error):
                connection.raw.rollback()
            connection.close()
            raise
        self._idle.append(connection)

    def _begun(self, begin: str) -> SchemaConnection:
        """A connection that has begun a transaction. One that the server has closed meanwhile is replaced."""
        if self._process != os.getpid():
            self.close()
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took it
                break
            try:
                connection.execute(begin)
            except psycopg.OperationalError:
                connection.close()
                self.close()
            else:
                return connection
        connection = SchemaConnection(self._place)
        try:
            connection.execute(begin)
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        if self._process != os.getpid():
            _of_parents.extend(self._idle)
            self._idle, self._process = [], os.getpid()
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()

    def __del__(self) -> None:
        try:  # noqa: SIM105
            self.close()
        except AttributeError:
            # The interpreter ends, and the modules are gone, `suppress` too.
            pass


_of_parents: list[SchemaConnection] = []
"""Connections of the process that this one was forked from, so that they are not closed here."""


class Watch:
    """Asks the same question again and again, such as for the position of the newest entry, over a connection of its
    own. A lost connection comes back.

    A request asks once: what it reads later may be as old as its beginning. One that lasts, as a page that listens to
    changes does, asks again.
    """

    def __init__(self, place: PostgresqlSchema, question: str) -> None:
        self._place, self._question = place, question
        self._lock = threading.Lock()
        self._closed = False
        self._known: list[tuple[Any, ...]] = []
        self._known_at = -inf
        self._connection: SchemaConnection | None = SchemaConnection(place)

    def rows(self) -> list[tuple[Any, ...]]:
        """Raises StorageFailed at once while the connection is lost."""
        with self._lock:
            since = asked_at.get()
            if self._connection is not None:
                now = time.monotonic()
                if since is not None and since <= self._known_at and now < self._known_at + FRESH_SECONDS:
                    return self._known
                try:
                    self._known = self._connection.raw.execute(self._question, prepare=True).fetchall()
                    self._known_at = now
                    return self._known
                except psycopg.Error:
                    self._connection.close()
                    self._connection = None
                    threading.Thread(target=self._reconnect, daemon=True).start()
        raise StorageFailed(f"{self._place.shown}: the connection to the database is lost; it is being made again")

    def forget(self) -> None:
        """Ask again at the next call, even in the same request."""
        with self._lock:
            self._known_at = -inf

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _reconnect(self) -> None:
        while not self._closed:
            try:
                made = SchemaConnection(self._place)
            except psycopg.Error:
                time.sleep(RECONNECT_SECONDS)
                continue
            with self._lock:
                self._connection = made
            break
        with self._lock:
            if self._closed and self._connection is not None:
                self._connection.close()
