"""Tables in files: read into named columns, and written. One module per format, one row here for each.

A table is a mapping from column name to a list of values, all lists of one length. CSV holds text only; the other
formats keep their types. A feature matrix is a .npy file, see `matrix.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ordinate.data.formats import delimited, excel, json_lines, json_list, parquet
from ordinate.data.formats.data_set import is_data_set, read_data_set
from ordinate.data.formats.files import read_bytes, require_file, write_bytes
from ordinate.data.formats.matrix import read_matrix
from ordinate.errors import InvalidInput, naming

__all__ = ["FORMATS", "read_columns", "read_matrix", "write_columns"]


class Format(NamedTuple):
    """How the bytes of a file become a table, and a table becomes bytes."""

    decode: Callable[[bytes], dict[str, list[Any]]]
    encode: Callable[[Mapping[str, Sequence[Any]]], bytes]


FORMATS: dict[str, Format] = {
    ".csv": Format(delimited.decode, delimited.encode),
    ".tsv": Format(partial(delimited.decode, delimiters="\t"), partial(delimited.encode, delimiter="\t")),
    ".jsonl": Format(json_lines.decode, json_lines.encode),
    ".ndjson": Format(json_lines.decode, json_lines.encode),
    ".json": Format(json_list.decode, json_list.encode),
    ".parquet": Format(parquet.decode, parquet.encode),
    ".xlsx": Format(excel.decode, excel.encode),
}


def read_columns(path: str | Path, called: str | None = None) -> dict[str, list[Any]]:
    """The table in a file; the suffix of its name says the format. Or that of a data set on disk, in a folder.

    Errors name the line or row, and the file: as it is called where people know it by another name than its path.
    """
    if is_data_set(path):
        return read_data_set(path)
    require_file(path)
    with naming(called or path):
        return _format(path).decode(read_bytes(path))


def write_columns(path: str | Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a table in the format of the suffix; if that fails, the file is left as it was."""
    with naming(path):
        encode = _format(path).encode
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidInput(f"the columns are of different lengths: {lengths}")
        try:
            data = encode(columns)
        except UnicodeEncodeError as error:
            raise InvalidInput(f"a text holds {error.object[error.start]!r}, which is no valid character") from None
    write_bytes(path, data)


def _format(path: str | Path) -> Format:
    suffix = Path(path).suffix
    try:
        return FORMATS[suffix.lower()]
    except KeyError:
        problem = f"unknown suffix {suffix!r}" if suffix else "the name has no suffix"
        raise InvalidInput(f"{problem}; tables are {', '.join(FORMATS)}") from None
