"""Folders as their publishers lay them out: finding the files, and errors that list what is there and what should be.

Some archives put their files a folder or two down, so an expected file may stand in several places.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ordinate.data.formats import read_columns
from ordinate.data.formats.files import failures
from ordinate.errors import InvalidInput, naming

_SHOWN = 12  # names of a folder's content in an error


class Expected(NamedTuple):
    """A file, or a folder, that a data set is read from.

    columns   what a table must have; other columns are left aside. Empty for what is no table.
    optional  whether the data set can be read without it
    note      what it is for, or how to make it
    below     folders under the given one where it may stand instead
    """

    name: str
    columns: tuple[str, ...] = ()
    optional: bool = False
    note: str = ""
    below: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The name with its columns and, where it may be missing, "optional"."""
        inside = [f"columns {', '.join(self.columns)}"] if self.columns else []
        inside += ["optional"] if self.optional else []
        return f"{self.name} ({'; '.join(inside)})" if inside else self.name


def find(folder: Path, expected: Expected) -> Path | None:
    """Where the expected file or folder is, if it is there."""
    with failures("read", folder):
        if not folder.is_dir():
            raise InvalidInput(f"{folder} is no folder; give the folder that holds {expected.name}")
        places = [folder / place / expected.name for place in ("", *expected.below)]
        return next((place for place in places if place.exists()), None)


def require(folder: Path, expected: Expected) -> Path:
    """Where the expected file is. Raises InvalidInput, listing what the folder holds, where it is not."""
    found = find(folder, expected)
    if found is None:
        note = f". {expected.note}" if expected.note else ""
        raise InvalidInput(f"{folder} holds no {expected}; found: {listing(folder)}{note}")
    return found


def read_table(path: Path, expected: Expected) -> dict[str, list[Any]]:
    """The columns of a file. Raises InvalidInput, listing found and expected columns, where one is missing."""
    columns = read_columns(path)
    if any(name not in columns for name in expected.columns):
        with naming(path):
            raise InvalidInput(f"expected the columns {_joined(expected.columns)}; found {_joined(columns)}")
    return columns


def listing(folder: Path) -> str:
    """The names in a folder, the first few of many."""
    with failures("read", folder):
        names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in folder.iterdir())
    if not names:
        return "nothing"
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{_joined(names[:_SHOWN])}{more}"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
