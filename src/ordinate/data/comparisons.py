"""Comparisons and queries; comparisons are read from tables, files and rows, and each error names its row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ordinate.data.cells import id_text, is_missing, plain_text
from ordinate.data.tables import Columns, frame_columns, require_columns
from ordinate.errors import InvalidInput, naming

Outcome = Literal["left", "right", "tie"]
Answer = Literal["left", "right", "tie", "skip"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
OUTCOME_VALUES: Mapping[str, float] = {"left": 1.0, "right": 0.0, "tie": 0.5}
ANSWERS: tuple[Answer, ...] = get_args(Answer)


class Comparison(NamedTuple):
    """An answered pair: which of `left` and `right` won, or "tie"; and who answered, if known."""

    left: str
    right: str
    outcome: Outcome
    annotator: str | None = None


class Query(NamedTuple):
    """An asked pair. `left` and `right` are the screen sides."""

    id: str
    left: str
    right: str
    annotator: str | None = None


def comparisons_from_columns(columns: Columns) -> list[Comparison]:
    """Comparisons from a table with the columns left, right, winner and, where known, annotator.

    `winner` is "left", "right" or "tie", or the id of the winning item (an item whose id is one of these three words
    is named by its side). Raises InvalidInput, naming the row.
    """
    require_columns(columns, ("left", "right", "winner"))
    annotators = columns.get("annotator", [None] * len(columns["left"]))
    rows = zip(columns["left"], columns["right"], columns["winner"], annotators, strict=True)
    return [
        check_comparison(Comparison(left, right, winner, annotator), f"row {row}: ")
        for row, (left, right, winner, annotator) in enumerate(rows, start=1)
    ]


def read_comparisons(path: str | Path) -> list[Comparison]:
    """Comparisons from a .csv, .jsonl, .json or .parquet file, see `comparisons_from_columns`; errors name the file."""
    from ordinate.data.formats import read_columns

    columns = read_columns(path)
    with naming(path):
        return comparisons_from_columns(columns)


def check_comparison(given: Comparison, where: str = "") -> Comparison:
    """The comparison with its ids as text and its winner as a side; `where` opens the error message."""
    left, right = id_text(given.left), id_text(given.right)
    if not left or not right:
        raise InvalidInput(f"{where}the id of the {'left' if not left else 'right'} item is empty")
    if left == right:
        raise InvalidInput(f"{where}item {left!r} is compared with itself")
    winner = id_text(given.outcome)
    outcome: Outcome
    if winner in OUTCOMES:
        outcome = winner
    elif winner in (left, right):
        outcome = "left" if winner == left else "right"
    else:
        expected = "left, right, tie, or the id of one of the two items"
        raise InvalidInput(f"{where}unknown winner {winner!r}; it is {expected}")
    annotator = None if is_missing(given.annotator) else plain_text(id_text(given.annotator), f"{where}annotator")
    return Comparison(left, right, outcome, annotator)


def comparisons_of(given: Any) -> list[Comparison]:
    """Comparisons from a frame, or from rows of (left, right, outcome) and perhaps the annotator."""
    if hasattr(given, "columns"):
        return comparisons_from_columns(frame_columns(given))
    comparisons = []
    for row, one in enumerate(given if isinstance(given, Iterable) else [given], start=1):
        if not isinstance(one, tuple | list) or len(one) not in (3, 4):
            raise InvalidInput(f"row {row} is no comparison (left, right, outcome, annotator): {one!r}")
        comparisons.append(check_comparison(Comparison(*one), f"row {row}: "))
    return comparisons
