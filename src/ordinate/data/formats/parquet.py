"""Parquet and Arrow, by polars, which the extra `parquet` installs, or else by pyarrow, which pandas may bring."""

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ordinate.errors import InvalidInput, MissingExtra

_MAGIC = b"PAR1"


def decode(data: bytes) -> dict[str, list[Any]]:
    polars, pyarrow = _libraries("a .parquet file")
    if not data:
        raise InvalidInput("the file is empty")
    if not data.startswith(_MAGIC):
        raise InvalidInput("this is no Parquet file, whatever its suffix says")
    if not data.endswith(_MAGIC):
        raise InvalidInput("this Parquet file is cut short; copy or write it again")
    columns: dict[str, list[Any]]
    try:
        if polars is not None:
            columns = polars.read_parquet(io.BytesIO(data)).to_dict(as_series=False)
        else:
            columns = import_module("pyarrow.parquet").read_table(pyarrow.BufferReader(data)).to_pydict()
    except _errors(polars, pyarrow) as error:
        raise InvalidInput(f"this Parquet file is damaged: {error}") from None
    return columns


def arrow_stream(data: bytes) -> dict[str, list[Any]]:
    """The columns of an Arrow stream, the form of the data sets of Hugging Face."""
    polars, pyarrow = _libraries("a data set on disk")
    columns: dict[str, list[Any]]
    try:
        if polars is not None:
            columns = polars.read_ipc_stream(io.BytesIO(data)).to_dict(as_series=False)
        else:
            columns = pyarrow.ipc.open_stream(data).read_all().to_pydict()
    except _errors(polars, pyarrow) as error:
        raise InvalidInput(f"this is no whole Arrow stream: {error}") from None
    return columns


def encode(columns: Mapping[str, Sequence[Any]]) -> bytes:
    polars, pyarrow = _libraries("a .parquet file")
    made = []
    for name, values in columns.items():
        try:
            made.append(polars.Series(name, list(values), strict=True) if polars else pyarrow.array(list(values)))
        except _errors(polars, pyarrow) as error:
            raise InvalidInput(f"column {name!r} holds values of different types: {error}") from None
    file = io.BytesIO()
    if polars is not None:
        polars.DataFrame(made).write_parquet(file)
    else:
        import_module("pyarrow.parquet").write_table(pyarrow.table(made, names=list(columns)), file)
    return file.getvalue()


def _errors(polars: Any, pyarrow: Any) -> tuple[type[BaseException], ...]:
    if polars is not None:
        return (
            polars.exceptions.PolarsError,
            polars.exceptions.PanicException,
            OSError,
            ValueError,
            TypeError,
            OverflowError,
        )
    return (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError)


def _libraries(purpose: str) -> tuple[Any, Any]:
    """polars or None, and pyarrow or None: one of the two. Raises MissingExtra if both are missing."""
    try:
        return import_module("polars"), None
    except ModuleNotFoundError as error:
        if find_spec("polars") is not None or find_spec("pyarrow") is None:
            raise MissingExtra("polars", "parquet", purpose) from error
    return None, import_module("pyarrow")
