"""Who made which item, from a column of a table; they are not asked to judge it."""

from __future__ import annotations

from collections.abc import Sequence

from ordinate.data.cells import id_text, require_single
from ordinate.data.tables import Columns, no_column

COLUMN = "maker"


def makers_of(columns: Columns, ids: Sequence[str], column: str | None = None) -> list[tuple[str, str]]:
    """(item, name) for each name in the column, which may have several in a cell, divided by semicolons.

    column  None: "maker", where the table has it. Raises InvalidInput where it has no column of that name
    """
    if column is not None and column not in columns:
        raise no_column(columns, column)
    made = []
    for row, (item, cell) in enumerate(zip(ids, columns.get(column or COLUMN, ()), strict=False), start=1):
        require_single(cell, f"row {row} of column {column or COLUMN!r}")
        made += [(item, name.strip()) for name in id_text(cell).split(";") if name.strip()]
    return made
