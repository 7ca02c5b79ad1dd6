"""A square matrix of counts: the number of times that the item of the row won against the item of the column.

In a table the first column holds the ids of the rows, and the other columns have the same ids as names, in that order.
A .npy matrix has none; its items are 0, 1, 2, ... `read_comparison_columns` gives such a matrix columns of these names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.cells import id_text, is_missing, numbers
from ordinate.data.comparison_formats.source import ComparisonFormat, Source, Translated, winners
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput


def _recognise(columns: Columns) -> bool:
    names = list(columns)
    if not names or len(columns[names[0]]) not in (len(names) - 1, len(names)):
        return False
    bare = names == [str(number) for number in range(len(columns[names[0]]))] and len(names) > 2
    return bare or (len(names) > 2 and [id_text(value) for value in columns[names[0]]] == names[1:])


def _translate(source: Source) -> Translated:
    names = list(source.columns)
    ids = names if len(source) == len(names) else names[1:]
    if len(ids) != len(source):
        raise InvalidInput(
            f"a matrix of wins has a row for each column; this table has {len(source)} rows and {len(names)} columns, "
            "of which the first holds the ids of the rows"
        )
    source.use(*names)
    left, right, rows, count = [], [], [], []
    for column in ids:
        values = [0 if is_missing(value) else value for value in source.columns[column]]
        for row, won in enumerate(numbers(values, column)):
            if won < 0 or won != int(won):
                raise InvalidInput(f"row {row + 1}, column {column!r}: {won:g} is no number of wins")
            if won and ids[row] == column:
                raise InvalidInput(f"row {row + 1}: item {column!r} cannot have won against itself; write 0")
            if won:
                left.append(ids[row])
                right.append(column)
                rows.append(row + 1)
                count.append(int(won))
    columns: dict[str, list[Any]] = {"left": left, "right": right, "winner": ["left"] * len(left), "count": count}
    notes = ["A matrix has no sides and no annotators: each winner counts as the left item."]
    return Translated(columns, rows, notes, ids)


def _write(comparisons: Sequence[Comparison], items: Items | None) -> dict[str, list[Any]]:
    pairs = winners(comparisons, "win-matrix")
    ids = list(dict.fromkeys(item for pair in pairs for item in sorted(pair))) if items is None else list(items.ids)
    place = {item: row for row, item in enumerate(ids)}
    counts = {item: [0] * len(ids) for item in ids}
    for winner, loser in pairs:
        counts[loser][place[winner]] += 1
    name = "id"
    while name in counts:
        name = f"_{name}"
    return {name: ids, **counts}


FORMAT = ComparisonFormat(
    "a square matrix of win counts, row against column",
    _recognise,
    _translate,
    write=_write,
    ties=False,
    people=False,
    group=None,
)
