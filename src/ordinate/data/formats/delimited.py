"""CSV and TSV: a header line, then one row per line; a cell in double quotes may hold anything. Every cell stays text.
Empty lines are no rows, and neither are lines of separators alone, in tables of two or more columns.

The delimiter (comma, semicolon or tab) is the one that splits the header into the most cells.

Spreadsheet programs run a cell that begins like a formula. Such a text is written with an apostrophe before it, which
those programs take as the mark of a text, and which is removed when the file is read. So any text comes back exactly.
Numbers are written as they are.
"""

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ordinate.data.cells import is_nested, looks_like_number
from ordinate.data.formats.utf8 import text_of
from ordinate.errors import InvalidInput

_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
_FORMULA = re.compile("'*[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The start of a cell that a spreadsheet program could run, full-width signs included, with apostrophes before it."""


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
                header = _without_blank_end(cells, 0)
                check_header(header, corner=True)
            elif any(cells) or (cells and len(header) == 1):  # a line without content is no row
                cells = _without_blank_end(cells, len(header))
                if len(cells) != len(header):
                    raise InvalidInput(
                        f"row {len(rows) + 1} (line {begin}) has {len(cells)} cells where the header has "
                        f"{len(header)}; put a cell that holds a {_NAMES[delimiter]} in double quotes"
                    )
                rows.append([_as_text(cell) for cell in cells])
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInput(
            f"the row that begins in line {begin} cannot be read: {error}; look for a double quote that is never "
            "closed, and write a double quote within a quoted cell twice"
        ) from None
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in header]
    return dict(zip(with_corner(list(map(_as_text, header)), values[0]), values, strict=True))


def encode(columns: Mapping[str, Sequence[Any]], delimiter: str = ",") -> bytes:
    """None is an empty cell. Raises InvalidInput on a NUL, which no reader of CSV accepts, and on a nested value.

    Excel reads a file as UTF-8 only if it begins with a byte order mark, so a file that is not all ASCII has one.
    """
    require_flat(columns)
    rows = [["" if value is None else _harmless(value) for value in row] for row in zip(*columns.values(), strict=True)]
    header = list(map(_harmless, columns))
    texts = [value for row in (header, *rows) for value in row if isinstance(value, str)]
    if any("\0" in value for value in texts):
        raise InvalidInput("a text holds a NUL character, which a CSV file cannot hold")
    # Before Python 3.13 the writer does not quote a lone carriage return, and a reader would end the row there.
    bare = any("\r" in value for value in texts)
    file = io.StringIO(newline="")
    writer = csv.writer(
        file, delimiter=delimiter, quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL, lineterminator="\n"
    )
    writer.writerow(header)
    writer.writerows(rows)
    text = file.getvalue()
    return text.encode() if text.isascii() else codecs.BOM_UTF8 + text.encode()


def require_flat(columns: Mapping[str, Sequence[Any]]) -> None:
    """Raise InvalidInput for a list or an object, which no cell of a spreadsheet can hold."""
    for name, values in columns.items():
        for row, value in enumerate(values, start=1):
            if is_nested(value):
                raise InvalidInput(
                    f"row {row} of column {name!r} holds a list or an object, which this kind of file has no place "
                    "for; write .json, .jsonl or .parquet"
                )


def _harmless(value: Any) -> Any:
    """A text that begins like a formula, marked as a text."""
    formula = isinstance(value, str) and _FORMULA.match(value) and not looks_like_number(value)
    return f"'{value}" if formula else value


def _as_text(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _without_blank_end(cells: list[str], least: int) -> list[str]:
    """The cells without blank ones at the end beyond the first `least`: spreadsheet programs add columns of these."""
    end = len(cells)
    while end > least and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _header_cells(text: str, delimiter: str) -> int:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return len(next(filter(None, reader), []))
    except csv.Error:
        return 0


def with_corner(names: list[str], first: Sequence[Any]) -> list[str]:
    """The names, that of the first column given where it is blank and holds the other names: pandas writes a matrix
    of wins so. Raises InvalidInput for any other blank name."""
    rows = list(map(str, first))
    if not names or names[0].strip() or rows != names[1:]:
        if names and not names[0].strip() and set(rows) & set(names[1:]):
            check_header(names, corner=True)
            raise InvalidInput(_not_square(rows, names[1:]))
        check_header(names)
        return names
    check_header(names, corner=True)
    corner = "id"
    while corner in names:
        corner = f"_{corner}"
    return [corner, *names[1:]]


def _not_square(rows: list[str], columns: list[str]) -> str:
    """What is wrong with a table that was meant as a matrix of wins: its rows have names of its columns."""
    wanted = "a matrix of wins has the same names in its first column as in its header line, in the same order"
    for number, (row, column) in enumerate(zip(rows, columns, strict=False), start=1):
        if row != column:
            return f"row {number} is called {row!r} and column {number + 1} {column!r}; {wanted}"
    return f"there are {len(rows)} rows and {len(columns)} columns of counts; {wanted}"


def check_header(names: list[str], *, corner: bool = False) -> None:
    """Raise InvalidInput for a blank name, but that of the `corner`, and for a name given twice."""
    if not names:
        raise InvalidInput("the header line names no column; write the names of the columns in the first line")
    for position, name in enumerate(names, start=1):
        if not name.strip() and not (corner and position == 1):
            raise InvalidInput(
                f"column {position} has no name in the header line; name it, or leave the column out "
                "(from pandas: to_csv(path, index=False))"
            )
        if names.index(name) + 1 < position:
            raise InvalidInput(f"columns {names.index(name) + 1} and {position} are both called {name!r}; rename one")
