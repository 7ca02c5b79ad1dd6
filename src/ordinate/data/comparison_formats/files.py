"""Files of comparisons: tables, and matrices and lists without the names of columns."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput, naming

_BARE = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\[")
"""The start of a list of lists, perhaps after a byte order mark."""
_EMPTY = {".json": re.compile(rb"\s*\[\s*\]\s*"), ".jsonl": re.compile(b""), ".ndjson": re.compile(b"")}
"""Files of no rows."""


def read_comparison_columns(path: str | Path) -> Columns:
    """The table in a file. A .npy matrix, and a .json list of lists, have columns named 0, 1, 2, ...

    A .npy, .json or .jsonl file of no rows, as of a study without comparisons, has the columns of our own form.
    """
    from ordinate.data.formats import read_columns, read_matrix
    from ordinate.data.formats.files import read_bytes

    suffix = Path(path).suffix.lower()
    nothing: Columns = {"left": [], "right": [], "winner": []}
    if suffix == ".npy":
        return _numbered(read_matrix(path).tolist()) or nothing
    if suffix in _EMPTY:
        data = read_bytes(path)
        if _EMPTY[suffix].fullmatch(data):
            return nothing
        if suffix == ".json" and _BARE.match(data):
            with naming(path):
                return _numbered(_lists(data))
    return read_columns(path)


def write_comparison_columns(path: str | Path, columns: Columns) -> None:
    """Write a table; a list of pairs without names may be a .npy matrix, or a .json list of lists."""
    from ordinate.data.formats import write_columns
    from ordinate.data.formats.files import write_bytes

    suffix, bare = Path(path).suffix.lower(), list(columns) == ["0", "1"]
    pairs = [list(pair) for pair in zip(*columns.values(), strict=True)]
    if suffix == ".npy":
        numeric = pairs if bare else [row[1:] for row in pairs]
        with naming(path):
            if not all(isinstance(value, int) for row in numeric for value in row):
                raise InvalidInput("a .npy file holds the formats choix and win-matrix alone; write .csv or .json")
        file = io.BytesIO()
        width = len(columns) - (not bare)
        np.save(file, np.array(numeric, dtype=np.int64).reshape(len(numeric), width), allow_pickle=False)
        write_bytes(path, file.getvalue())
    elif suffix == ".json" and bare:
        write_bytes(path, json.dumps(pairs).encode())
    else:
        write_columns(path, columns)


def _lists(data: bytes) -> list[Any]:
    from ordinate.data.formats.json_list import parse
    from ordinate.data.formats.utf8 import text_of

    found: list[Any] = parse(text_of(data))
    return found


def _numbered(rows: list[Any]) -> dict[str, list[Any]]:
    width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    for row, cells in enumerate(rows, start=1):
        if not isinstance(cells, list) or len(cells) != width:
            raise InvalidInput(f"row {row} is no list of {width} values as row 1 is")
    columns = {str(place): [cells[place] for cells in rows] for place in range(width)}
    if width in (3, 4) and any(isinstance(value, str) for value in columns["2"]):
        return dict(zip(("left", "right", "winner", "annotator"), columns.values(), strict=False))
    return columns
