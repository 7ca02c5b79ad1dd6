"""Features from the columns of a table: numbers, categories as one column for each value, or one column of vectors.

n  items     d  feature columns
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.cells import id_text, is_missing, numbers, require_single
from ordinate.data.name_lists import as_text
from ordinate.data.tables import Columns, no_column
from ordinate.errors import InvalidInput

_MOST_VALUES = 50
"""A category of more values than this is likely an id or a free text."""


def feature_matrix(columns: Columns, names: Sequence[str]) -> tuple[Floats, list[str] | None]:
    """The columns of these names as a matrix (n, d), and its d names; those of a column of vectors are None.

    "material=wood" is 1 where the column `material` holds "wood" and 0 elsewhere, unless a column has this very name.
    Raises InvalidInput, naming the row and the column.
    """
    if len(names) == 1 and names[0] in columns and holds_vectors(columns[names[0]]):
        return _vectors(columns[names[0]], names[0]), None
    known = categories(columns, names)
    if missing := [name for name in names if name not in columns and _category(name, columns) is None]:
        raise no_column(columns, *columns_of(missing))
    made = []
    for name in names:
        if name in columns:
            if holds_vectors(columns[name]):
                raise InvalidInput(f"column {name!r} holds vectors; name it alone, without other feature columns")
            made.append(_numbers(columns[name], name))
            continue
        if (category := _category(name, columns)) is not None:
            column, value = category
            made.append(_indicator(columns[column], column, value, known[column]))
    return np.column_stack(made), list(names)


def one_hot_names(columns: Columns, categorical: Sequence[str]) -> list[str]:
    """The names of the feature columns that stand for these categories: "material=steel", "material=wood"."""
    names = []
    for column in categorical:
        if column not in columns:
            raise no_column(columns, column)
        _require_values(columns[column], column)
        values = sorted({id_text(value) for value in columns[column]})
        if len(values) > _MOST_VALUES:
            raise InvalidInput(
                f"column {column!r} has {len(values):,} different values, such as {values[0]!r}; a category has "
                f"{_MOST_VALUES} at most"
            )
        names += [f"{column}={value}" for value in values]
    return names


def columns_of(names: Iterable[str]) -> list[str]:
    """The columns of a table that features of these names are made of, such as "material" of "material=wood"."""
    return list(dict.fromkeys(name.partition("=")[0] for name in names))


def categories(columns: Columns, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns that hold categories according to the names of features, with their values."""
    found: dict[str, list[str]] = {}
    for name in names:
        if name not in columns and (category := _category(name, columns)) is not None:
            column, value = category
            found.setdefault(column, []).append(value)
    return found


def _category(name: str, columns: Columns) -> tuple[str, str] | None:
    """The column and the value of "material=wood"; None where there is no such column. Both may hold the sign, so the
    longest name of a column decides."""
    signs = [place for place, letter in enumerate(name) if letter == "="]
    place = next((place for place in reversed(signs) if name[:place] in columns), None)
    return None if place is None else (name[:place], name[place + 1 :])


def _numbers(values: Sequence[Any], column: str) -> Floats:
    try:
        return numbers(values, column)
    except InvalidInput as error:
        texts = {value for value in values if isinstance(value, str)}
        if 1 < len(texts) <= _MOST_VALUES and not any(text.strip()[:1].isdecimal() for text in texts):
            error.with_option(
                f"if the column holds categories, make the study with --categorical {quote(as_text([column]))}"
            )
        raise


def _indicator(values: Sequence[Any], column: str, value: str, known: Sequence[str]) -> Floats:
    _require_values(values, column)
    for row, given in enumerate(values, start=1):
        if id_text(given) not in known:
            raise InvalidInput(
                f"row {row} of column {column!r} holds {id_text(given)!r}; it is {', '.join(map(repr, known))}"
            )
    return np.array([float(id_text(given) == value) for given in values])


def _require_values(values: Sequence[Any], column: str) -> None:
    for row, value in enumerate(values, start=1):
        if is_missing(value):
            raise InvalidInput(f"row {row} of column {column!r} is empty; fill it in or leave the item out")
        require_single(value, f"row {row} of column {column!r}")


def holds_vectors(values: Sequence[Any]) -> bool:
    """Whether the column holds lists of numbers, or texts like "[0.1, 0.2]"."""
    first = next((value for value in values if not is_missing(value)), None) if len(values) else None
    return isinstance(first, list | tuple | np.ndarray) or (isinstance(first, str) and first.lstrip().startswith("["))


def _vectors(values: Sequence[Any], column: str) -> Floats:
    rows: list[Floats] = []
    for row, value in enumerate(values, start=1):
        if np.ma.is_masked(value):
            raise InvalidInput(
                f"row {row} of column {column!r} holds a masked number; fill it in or leave the item out"
            )
        try:
            vector = np.asarray(json.loads(value) if isinstance(value, str) else value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"row {row} of column {column!r} holds {str(value)[:40]!r}, which is no vector"
            ) from None
        if vector.ndim != 1 or (rows and vector.shape != rows[0].shape):
            length = f"{len(rows[0])} numbers as in row 1" if rows else "numbers"
            raise InvalidInput(f"row {row} of column {column!r} is no vector of {length}")
        rows.append(vector)
    return np.stack(rows)
