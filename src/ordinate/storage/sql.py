"""A study's settings, entries and items as rows of its tables. The connections come from outside (sqlite.py,
postgresql.py).

Values are marked by ?, and names that are words of SQL stand in brackets; `in_dialect` in postgresql_connections.py
writes both as PostgreSQL takes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from ordinate.data.feature_blocks import FeatureBlock
from ordinate.data.items import CONTENT_KINDS, Items
from ordinate.data.matrices import FileMatrix
from ordinate.data.names import caseless
from ordinate.errors import InvalidInput, NotAStudy, StudyMoved
from ordinate.storage import feature_files, recipes
from ordinate.storage.connection import Connection, Cursor
from ordinate.storage.log import Entry, Recorded, Settings

SETTINGS = tuple(field.name for field in fields(Settings) if field.name != "recipe")

_ROWS = 1 << 14
"""Rows that are read at a time: a row takes more memory than its values."""
_LARGEST_BLOCK = 900_000_000
"""SQLite holds blocks of up to 1,000,000,000 bytes, PostgreSQL of 1 GiB."""


def _names(columns: Sequence[str]) -> str:
    # In brackets: SQLite takes a name in double quotes that it does not find for a text.
    return ", ".join(f"[{name}]" for name in columns)


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({_names(columns)}) VALUES ({', '.join('?' * len(columns))})"


_ENTRIES = f"SELECT {_names(Entry._fields)} FROM log WHERE position >= ? ORDER BY position"
_OTHERS = f"SELECT {_names(Entry._fields)} FROM log WHERE position > ? AND kind <> 'record' ORDER BY position"
_RECORDED = f"SELECT {_names(Recorded._fields[1:])} FROM log WHERE position > ? AND position < ? ORDER BY position"
_NEWEST = "SELECT EXISTS (SELECT 1 FROM log WHERE position = ?), (SELECT coalesce(max(position), 0) FROM log)"
_APPEND = _insert("log", Entry._fields)
_RECORD = _insert("log", ("kind", "at", *Recorded._fields))


class SqlLog:
    """The log inside one transaction. The primary key refuses a position that is taken, so nothing is stored twice.

    folder  where relative paths of feature files start; None: they are absolute
    """

    def __init__(self, connection: Connection, folder: Path | None) -> None:
        self._connection = connection
        self._folder = folder

    def entries(self, after: int) -> Sequence[Entry]:
        entries = [Entry._make(row) for row in self._connection.execute(_ENTRIES, (after,))]
        if after == 0:
            return entries
        if not entries or entries[0].position != after:
            raise StudyMoved(_REPLACED)
        return entries[1:]

    def parts(self, after: int) -> Iterable[Entry | Recorded]:
        known, newest = self._connection.execute(_NEWEST, (after,)).fetchone()
        if after and not known:
            raise StudyMoved(_REPLACED)
        return self._parts(after, newest) if newest > after else ()

    def _parts(self, after: int, newest: int) -> Iterator[Entry | Recorded]:
        for row in self._connection.execute(_OTHERS, (after,)):
            entry = Entry._make(row)
            yield from self._recorded(after, entry.position)
            yield entry
            after = entry.position
        yield from self._recorded(after, newest + 1)

    def _recorded(self, after: int, before: int) -> Iterator[Recorded]:
        """The comparisons between two positions: nothing else is there."""
        if before == after + 1:
            return
        cursor = self._connection.execute(_RECORDED, (after, before))
        for rows in _in_parts(cursor):
            yield Recorded(after + 1, *zip(*rows, strict=True))
            after += len(rows)
        if before != after + 1:
            raise NotAStudy(f"the log is damaged: entries before {before} are missing")

    def items(self, added: int) -> Items:
        names, count, columns, numbers = _only_row(
            self._connection.execute("SELECT names, items, columns, numbers FROM features WHERE added = ?", (added,))
        )
        files = [kept for kept in feature_files.read(self._connection, self._folder) if kept.added == added]
        features: Any
        if files:
            features = files[0].matrix
            features.check()
        elif min(count, columns) < 0 or len(numbers) != count * columns * 8:
            raise NotAStudy(f"the features of entry {added} are damaged")
        else:
            features = np.frombuffer(numbers, dtype="<f8").reshape(count, columns)
        found = self._item_columns(added)
        groups = found.get("item_group")
        (labels,) = _only_row(self._connection.execute("SELECT [value] FROM log WHERE position = ?", (added,)))
        try:
            return Items(
                ids=found["id"],
                features=features,
                **_columns_named(names),
                group=None if groups is None or None in groups else groups,
                content={kind: found[kind] for kind in CONTENT_KINDS if kind in found},
                labels=json.loads(labels or "{}"),
            )
        except (ValueError, TypeError) as error:
            raise NotAStudy(f"the items of entry {added} are damaged: {error}") from error

    def _item_columns(self, added: int) -> dict[str, list[Any]]:
        """The ids, and the groups and each kind of content where any of the items has one."""
        optional = ("item_group", *CONTENT_KINDS)
        counts = ", ".join(f"count([{name}])" for name in optional)
        having = _only_row(self._connection.execute(f"SELECT {counts} FROM items WHERE added = ?", (added,)))
        columns: dict[str, list[Any]] = {
            name: [] for name in ("id", *(name for name, count in zip(optional, having, strict=True) if count))
        }
        query = f"SELECT {_names(tuple(columns))} FROM items WHERE added = ? ORDER BY [row]"
        for rows in _in_parts(self._connection.execute(query, (added,))):
            for column, values in zip(columns.values(), zip(*rows, strict=True), strict=True):
                column.extend(values)
        return columns

    def append(self, entries: Sequence[Entry], items: Items | None = None) -> None:
        if items is not None:
            _require_room(items)
            if items.labels:
                entries = [entries[0]._replace(value=json.dumps(items.labels)), *entries[1:]]
        self._connection.executemany(_APPEND, entries)
        if items is not None:
            self._append_items(items, entries[0].position)

    def record(self, recorded: Recorded, at: str) -> None:
        first, *columns = recorded
        positions = range(first, first + len(recorded.left))
        self._connection.executemany(_RECORD, zip(repeat("record"), repeat(at), positions, *columns))

    def _append_items(self, items: Items, added: int) -> None:
        (last,) = self._connection.execute("SELECT coalesce(max([row]), 0) FROM items").fetchone()
        columns: dict[str, Sequence[Any]] = {"id": items.ids, **items.content}
        if items.group is not None:
            columns["item_group"] = items.group
        numbered = range(last + 1, last + 1 + len(items))
        self._connection.executemany(
            _insert("items", ("row", "added", *columns)), zip(numbered, repeat(added), *columns.values())
        )
        features: Any = items.features
        in_file = isinstance(features, FileMatrix)
        names = _names_of_columns(items)
        numbers = b"" if in_file else features.astype("<f8").tobytes()
        block = {"added": added, "items": features.shape[0], "columns": features.shape[1], "names": names}
        self._connection.execute(_insert("features", (*block, "numbers")), (*block.values(), numbers))
        if in_file:
            feature_files.write(self._connection, self._folder, added, features)


def _names_of_columns(items: Items) -> str | None:
    """In JSON: the names of the columns; of blocks {name: names of its columns, or how many it has}."""
    if items.blocks is not None:
        return json.dumps({name: columns if names is None else names for name, columns, names in items.blocks})
    return None if items.feature_names is None else json.dumps(list(items.feature_names))


def _columns_named(stored: str | None) -> dict[str, Any]:
    """What `_names_of_columns` wrote, as the options of Items."""
    names = None if stored is None else json.loads(stored)
    if not isinstance(names, dict):
        return {"feature_names": names}
    blocks = [
        FeatureBlock(name, one) if isinstance(one, int) else FeatureBlock(name, len(one), tuple(one))
        for name, one in names.items()
    ]
    return {"blocks": blocks}


def _require_room(items: Items) -> None:
    """Raise InvalidInput where the features do not fit into the database."""
    size = 0 if isinstance(items.features, FileMatrix) else items.features.shape[0] * items.features.shape[1] * 8
    if size > _LARGEST_BLOCK:
        raise InvalidInput(
            f"features of {size / 1e9:.1f} GB do not fit into a study; write them to a .npy file with numpy.save and "
            "give its path, then they stay there"
        )


def erase(connection: Connection, annotator: str, pseudonym: str) -> int:
    """Replace a person's name, and drop what they wrote and which device they had; returns how many entries that
    changed. It is the one exception to the log being append-only."""
    as_owner = "UPDATE log SET [by] = ? WHERE [by] = ? AND (annotator IS NULL OR annotator <> ?)"
    changed = _erase_from_rules(connection, annotator, pseudonym)
    changed += connection.execute(as_owner, (pseudonym, annotator, annotator)).rowcount
    change = (
        "UPDATE log SET annotator = ?, [by] = CASE WHEN [by] = ? THEN ? ELSE [by] END, "
        "reason = NULL, client = NULL, tab = NULL WHERE annotator = ?"
    )
    return changed + connection.execute(change, (pseudonym, annotator, pseudonym, annotator)).rowcount


def _erase_from_rules(connection: Connection, annotator: str, pseudonym: str) -> int:
    """From the names of who rests, and of who made an item, which are the same person in any case."""
    rows = connection.execute(
        "SELECT position, [name], [value] FROM log WHERE kind = 'set' AND [name] IN ('resting', 'makers')"
    ).fetchall()
    changed = 0
    for position, rule, value in rows:
        old = json.loads(value)
        if rule == "resting":
            new = [pseudonym if name == annotator else name for name in old]
        else:
            new = [[item, pseudonym if caseless(name) == caseless(annotator) else name] for item, name in old]
        if new != old:
            connection.execute("UPDATE log SET [value] = ? WHERE position = ?", (json.dumps(new), position))
            changed += 1
    return changed


_REPLACED = "an older copy of the study was put in its place; open the study again"


def write_settings(connection: Connection, settings: Settings, token: str) -> None:
    values = [getattr(settings, name) for name in SETTINGS]
    connection.execute(_insert("study", ("token", *SETTINGS)), (token, *values))
    if settings.recipe is not None:
        recipes.write(connection, token, settings.recipe)


def read_settings(connection: Connection) -> tuple[str, Settings]:
    token, *values = _only_row(connection.execute(f"SELECT {_names(('token', *SETTINGS))} FROM study"))
    stored = dict(zip(SETTINGS, values, strict=True))
    for name in ("renew_covariance", "weigh_annotators", "side_bias", "length_bias"):
        stored[name] = bool(stored[name])  # SQLite has no booleans
    return token, Settings(**stored, recipe=recipes.read(connection))


def _only_row(cursor: Cursor) -> tuple[Any, ...]:
    rows = cursor.fetchall()
    if len(rows) != 1:
        raise NotAStudy(f"it is damaged: {len(rows)} rows are where one must be")
    row: tuple[Any, ...] = rows[0]
    return row


def _in_parts(cursor: Cursor) -> Iterator[list[Any]]:
    while rows := cursor.fetchmany(_ROWS):
        yield rows
