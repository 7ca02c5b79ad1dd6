"""A study in the tables of a SQL database, through SQLAlchemy Core. The connections come from outside (sqlite.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, Engine, func, insert, inspect, select

from ordinate.errors import NotAStudy
from ordinate.storage import tables
from ordinate.storage.log import Entry, Log, Settings
from ordinate.types import CONTENT_KINDS, Items

# Turns the errors of one database into ours: a block that runs inside it.
Translation = Callable[[], AbstractContextManager[None]]
# What a database needs to be quick while it is served: a block around that time.
Serving = Callable[[], AbstractContextManager[None]]
MIGRATIONS = Path(__file__).parent / "migrations"
SETTINGS = ("algorithm", "question", "seed", "scaling", "refit_every", "candidates")


class SqlStorage:
    def __init__(self, engine: Engine, translation: Translation, serving: Serving) -> None:
        self.serving = serving
        self._engine = engine
        self._translation = translation
        with translation(), engine.connect() as connection:
            self.token, self.settings = _read_settings(connection)

    @contextmanager
    def reading(self) -> Iterator[Log]:
        with self._translation(), self._engine.connect() as connection:
            yield SqlLog(connection)

    @contextmanager
    def writing(self) -> Iterator[Log]:
        with self._translation(), self._engine.connect().execution_options(writing=True) as connection:
            yield SqlLog(connection)
            connection.commit()

    def close(self) -> None:
        self._engine.dispose()


class SqlLog:
    """The log inside one transaction. The primary key refuses a position that is taken: nothing is told twice."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def entries(self, after: int) -> Sequence[Entry]:
        query = select(tables.log).where(tables.log.c.position > after).order_by(tables.log.c.position)
        return [Entry._make(row) for row in self._connection.execute(query)]

    def items(self, added: int) -> Items:
        query = select(tables.items).where(tables.items.c.added == added).order_by(tables.items.c.row)
        rows = self._connection.execute(query).all()
        block = self._connection.execute(select(tables.features).where(tables.features.c.added == added)).one()
        if min(block.items, block.columns) < 0 or len(block.numbers) != block.items * block.columns * 8:
            raise NotAStudy(f"the features of entry {added} are damaged")
        content = {kind: [getattr(row, kind) for row in rows] for kind in CONTENT_KINDS}
        try:
            return Items(
                ids=[row.id for row in rows],
                features=np.frombuffer(block.numbers, dtype="<f8").reshape(block.items, block.columns),
                feature_names=None if block.names is None else json.loads(block.names),
                group=None if any(row.item_group is None for row in rows) else [row.item_group for row in rows],
                content={kind: values for kind, values in content.items() if set(values) != {None}},
            )
        except (ValueError, TypeError) as error:
            raise NotAStudy(f"the items of entry {added} are damaged: {error}") from error

    def append(self, entries: Sequence[Entry], items: Items | None = None) -> None:
        self._connection.execute(insert(tables.log), [entry._asdict() for entry in entries])
        if items is not None:
            self._append_items(items, entries[0].position)

    def _append_items(self, items: Items, added: int) -> None:
        last = self._connection.execute(select(func.coalesce(func.max(tables.items.c.row), 0))).scalar_one()
        rows = [
            {
                "row": last + number,
                "added": added,
                "id": items.ids[number - 1],
                "item_group": None if items.group is None else items.group[number - 1],
                **{kind: items.content[kind][number - 1] if kind in items.content else None for kind in CONTENT_KINDS},
            }
            for number in range(1, len(items) + 1)
        ]
        self._connection.execute(insert(tables.items), rows)
        block = {
            "added": added,
            "items": items.features.shape[0],
            "columns": items.features.shape[1],
            "names": None if items.feature_names is None else json.dumps(list(items.feature_names)),
            "numbers": items.features.astype("<f8").tobytes(),
        }
        self._connection.execute(insert(tables.features), [block])


def write_settings(connection: Connection, settings: Settings, token: str) -> None:
    row = {name: getattr(settings, name) for name in SETTINGS}
    connection.execute(insert(tables.study), [{"token": token, **row}])


def _read_settings(connection: Connection) -> tuple[str, Settings]:
    row = connection.execute(select(tables.study)).one()
    return row.token, Settings(**{name: getattr(row, name) for name in SETTINGS})


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
