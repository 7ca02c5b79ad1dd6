"""Copies a study to another place, such as from a file into a database, and proves that the copy is the same study."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordinate import storage as storages
from ordinate.data.items import Items
from ordinate.data.matrices import FileMatrix, StackedMatrix
from ordinate.data.media import KINDS, is_address
from ordinate.errors import StorageFailed
from ordinate.storage import Entry, Log
from ordinate.study.study import Study

_AT_ONCE = 10_000


class Copied(NamedTuple):
    entries: int
    items: int
    comparisons: int


def copy_study(source: str, target: str) -> Copied:
    """Copy a study with its whole log; the copy is complete and proven to be the same, or absent.

    Raises StorageFailed where the copy is not the same: entries, items, rules, comparisons, scores and standard errors.
    Paths of media that are relative to a folder are rewritten, so that they lead to the same files.
    """
    before, after = storages.place(source), storages.place(target)
    with closing(before.open()) as old, old.reading() as log:
        entries = list(log.entries(0))
        added = {
            entry.position: _items(log.items(entry.position), before.folder, after.folder)
            for entry in entries
            if entry.kind == "add-items"
        }

        def fill(new: Log) -> None:
            waiting: list[Entry] = []
            for entry in entries:
                if entry.position in added or len(waiting) == _AT_ONCE:
                    _append(new, waiting)
                if entry.position in added:
                    new.append([entry], added[entry.position])
                else:
                    waiting.append(entry)
            _append(new, waiting)

        made = after.create(old.settings, old.token, fill)
    try:
        with closing(made), made.reading() as copy:
            if list(copy.entries(0)) != entries:
                raise StorageFailed(f"{after.shown} had not the same log as {before.shown} and was deleted; copy again")
        return _require_same(source, target, len(entries))
    except BaseException:
        # Whoever sees a copy there would take it for a proven one.
        after.delete()
        raise


def _append(log: Log, waiting: list[Entry]) -> None:
    if waiting:
        log.append(waiting)
        waiting.clear()


def _items(items: Items, before: Path | None, after: Path | None) -> Items:
    content = {
        kind: [_moved(path, before, after) for path in column] if kind in KINDS else column
        for kind, column in items.content.items()
    }
    return replace(items, content=content)


def _moved(path: str | None, before: Path | None, after: Path | None) -> str | None:
    if path is None or is_address(path) or os.path.isabs(path) or before is None or before == after:
        return path
    whole = Path(os.path.normpath(before / path))
    return whole.relative_to(after).as_posix() if after is not None and whole.is_relative_to(after) else str(whole)


def _require_same(source: str, target: str, entries: int) -> Copied:
    places = [storages.place(url).shown for url in (source, target)]
    with closing(storages.open(source)) as storage, storage.reading() as log:
        grown = bool(log.entries(entries))
    with Study.open(source) as old, Study.open(target) as new:
        if grown:
            raise StorageFailed(
                f"{places[0]} was changed while it was copied, so the copy was deleted; stop its servers and copy again"
            )
        pairs: Sequence[tuple[object, object]] = [
            (old.token, new.token),
            (old.settings, new.settings),
            (old.rules, new.rules),
            (old.items.ids, new.items.ids),
            (_digest(old.items), _digest(new.items)),
            (old.comparisons(), new.comparisons()),
            (old.links(), new.links()),
            (old.open_queries(), new.open_queries()),
        ]
        same = all(one == other for one, other in pairs)
        orderings = old.ordering(), new.ordering()
        same &= np.array_equal(orderings[0].scores, orderings[1].scores)
        same &= np.array_equal(orderings[0].standard_errors, orderings[1].standard_errors)
        if not same:
            raise StorageFailed(f"{places[1]} was not the same study as {places[0]} and was deleted; copy again")
        return Copied(entries, len(new.items), len(new.comparisons()))


def _digest(items: Items) -> object:
    """What tells the features apart, without reading those that stay in a file."""
    features: Any = items.features
    parts = features.parts if isinstance(features, StackedMatrix) else (features,)
    return [part.sha256 if isinstance(part, FileMatrix) else part.tobytes() for part in parts]
