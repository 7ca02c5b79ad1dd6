"""Storages by address: None is memory, "sqlite:///study.db" a file here, "sqlite:////home/me/study.db" any file."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ordinate.data.formats.files import require_file
from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.storage.log import AnswerDetails, Clock, Entry, Kind, Log, Settings, Storage, checked, now, timestamp
from ordinate.storage.memory import MemoryStorage

if TYPE_CHECKING:
    from ordinate.data.matrices import FileMatrix
    from ordinate.storage.sql import SqlStorage

__all__ = [
    "AnswerDetails",
    "Clock",
    "Entry",
    "Kind",
    "Log",
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
    """A new storage holding these items. Raises StudyExists; a file is whole or not there."""
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
    """The storage at the address. Raises StudyNotFound, and makes none; raises NotAStudy for any other file."""
    return _sql(url)


def upgrade(url: str) -> tuple[str, str]:
    """Bring a study that an older version wrote to the tables of this one, all at once or not at all.

    Returns the revisions of its tables before and after.
    """
    path = _sqlite_path(url)
    from ordinate.storage import sqlite

    return sqlite.upgrade(path)


def features_outside(url: str) -> list[FileMatrix]:
    """The files outside the study that hold features of its items, unchecked."""
    return _sql(url).feature_files()


def move_features(url: str, path: str | Path) -> FileMatrix:
    """Tell the study where one of its feature files is now. Raises InvalidInput where `path` is none of them."""
    require_file(path)
    return _sql(url).move_features(Path(path).absolute())


def _sql(url: str) -> SqlStorage:
    path = _sqlite_path(url)
    from ordinate.storage import sqlite

    return sqlite.open(path)


def _sqlite_path(url: str) -> Path:
    """The file of an address, absolute: a later change of the working folder must not lose it."""
    scheme, found, path = str(url).partition(":///")
    if not found or scheme != "sqlite":
        hint = "" if "://" in str(url) else f"; for a file, write 'sqlite:///{url}'"
        raise InvalidInput(f"unknown storage {str(url)!r}; supported are sqlite:///FILE and memory (None){hint}")
    if path in ("", ":memory:"):
        raise InvalidInput(f"storage {str(url)!r} names no file; for a study in memory leave the storage out")
    return Path(path).absolute()
