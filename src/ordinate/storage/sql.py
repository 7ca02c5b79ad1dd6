"""A study in the tables of a SQL database, through SQLAlchemy Core. The connections come from outside (sqlite.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sqlalchemy import Connection, Engine, func, insert, inspect, select

from ordinate.data.items import CONTENT_KINDS, Items
from ordinate.data.matrices import FileMatrix
from ordinate.errors import InvalidInput, NotAStudy, StudyMoved
from ordinate.storage import feature_files, recipes, tables
from ordinate.storage.log import Entry, Log, Settings

MIGRATIONS = Path(__file__).parent / "migrations"
SETTINGS = (
    "algorithm",
    "question",
    "seed",
    "scaling",
    "refit_every",
    "candidates",
    "coefficient_variance",
    "item_variance",
    "renew_covariance",
)

_ROWS = 1 << 14
_LARGEST_BLOCK = 900_000_000
"""SQLite holds blocks of up to 1,000,000,000 bytes."""


class Database(Protocol):
    """What is particular to one kind of database."""

    @property
    def engine(self) -> Engine:
        """Gives the connections; while `serving`, it keeps them open."""

    def translated(self) -> AbstractContextManager[None]:
        """A block in which the database's errors become ours."""

    def serving(self) -> AbstractContextManager[Callable[[], int]]:
        """A block in which many short transactions are quick; the number it gives changes when anybody has written."""

    def check(self) -> None:
        """Raises StudyMoved where what is written now would not be found by whoever opens the study next."""

    def committed(self) -> None:
        """Called after a commit, before the write is acknowledged. Raises StudyMoved."""


class SqlStorage:
    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._version: Callable[[], int] | None = None
        self._folder = folder
        with database.translated(), database.engine.connect() as connection:
            self.token, self.settings = _read_settings(connection)

    @contextmanager
    def reading(self) -> Iterator[Log]:
        with self._database.translated(), self._database.engine.connect() as connection:
            if self._version is None:
                # While the study is served the connections stay those to the file that was opened, wherever it is now.
                self._database.check()
            yield SqlLog(connection, self._folder)

    @contextmanager
    def writing(self) -> Iterator[Log]:
        with self._database.translated(), self._writer() as connection:
            connection.begin()  # waits for other writers here, not at the first statement
            self._database.check()
            yield SqlLog(connection, self._folder)
            connection.commit()
            self._database.committed()

    def check(self) -> None:
        self._database.check()

    def feature_files(self) -> list[FileMatrix]:
        """The files that hold features of this study; they are not opened."""
        with self._database.translated(), self._database.engine.connect() as connection:
            return [kept.matrix for kept in feature_files.read(connection, self._folder)]

    def move_features(self, path: Path) -> FileMatrix:
        """Note that one of them is at `path` now; the log does not change."""
        with self._database.translated(), self._writer() as connection:
            moved = feature_files.move(connection, self._folder, path).matrix
            connection.commit()
        return moved

    def version(self) -> int | None:
        return None if self._version is None else self._version()

    @contextmanager
    def serving(self) -> Iterator[None]:
        with self._database.serving() as self._version:
            try:
                yield
            finally:
                self._version = None

    def close(self) -> None:
        self._database.engine.dispose()

    def _writer(self) -> Connection:
        return self._database.engine.connect().execution_options(writing=True)


class SqlLog:
    """The log inside one transaction. The primary key refuses a position that is taken, so nothing is stored twice."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder

    def entries(self, after: int) -> Sequence[Entry]:
        query = select(tables.log).where(tables.log.c.position >= after).order_by(tables.log.c.position)
        entries = [Entry._make(row) for row in self._connection.execute(query)]
        if after == 0:
            return entries
        if not entries or entries[0].position != after:
            raise StudyMoved("an older copy of the study was put in its place; open the study again")
        return entries[1:]

    def items(self, added: int) -> Items:
        block = self._connection.execute(select(tables.features).where(tables.features.c.added == added)).one()
        files = [kept for kept in feature_files.read(self._connection, self._folder) if kept.added == added]
        features: Any
        if files:
            features = files[0].matrix
            features.check()
        elif min(block.items, block.columns) < 0 or len(block.numbers) != block.items * block.columns * 8:
            raise NotAStudy(f"the features of entry {added} are damaged")
        else:
            features = np.frombuffer(block.numbers, dtype="<f8").reshape(block.items, block.columns)
        ids, groups, *contents = self._item_columns(added)
        try:
            return Items(
                ids=ids,
                features=features,
                feature_names=None if block.names is None else json.loads(block.names),
                group=None if None in groups else groups,
                content={
                    kind: values
                    for kind, values in zip(CONTENT_KINDS, contents, strict=True)
                    if any(value is not None for value in values)
                },
            )
        except (ValueError, TypeError) as error:
            raise NotAStudy(f"the items of entry {added} are damaged: {error}") from error

    def _item_columns(self, added: int) -> list[list[Any]]:
        """Ids, groups and each kind of content, read in parts, since rows take more memory than their values."""
        wanted = [tables.items.c[name] for name in ("id", "item_group", *CONTENT_KINDS)]
        query = select(*wanted).where(tables.items.c.added == added).order_by(tables.items.c.row)
        columns: list[list[Any]] = [[] for _ in wanted]
        for rows in self._connection.execute(query).partitions(_ROWS):
            for column, values in zip(columns, zip(*rows, strict=True), strict=True):
                column.extend(values)
        return columns

    def append(self, entries: Sequence[Entry], items: Items | None = None) -> None:
        self._connection.execute(insert(tables.log), [entry._asdict() for entry in entries])
        if items is not None:
            self._append_items(items, entries[0].position)

    def _append_items(self, items: Items, added: int) -> None:
        last = self._connection.execute(select(func.coalesce(func.max(tables.items.c.row), 0))).scalar_one()
        columns: dict[str, Sequence[Any]] = {"id": items.ids, **items.content}
        if items.group is not None:
            columns["item_group"] = items.group
        for start in range(0, len(items), _ROWS):
            rows = zip(*(values[start : start + _ROWS] for values in columns.values()), strict=True)
            self._connection.execute(
                insert(tables.items),
                [
                    {"row": number, "added": added, **dict(zip(columns, row, strict=True))}
                    for number, row in enumerate(rows, last + start + 1)
                ],
            )
        features: Any = items.features
        in_file = isinstance(features, FileMatrix)
        block = {
            "added": added,
            "items": items.features.shape[0],
            "columns": items.features.shape[1],
            "names": None if items.feature_names is None else json.dumps(list(items.feature_names)),
            "numbers": b"" if in_file else features.astype("<f8").tobytes(),
        }
        if len(block["numbers"]) > _LARGEST_BLOCK:
            raise InvalidInput(
                f"features of {len(block['numbers']) / 1e9:.1f} GB do not fit into a study; write them to a .npy file "
                "with numpy.save and give its path, then they stay there"
            )
        self._connection.execute(insert(tables.features), [block])
        if in_file:
            feature_files.write(self._connection, self._folder, added, features)


def write_settings(connection: Connection, settings: Settings, token: str) -> None:
    row = {name: getattr(settings, name) for name in SETTINGS}
    connection.execute(insert(tables.study), [{"token": token, **row}])
    if settings.recipe is not None:
        recipes.write(connection, token, settings.recipe)


def _read_settings(connection: Connection) -> tuple[str, Settings]:
    row = connection.execute(select(tables.study)).one()
    return row.token, Settings(**{name: getattr(row, name) for name in SETTINGS}, recipe=recipes.read(connection))


def check_revision(connection: Connection) -> str:
    """The revision of the tables. Raises NotAStudy where these are not our tables, or are newer than this version."""
    names = set(inspect(connection).get_table_names())
    if not {"alembic_version", tables.study.name, tables.log.name} <= names:
        raise NotAStudy("it holds no study" if names else "it is empty")
    revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one()
    if revision not in tables.REVISIONS:
        raise NotAStudy(
            f"a newer version of ordinate wrote it (tables {revision}); update with: python -m pip install -U ordinate"
        )
    return str(revision)


def migrate(connection: Connection) -> None:
    """Run the migrations that are missing, in the transaction of this connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
