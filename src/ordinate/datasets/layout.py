"""Published folder layouts: find the files, with errors that list what was found and what was expected.

In some archives the files are one or two folders further down, so an expected file may be in several places.
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
    """A file or folder of a data set.

    columns   the columns that a table must have; others are ignored. Empty if it is not a table
    optional  whether the data set can be read without it
    note      what it is for, or how to make it
    below     other folders below the given one in which it may be
    """

    name: str
    columns: tuple[str, ...] = ()
    optional: bool = False
    note: str = ""
    below: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The name with its columns and, if it is optional, "optional"."""
        inside = [f"columns {', '.join(self.columns)}"] if self.columns else []
        inside += ["optional"] if self.optional else []
        return f"{self.name} ({'; '.join(inside)})" if inside else self.name


def find(folder: Path, expected: Expected) -> Path | None:
    """The path of the expected file or folder; None if it is missing."""
    with failures("read", folder):
        if not folder.is_dir():
            raise InvalidInput(f"{folder} is not a folder; give the folder that contains {expected.name}")
        places = [folder / place / expected.name for place in ("", *expected.below)]
        return next((place for place in places if place.exists()), None)


def require(folder: Path, expected: Expected) -> Path:
    """The path of the expected file. Raises InvalidInput, listing the content of the folder, if it is missing."""
    found = find(folder, expected)
    if found is None:
        note = f". {expected.note}" if expected.note else ""
        raise InvalidInput(f"{folder} has no {expected}; found: {listing(folder)}{note}")
    return found


def read_table(path: Path, expected: Expected) -> dict[str, list[Any]]:
    """The columns of a file. Raises InvalidInput, listing found and expected columns, if one is missing."""
    columns = read_columns(path)
    if any(name not in columns for name in expected.columns):
        with naming(path):
            raise InvalidInput(f"expected the columns {_joined(expected.columns)}; found {_joined(columns)}")
    return columns


def listing(folder: Path) -> str:
    """The names in a folder: the first ones, if there are many."""
    with failures("read", folder):
        names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in folder.iterdir())
    if not names:
        return "nothing"
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{_joined(names[:_SHOWN])}{more}"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
