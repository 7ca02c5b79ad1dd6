"""Storages by address: None is memory, "sqlite:///study.db" a file here, "sqlite:////home/me/study.db" any file,
"postgresql://user@host/database/study" a schema of a PostgreSQL database.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ordinate.data.formats.files import require_file
from ordinate.data.items import Items
from ordinate.storage.log import (
    BEYOND_BUDGET,
    AnswerDetails,
    Clock,
    Entry,
    Kind,
    Log,
    Recorded,
    Settings,
    Storage,
    checked,
    now,
    timestamp,
)
from ordinate.storage.memory import MemoryStorage
from ordinate.storage.places import Place, place, without_password

if TYPE_CHECKING:
    from ordinate.data.matrices import FileMatrix

__all__ = [
    "BEYOND_BUDGET",
    "AnswerDetails",
    "Clock",
    "Entry",
    "Kind",
    "Log",
    "Place",
    "Recorded",
    "Settings",
    "Storage",
    "checked",
    "create",
    "erase",
    "features_outside",
    "move_features",
    "now",
    "open",
    "place",
    "timestamp",
    "upgrade",
    "without_password",
]


def create(
    url: str | None, settings: Settings, items: Items, rules: Sequence[tuple[str, str]] = (), by: str | None = None
) -> Storage:
    """A new storage holding these items and rules, each a name and a value in JSON. It is complete or absent.

    `by`: the owner who makes it, where one does through a server. Raises StudyExists.
    """
    token, at = secrets.token_hex(3), now()
    first = [Entry(1, "add-items", at, by=by)]
    first += [
        Entry(position, "set", at, name=name, value=value, by=by) for position, (name, value) in enumerate(rules, 2)
    ]
    if url is None:
        memory = MemoryStorage(settings, token)
        memory.append(first, items)
        return memory
    return place(url).create(settings, token, lambda log: log.append(first, items))


def open(url: str) -> Storage:
    """The storage at the address; none is created. Raises StudyNotFound, and NotAStudy for any other file."""
    return place(url).open()


def upgrade(url: str) -> tuple[str, str]:
    """Migrate a study that an older version wrote to the tables of this version, in one transaction.

    Returns the revisions of its tables before and after.
    """
    return place(url).upgrade()


def erase(url: str, annotator: str) -> tuple[str, int]:
    """Replace an annotator's name in the log by a random one; returns that name, and how many entries changed."""
    pseudonym = f"erased-{secrets.token_hex(4)}"
    with closing(place(url).open()) as storage:
        return pseudonym, storage.erase(annotator, pseudonym)


def features_outside(url: str) -> list[FileMatrix]:
    """The files outside the study that hold features of its items; they are not opened."""
    with closing(place(url).open()) as storage:
        return storage.feature_files()


def move_features(url: str, path: str | Path) -> FileMatrix:
    """Tell the study where one of its feature files is now. Raises InvalidInput where `path` is not one of them."""
    require_file(path)
    with closing(place(url).open()) as storage:
        return storage.move_features(Path(path).absolute())
