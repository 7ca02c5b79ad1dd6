"""Where studies are kept, by address: a SQLite file, or a schema of a PostgreSQL database."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from ordinate.data.formats.files import failures
from ordinate.data.matrices import FileMatrix
from ordinate.errors import InvalidInput, MissingExtra
from ordinate.storage.log import Log, Settings, Storage

if TYPE_CHECKING:
    from ordinate.storage.postgresql import PostgresqlStorage
    from ordinate.storage.postgresql_database import OpenDatabase
    from ordinate.storage.sqlite import SqliteStorage

Fill = Callable[[Log], None]
"""Writes the first entries of a new study."""

FORMS = "sqlite:///FILE, postgresql://USER@HOST/DATABASE/STUDY and memory (None)"
_STUDY = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_OTHER_SCHEMAS = ("information_schema", "public")


class StoredOutside(Storage, Protocol):
    """A storage that other processes can open too, and whose features may stay in files."""

    def feature_files(self) -> list[FileMatrix]:
        """The files that hold features of this study; they are not opened."""

    def move_features(self, path: Path) -> FileMatrix:
        """Note that one of them is at `path` now; the log does not change."""

    def erase(self, annotator: str, pseudonym: str) -> int:
        """Replace an annotator's name and what identifies them; returns how many entries that changed."""


class Place(Protocol):
    """Where one study is, or will be.

    url     opens the study
    name    what it is called there
    shown   the address for people: without a password
    folder  where relative paths of the study start; None: it stores absolute ones
    """

    @property
    def url(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def shown(self) -> str: ...
    @property
    def folder(self) -> Path | None: ...

    def beside(self, name: str) -> Place:
        """The place of another study: in the same folder, in the same database."""

    def create(self, settings: Settings, token: str, fill: Fill) -> StoredOutside:
        """A new study with what `fill` writes into its log, complete or absent. Raises StudyExists."""

    def open(self) -> StoredOutside: ...
    def upgrade(self) -> tuple[str, str]: ...
    def delete(self) -> None:
        """Delete the study, which nobody has open. Its files, such as pictures, stay."""


@dataclass(frozen=True)
class SqliteFile:
    """A file. Its path is absolute, so that a later change of the working folder does not matter."""

    path: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def shown(self) -> str:
        return str(self.path)

    @property
    def folder(self) -> Path:
        return Path(os.path.realpath(self.path)).parent

    def beside(self, name: str) -> SqliteFile:
        return SqliteFile(self.path.parent / f"{name}.db")

    def create(self, settings: Settings, token: str, fill: Fill) -> SqliteStorage:
        from ordinate.storage import sqlite

        return sqlite.create(self.path, settings, token, fill)

    def open(self) -> SqliteStorage:
        from ordinate.storage import sqlite

        return sqlite.open(self.path)

    def upgrade(self) -> tuple[str, str]:
        from ordinate.storage import sqlite

        return sqlite.upgrade(self.path)

    def delete(self) -> None:
        with failures("deleted", self.path):
            for suffix in ("", "-journal", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


@dataclass(frozen=True)
class PostgresqlSchema:
    """A schema of a database, named after the study.

    connection  the address of the database, as libpq reads it; it may hold a password
    """

    url: str = field(repr=False)
    connection: str = field(repr=False)
    name: str
    shown: str

    @property
    def folder(self) -> None:
        return None

    def beside(self, name: str) -> PostgresqlSchema:
        _require_name(name)
        return replace(self, url=_renamed(self.url, name), name=name, shown=_renamed(self.shown, name))

    def create(self, settings: Settings, token: str, fill: Fill) -> PostgresqlStorage:
        with _driver():
            from ordinate.storage import postgresql
        return postgresql.create(self, settings, token, fill)

    def open(self) -> PostgresqlStorage:
        with _driver():
            from ordinate.storage import postgresql
        return postgresql.open(self)

    def upgrade(self) -> tuple[str, str]:
        with _driver():
            from ordinate.storage import postgresql
        return postgresql.upgrade(self)

    def delete(self) -> None:
        with _driver():
            from ordinate.storage import postgresql
        postgresql.delete(self)


@dataclass(frozen=True)
class PostgresqlDatabase:
    """A database that holds any number of studies, each in a schema of its own."""

    connection: str = field(repr=False)
    shown: str

    def study(self, name: str) -> PostgresqlSchema:
        """Raises InvalidInput where no study can have this name."""
        _require_name(name)
        return _schema(_with_name(self.connection, name))

    def open(self) -> OpenDatabase:
        with _driver():
            from ordinate.storage.postgresql_database import OpenDatabase
        return OpenDatabase(self)


def database(url: str) -> PostgresqlDatabase:
    """The database that an address names. Raises InvalidInput; the message repeats no password."""
    try:
        if not re.match("postgres(ql)?://[^?]*[^/?](/?$|/?[?])", url):
            raise InvalidInput("no database")
        found = _schema(_with_name(url, "x"))
    except InvalidInput:
        shown = without_password(url)[0].partition("?")[0]
        raise InvalidInput(
            f"{shown!r} is no address of a database for studies; write postgresql://USER@HOST/DATABASE, without a "
            "study, and leave a password to PGPASSWORD or ~/.pgpass"
        ) from None
    return PostgresqlDatabase(found.connection, found.shown.removesuffix("/x"))


def _with_name(url: str, name: str) -> str:
    address, mark, options = url.partition("?")
    return f"{address.rstrip('/')}/{name}{mark}{options}"


class _driver:  # noqa: N801
    """Imports inside the block need the driver of PostgreSQL."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ImportError):
            raise MissingExtra("psycopg", "postgresql", "a study in PostgreSQL") from error


def place(url: str) -> Place:
    """The place that an address names. Raises InvalidInput; the message repeats no password."""
    text = str(url)
    scheme, found, path = text.partition(":///")
    if re.match("postgres(ql)?://", text):
        return _schema(text)
    if not found or scheme != "sqlite":
        hint = "" if "://" in text else f"; for a file, write 'sqlite:///{text}'"
        shown = re.sub(r"(://[^:@/]*):.*@", r"\1@", text)
        raise InvalidInput(f"unknown storage {shown!r}; supported are {FORMS}{hint}")
    if path in ("", ":memory:"):
        raise InvalidInput(f"storage {text!r} names no file; for a study in memory leave the storage out")
    return SqliteFile(Path(path).absolute())


def without_password(url: str) -> tuple[str, str | None]:
    """An address without its password, and the password, if it is a PostgreSQL address with one."""
    found = re.fullmatch(r"(postgres(?:ql)?://)([^/]*)@(.*)", url)
    if found is None or ":" not in found[2]:
        return url, None
    user, _, password = found[2].partition(":")
    return f"{found[1]}{user}@{found[3]}", unquote(password)


def _schema(url: str) -> PostgresqlSchema:
    open_part = re.sub(r"^(postgres(?:ql)?://[^:@/]*):.*@", r"\1@", url).partition("?")[0]
    try:
        parts = urlsplit(url)
        database, name = (unquote(part) for part in parts.path.removeprefix("/").split("/"))
    except ValueError:
        raise InvalidInput(
            f"{open_part} is no address of a study in PostgreSQL; write postgresql://USER@HOST/DATABASE/STUDY, "
            "and percent-encode what is special in a password, or leave it to PGPASSWORD or ~/.pgpass"
        ) from None
    if "password" in parse_qs(parts.query):
        raise InvalidInput(f"{open_part}: give the password before the host, in PGPASSWORD or in ~/.pgpass")
    if not database:
        raise InvalidInput(f"{open_part} names no database; write postgresql://USER@HOST/DATABASE/STUDY")
    _require_name(name)
    query = f"?{parts.query}" if parts.query else ""
    return PostgresqlSchema(url, f"{parts.scheme}://{parts.netloc}/{parts.path.split('/')[1]}{query}", name, open_part)


def _renamed(url: str, name: str) -> str:
    return re.sub(r"[^/?]*(\?.*)?$", lambda found: f"{name}{found[1] or ''}", url, count=1)


def is_study_name(name: str) -> bool:
    """Whether a study in PostgreSQL can be called so."""
    return _STUDY.fullmatch(name) is not None and name not in _OTHER_SCHEMAS and not name.startswith("pg_")


def _require_name(name: str) -> None:
    if not is_study_name(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a study in PostgreSQL: take a to z, 0 to 9, - and _, first a letter, at "
            f"most 63, but not public, information_schema, nor anything that begins with pg_"
        )
