"""Storages by address: None is memory, "sqlite:///study.db" a file here, "sqlite:////home/me/study.db" any file."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ordinate.data.formats.files import require_file
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
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

if TYPE_CHECKING:
    from ordinate.data.matrices import FileMatrix
    from ordinate.storage.sqlite import SqliteStorage

__all__ = [
    "BEYOND_BUDGET",
    "AnswerDetails",
    "Clock",
    "Entry",
    "Kind",
    "Log",
    "Recorded",
    "Settings",
    "Storage",
    "checked",
    "create",
    "features_outside",
    "move_features",
    "now",
    "open",
    "timestamp",
    "upgrade",
]


def create(url: str | None, settings: Settings, items: Items) -> Storage:
    """A new storage holding these items. A file is complete or absent. Raises StudyExists."""
    token = secrets.token_hex(3)
    first = Entry(1, "add-items", now())
    if url is None:
        memory = MemoryStorage(settings, token)
        memory.append([first], items)
        return memory
    path = _sqlite_path(url)
    from ordinate.storage import sqlite

    return sqlite.create(path, settings, token, first, items)


def open(url: str) -> Storage:
    """The storage at the address; none is created. Raises StudyNotFound, and NotAStudy for any other file."""
    return _sqlite(url)


def upgrade(url: str) -> tuple[str, str]:
    """Migrate a study that an older version wrote to the tables of this version, in one transaction.

    Returns the revisions of its tables before and after.
    """
    path = _sqlite_path(url)
    from ordinate.storage import sqlite

    return sqlite.upgrade(path)


def features_outside(url: str) -> list[FileMatrix]:
    """The files outside the study that hold features of its items; they are not opened."""
    return _sqlite(url).feature_files()


def move_features(url: str, path: str | Path) -> FileMatrix:
    """Tell the study where one of its feature files is now. Raises InvalidInput where `path` is not one of them."""
    require_file(path)
    return _sqlite(url).move_features(Path(path).absolute())


def _sqlite(url: str) -> SqliteStorage:
    path = _sqlite_path(url)
    from ordinate.storage import sqlite

    return sqlite.open(path)


def _sqlite_path(url: str) -> Path:
    """The file of an address, as an absolute path, so that a later change of the working folder does not matter."""
    scheme, found, path = str(url).partition(":///")
    if not found or scheme != "sqlite":
        hint = "" if "://" in str(url) else f"; for a file, write 'sqlite:///{url}'"
        raise InvalidInput(f"unknown storage {str(url)!r}; supported are sqlite:///FILE and memory (None){hint}")
    if path in ("", ":memory:"):
        raise InvalidInput(f"storage {str(url)!r} names no file; for a study in memory leave the storage out")
    return Path(path).absolute()
