"""Connections to PostgreSQL: the dialect, and the few that all studies of one database share in a process.

A study takes a connection for one transaction or one question and gives it back. So how many a process has open does
not depend on how many studies it serves. Every wait has an end: for a connection, for the lock of another writer, and
for a database that does not answer.

No library keeps these connections. psycopg_pool connects in threads of its own, so whoever wants a connection waits to
the end and hears nothing of a wrong password or a database that is away. SQLAlchemy's QueuePool connects in the caller,
but would replace only the list of idle connections: the share of readers, a database that comes back, forks, and
studies that come and go would still be handled here.
"""

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

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN"  # READ COMMITTED: once the row is locked, every statement sees all that others have written
MOST = 10
"""Connections that the studies of a process have to one database at most."""
WRITERS = 6
"""How many of them may write, or wait for the lock of another program. A writer may have to wait until a reader of the
same study is done, so some are always left to readers."""
BUSY_SECONDS = 30
"""How long a writer waits for another one, and anybody for a connection; and how long one may be idle within its
transaction."""
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


class DatabaseConnection:
    """A session, with no tables of any study in sight but within a transaction of that study.

    schema  whose tables its last transaction was about: its statements are prepared for these
    is_new  whether nobody has used it before
    """

    is_new = True
    schema: str | None = None

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
                "SET search_path TO pg_catalog; SET synchronous_commit TO on; SET client_encoding TO UTF8; "
                f"SET lock_timeout TO '{BUSY_SECONDS}s'; SET idle_in_transaction_session_timeout TO '{BUSY_SECONDS}s'"
            )
        except BaseException:
            self.raw.close()
            raise

    def begin(self, how: str, schema: str) -> None:
        """Begin a transaction whose statements concern the tables of one schema."""
        self.raw.execute(f'{how}; SET LOCAL search_path TO "{schema}"', prepare=False)  # as one message
        self.schema = schema

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        return self.raw.execute(in_dialect(sql), values or None, binary=True)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> None:
        with self.raw.cursor() as cursor:
            cursor.executemany(in_dialect(sql), rows)

    def tables(self) -> list[str]:
        """Of the schema of the transaction."""
        found = self.raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return [name for (name,) in found]

    def close(self) -> None:
        self.raw.close()


class _Pool:
    """The connections of this process to one database. A thread takes one that no other uses; none survives a fork.

    users  how many storages may still take one; the last one that goes closes them
    """

    def __init__(self) -> None:
        self.users = 0
        self._idle: list[DatabaseConnection] = []
        self.after_fork()

    def after_fork(self) -> None:
        """In a new process: leave the connections of its parent as they are, without closing them."""
        _of_parents.extend(self._idle)
        self._changed = threading.Condition()
        self._idle = []
        self._used = self._writing = 0
        self._is_lost = False

    @contextmanager
    def lent(self, place: PostgresqlSchema, begin: str | None, *, writes: bool = False) -> Iterator[DatabaseConnection]:
        """A connection for the block. With `begin` it has begun a transaction in the schema of this place.

        Where the block fails it is closed, and nothing that was not committed stays.
        """
        connection = self._take(place, begin, writes)
        try:
            yield connection
        except BaseException:
            with suppress(psycopg.Error):
                connection.raw.rollback()
            connection.close()
            self._give(None, writes)
            raise
        self._give(connection, writes)

    def _take(self, place: PostgresqlSchema, begin: str | None, writes: bool) -> DatabaseConnection:
        self._wait_for_turn(place, writes)
        try:
            while (kept := self._kept(place.name)) is not None:
                try:
                    if begin is not None:
                        kept.begin(begin, place.name)
                except psycopg.OperationalError:
                    # The database has closed it meanwhile, and the others probably too.
                    kept.close()
                    self.close()
                except BaseException:
                    kept.close()
                    raise
                else:
                    return kept
            return self._made(place, begin)
        except BaseException:
            self._give(None, writes)
            raise

    def _wait_for_turn(self, place: PostgresqlSchema, writes: bool) -> None:
        def is_free() -> bool:
            return self._is_lost or (self._used < MOST and not (writes and self._writing >= WRITERS))

        with self._changed:
            if not self._changed.wait_for(is_free, BUSY_SECONDS):
                raise StorageFailed(
                    f"{place.shown}: this process has as many connections to the database as it may, and all were in "
                    f"use for {BUSY_SECONDS} seconds; another program may keep studies locked; end it and repeat"
                )
            if self._is_lost:
                raise StorageFailed(f"{place.shown}: the database does not answer; it is tried again and again")
            self._used += 1
            self._writing += writes

    def _kept(self, schema: str) -> DatabaseConnection | None:
        """One that nobody uses, of the same schema if there is one."""
        with self._changed:
            if not self._idle:
                return None
            same = [one for one in self._idle if one.schema == schema]
            found = same[-1] if same else self._idle[-1]
            self._idle.remove(found)
            return found

    def _made(self, place: PostgresqlSchema, begin: str | None) -> DatabaseConnection:
        try:
            connection = DatabaseConnection(place)
        except psycopg.OperationalError:
            with self._changed:
                # While others still have theirs, the database is there, and takes no more for a moment.
                if self.users and self._used == 1 and not self._is_lost:
                    self._is_lost = True
                    threading.Thread(target=self._find_again, args=(place,), daemon=True).start()
            raise
        try:
            if begin is not None:
                connection.begin(begin, place.name)
        except BaseException:
            connection.close()
            raise
        return connection

    def _give(self, connection: DatabaseConnection | None, writes: bool) -> None:
        with self._changed:
            self._used -= 1
            self._writing -= writes
            if connection is not None and self.users and not connection.raw.closed:
                connection.is_new = False
                self._idle.append(connection)
            elif connection is not None:
                connection.close()
            self._changed.notify_all()

    def _find_again(self, place: PostgresqlSchema) -> None:
        """Try until the database answers; meanwhile nobody else waits for that."""
        while self.users:
            try:
                connection = DatabaseConnection(place)
            except psycopg.Error:
                time.sleep(RECONNECT_SECONDS)
                continue
            connection.close()
            break
        with self._changed:
            self._is_lost = False

    def close(self) -> None:
        """Close those that nobody uses."""
        with self._changed:
            while self._idle:
                self._idle.pop().close()


_of_parents: list[DatabaseConnection] = []
"""Connections of the process that this one was forked from, so that they are not closed here."""
_pools: dict[str, _Pool] = {}
_lock = threading.RLock()  # reentrant: a storage that nobody closed may go at any moment


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    for pool in _pools.values():
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Connections:
    """What one study has of the connections that this process has to its database. It may be used after `close`."""

    def __init__(self, place: PostgresqlSchema) -> None:
        self._place = place
        self._pool: _Pool | None = None

    def _shared(self) -> _Pool:
        with _lock:
            if self._pool is None:
                address = self._place.connection
                self._pool = _pools[address] = _pools.get(address) or _Pool()
                self._pool.users += 1
            return self._pool

    @contextmanager
    def transaction(self, begin: str) -> Iterator[DatabaseConnection]:
        """A transaction. Where it fails its connection is closed, and nothing that it did stays."""
        with self._shared().lent(self._place, begin, writes=begin == WRITE) as connection:
            yield connection
            connection.execute("COMMIT")

    def ask(self, question: str) -> list[tuple[Any, ...]]:
        """The rows that a statement gives which only reads, and names its tables with their schemas."""
        pool = self._shared()
        while True:
            with pool.lent(self._place, None) as connection:
                try:
                    return connection.raw.execute(question).fetchall()
                except psycopg.OperationalError:
                    if connection.is_new or not connection.raw.closed:
                        raise
            pool.close()  # it was cut while nobody used it, and the others probably too

    def run(self, statement: str) -> None:
        """Run a statement that cannot be within a transaction."""
        with self._shared().lent(self._place, None, writes=True) as connection:
            connection.raw.execute(statement)

    def close(self) -> None:
        with _lock:
            pool, self._pool = self._pool, None
            if pool is None:
                return
            pool.users -= 1
            if not pool.users:
                _pools.pop(self._place.connection, None)
                pool.close()

    def __del__(self) -> None:
        try:  # noqa: SIM105
            self.close()
        except AttributeError:
            # The interpreter ends, and the modules are gone.
            pass


class Watch:
    """Asks the same question again and again, such as for the position of the newest entry.

    A request asks once: what it reads later may be as old as its beginning. One that lasts, as a page that listens to
    changes does, asks again.
    """

    def __init__(self, connections: Connections, question: str) -> None:
        self._connections, self._question = connections, question
        self._lock = threading.Lock()
        self._known: list[tuple[Any, ...]] = []
        self._known_at = -inf

    def rows(self) -> list[tuple[Any, ...]]:
        with self._lock:
            since, now = asked_at.get(), time.monotonic()
            if since is None or since > self._known_at or now >= self._known_at + FRESH_SECONDS:
                self._known, self._known_at = self._connections.ask(self._question), now
            return self._known

    def forget(self) -> None:
        """Ask again at the next call, even in the same request."""
        with self._lock:
            self._known_at = -inf
