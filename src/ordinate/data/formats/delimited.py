"""CSV and TSV: a header line, then one row per line; a cell in double quotes may hold anything. Every cell stays text.

The delimiter (comma, semicolon or tab) is the one that splits the header into the most cells.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from ordinate.data.formats.utf8 import text_of
from ordinate.errors import InvalidInput

_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}


def decode(data: bytes, delimiters: str = ",;\t") -> dict[str, list[Any]]:
    # The default limit of 131,072 characters per cell is too low for documents; the text is in memory anyway.
    csv.field_size_limit(2**31 - 1)
    text = text_of(data)
    if text[:4].lower() == "sep=" and text[5:6] in ("\r", "\n"):
        # Excel's line that names the delimiter; emptied rather than removed, so that line numbers stay right.
        text = text[5:]
    delimiter = max(delimiters, key=lambda candidate: _header_cells(text, candidate))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    rows: list[list[str]] = []
    begin = 1
    try:
        for cells in reader:
            if cells and not header:
                _check_header(cells)
                header = cells
            elif cells:  # an empty line is no row
                if len(cells) != len(header):
                    raise InvalidInput(
                        f"row {len(rows) + 1} (line {begin}) has {len(cells)} cells where the header has "
                        f"{len(header)}; put a cell that holds a {_NAMES[delimiter]} in double quotes"
                    )
                rows.append(cells)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInput(
            f"the row that begins in line {begin} cannot be read: {error}; look for a double quote that is never "
            "closed, and write a double quote within a quoted cell twice"
        ) from None
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in header]
    return dict(zip(header, values, strict=True))


def encode(columns: Mapping[str, Sequence[Any]], delimiter: str = ",") -> bytes:
    """None is an empty cell. Raises InvalidInput on a NUL, which no reader of CSV accepts."""
    rows = [["" if value is None else value for value in row] for row in zip(*columns.values(), strict=True)]
    texts = [value for row in (columns, *rows) for value in row if isinstance(value, str)]
    if any("\0" in value for value in texts):
        raise InvalidInput("a text holds a NUL character, which a CSV file cannot hold")
    # Before Python 3.13 the writer does not quote a lone carriage return, and a reader would end the row there.
    bare = any("\r" in value for value in texts)
    file = io.StringIO(newline="")
    writer = csv.writer(
        file, delimiter=delimiter, quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL, lineterminator="\n"
    )
    writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue().encode()


def _header_cells(text: str, delimiter: str) -> int:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return len(next(filter(None, reader), []))
    except csv.Error:
        return 0


def _check_header(names: list[str]) -> None:
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise InvalidInput(
                f"column {position} has no name in the header line; name it, or leave the column out "
                "(from pandas: to_csv(path, index=False))"
            )
        if names.index(name) + 1 < position:
            raise InvalidInput(f"columns {names.index(name) + 1} and {position} are both called {name!r}; rename one")
