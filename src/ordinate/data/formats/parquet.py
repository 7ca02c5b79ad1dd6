"""Parquet, read and written by polars, which the extra `parquet` installs."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ordinate.errors import InvalidInput, MissingExtra

_MAGIC = b"PAR1"


def decode(data: bytes) -> dict[str, list[Any]]:
    polars = _polars()
    if not data:
        raise InvalidInput("the file is empty")
    if not data.startswith(_MAGIC):
        raise InvalidInput("this is no Parquet file, whatever its suffix says")
    if not data.endswith(_MAGIC):
        raise InvalidInput("this Parquet file is cut short; copy or write it again")
    try:
        columns: dict[str, list[Any]] = polars.read_parquet(io.BytesIO(data)).to_dict(as_series=False)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError) as error:
        raise InvalidInput(f"this Parquet file is damaged: {error}") from None
    return columns


def encode(columns: Mapping[str, Sequence[Any]]) -> bytes:
    polars = _polars()
    series = []
    for name, values in columns.items():
        try:
            series.append(polars.Series(name, list(values), strict=True))
        except (polars.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(f"column {name!r} holds values of different types: {error}") from None
    file = io.BytesIO()
    polars.DataFrame(series).write_parquet(file)
    return file.getvalue()


def _polars() -> Any:
    try:
        import polars
    except ModuleNotFoundError as error:
        raise MissingExtra("polars", "parquet", "a .parquet file") from error
    return polars
