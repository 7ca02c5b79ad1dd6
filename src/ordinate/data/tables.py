"""Tables as columns by name: converted from and to pandas and polars frames, and checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ordinate.data.lookalikes import suggestion
from ordinate.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

Columns = Mapping[str, Sequence[Any]]


def no_column(columns: Columns, *names: str) -> InvalidInput:
    """The error for columns of these names, which the table lacks."""
    near = suggestion(names[0], columns) if len(names) == 1 else ""
    return InvalidInput(
        f"no column {', '.join(map(repr, names))}; the table has {', '.join(map(repr, columns)) or 'no columns'}{near}"
    )


def require_columns(columns: Columns, names: Iterable[str]) -> None:
    """Raise InvalidInput if a column is missing or the columns have different lengths."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise no_column(columns, *missing)
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(f"the columns are of different lengths: {lengths}")


def refuse_near_misses(columns: Columns, names: Collection[str]) -> None:
    """Raise InvalidInput for a column like " group" or "Group" that means one of these names and would be ignored."""
    for name in columns:
        meant = name.strip().lower()
        if meant in names and meant not in columns:
            raise InvalidInput(f"column {name!r} looks like {meant!r}; rename it to that, or to something else")


def frame_columns(frame: IntoDataFrame) -> dict[str, list[Any]]:
    """The columns of a pandas or polars frame as plain lists."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InvalidInput(f"expected a pandas or polars frame, got {type(frame).__name__}") from error
    except nw.exceptions.DuplicateError as error:
        raise InvalidInput(f"two columns of the frame have one name: {error}") from None
    found: dict[str, list[Any]] = {}
    for column in wrapped.iter_columns():
        if str(column.name) in found:
            raise InvalidInput(f"two columns of the frame are called {str(column.name)!r}: by a number and by a text")
        found[str(column.name)] = column.to_list()
    return found


def columns_to_frame(columns: Columns, backend: Literal["polars", "pandas"]) -> Any:
    """A frame of that library. Raises MissingExtra if it is not installed."""
    try:
        import_module(backend)
    except ModuleNotFoundError as error:
        raise MissingExtra(backend, "parquet" if backend == "polars" else None, f"a {backend} frame") from error
    import narwhals as nw

    return nw.from_dict(dict(columns), backend=backend).to_native()
