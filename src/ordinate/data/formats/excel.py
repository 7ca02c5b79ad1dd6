"""Excel workbooks (.xlsx): the first sheet, whose first row is the header. Read and written by openpyxl, an extra.

A cell that holds a formula is read as the value that Excel last computed; one whose value is an error, such as #N/A, is
refused. Texts are written as texts, so that none is
run as a formula. An empty text becomes an empty cell. Characters that XML cannot hold are written as Excel does, as
_x0001_, and read back. Other sheets are for notes: one with the columns of the first is refused, so that nobody misses
its rows.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from ordinate.data.formats.delimited import require_flat, with_corner
from ordinate.errors import InvalidInput, MissingExtra

_MAGIC = b"PK\3\4"
_LONGEST = 32_767
"""Characters in a cell of Excel."""
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_TO_ESCAPE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def decode(data: bytes) -> dict[str, list[Any]]:
    openpyxl = _openpyxl()
    if not data:
        raise InvalidInput("the file is empty")
    if not data.startswith(_MAGIC):
        raise InvalidInput("this is no .xlsx file, whatever its suffix says; save it as an Excel workbook")
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = [(one.title, _rows(one)) for one in book.worksheets]
        sheet = [list(row) for row in sheets[0][1]] if sheets else []
        continued = [name for name, rows in sheets[1:] if sheet and sheet[0] == list(next(rows, ()))]
    except MemoryError:
        raise
    except Exception as error:  # of openpyxl, zipfile, zlib or the XML parser: each raises what it trips over
        raise InvalidInput(f"this workbook is damaged: {error}") from None
    if continued and any(value is not None for value in sheet[0]):
        raise InvalidInput(
            f"the sheet {continued[0]!r} has the same columns as the first one, and no other is read; put its rows "
            "there, or save it as a file of its own"
        )
    rows = [row for row in sheet if any(value is not None for value in row)]
    if not rows:
        raise InvalidInput("the first sheet is empty")
    for number, row in enumerate(rows):
        for column, value in zip_longest(rows[0], row):
            if isinstance(value, _Error):
                where = f"row {number} of column {str(column or '')!r}" if number else "the header"
                raise InvalidInput(f"{where} holds the error {value.code}; correct the formula, or empty the cell")
    header = ["" if value is None else _text(str(value)) for value in rows[0]]
    while header and not header[-1].strip():
        header.pop()
    header = with_corner(header, [row[0] for row in rows[1:]])
    for number, row in enumerate(rows[1:], start=1):
        if any(value is not None for value in row[len(header) :]):
            raise InvalidInput(f"row {number} has more cells than the header names; name the column, or empty them")
    columns = list(zip_longest(*(row[: len(header)] for row in rows[1:]))) or [()] * len(header)
    columns += [(None,) * (len(rows) - 1)] * (len(header) - len(columns))
    return {name: [_read(value) for value in values] for name, values in zip(header, columns, strict=True)}


class _Error(NamedTuple):
    """A cell whose value is an error; a text that reads the same is none."""

    code: str


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """All rows. What the file says of its size is not believed: some programs write A1, and rows would be left out."""
    sheet.reset_dimensions()
    for row in sheet.iter_rows():
        yield tuple(_Error(str(cell.value)) if cell.data_type == "e" else cell.value for cell in row)


def encode(columns: Mapping[str, Sequence[Any]]) -> bytes:
    openpyxl = _openpyxl()
    require_flat(columns)
    rows = [[_checked(name, "the header") for name in columns]]
    for number, row in enumerate(zip(*columns.values(), strict=True), start=1):
        rows.append([_checked(value, f"row {number}") for value in row])
    book = openpyxl.Workbook()
    for number, cells in enumerate(rows, start=1):
        for place, value in enumerate(cells, start=1):
            cell = book.active.cell(number, place, value)
            if isinstance(value, str):
                cell.data_type = "s"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _checked(value: Any, where: str) -> Any:
    """What a cell is given for a value. Raises InvalidInput where no cell can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int | float | None):
        return value
    if not isinstance(value, str):
        raise InvalidInput(f"{where} holds {str(value)[:40]!r}, which no cell of a workbook can hold")
    value.encode()  # a lone surrogate raises what `write_columns` reports
    if "\0" in value:
        raise InvalidInput(f"{where} holds a NUL character, which a workbook cannot hold")
    text = _TO_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", value)
    if len(text) > _LONGEST:
        raise InvalidInput(f"{where} holds a text of {len(text):,} characters; a cell has at most {_LONGEST:,}")
    return text


def _read(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    return value if isinstance(value, int | float | None) else str(value)  # dates and times


def _text(value: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value)


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ModuleNotFoundError as error:
        raise MissingExtra("openpyxl", "excel", "a .xlsx file") from error
    return openpyxl
