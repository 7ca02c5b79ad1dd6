"""Comparisons and queries; comparisons are read from tables, files and rows, and each error names its row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ordinate.data.cells import id_text, is_missing, plain_text
from ordinate.data.items import Items
from ordinate.data.lookalikes import appearance
from ordinate.data.tables import Columns, frame_columns, refuse_near_misses, require_columns
from ordinate.errors import InvalidInput, naming

Outcome = Literal["left", "right", "tie", "left-much", "left-slightly", "right-slightly", "right-much", "both-bad"]
Answer = Literal[
    "left", "right", "tie", "left-much", "left-slightly", "right-slightly", "right-much", "both-bad", "skip"
]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
OUTCOME_VALUES: Mapping[str, float] = {
    "left": 1.0,
    "right": 0.0,
    "tie": 0.5,
    "left-much": 1.0,
    "left-slightly": 1.0,
    "right-slightly": 0.0,
    "right-much": 0.0,
    "both-bad": 0.5,
}
"""1 where left won, 0 where right won, 0.5 a tie."""
ANSWERS: tuple[Answer, ...] = get_args(Answer)
_SWAPPED: Mapping[str, Outcome] = {
    "left": "right",
    "right": "left",
    "left-much": "right-much",
    "left-slightly": "right-slightly",
    "right-slightly": "left-slightly",
    "right-much": "left-much",
}


def swapped(outcome: Outcome) -> Outcome:
    """The outcome with the sides swapped."""
    return _SWAPPED.get(outcome, outcome)


class Comparison(NamedTuple):
    """An answered pair: which of `left` and `right` won, and perhaps by how much, or a tie; and who answered, if known.

    "both-bad" counts as a tie; it is told apart where answers are exported.
    """

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
    """Comparisons from a table with the columns left, right, winner and, where known, annotator and strength.

    `winner` is one of `OUTCOMES`, or the id of the winning item. These words are sides, also where an item is called
    so; a table that names such an item's winner, and others by their ids, can be read two ways and is refused.
    `strength` is "much", "slightly" or empty. Raises InvalidInput, naming the row.
    """
    require_columns(columns, ("left", "right", "winner"))
    refuse_near_misses(columns, ("annotator", "group", "strength"))
    if {"status", "query"} <= columns.keys():
        raise InvalidInput(
            "this is a full export, with answers that do not count; import the plain one, which "
            "`ordinate export` writes without --full"
        )
    annotators = columns.get("annotator", [None] * len(columns["left"]))
    rows = zip(columns["left"], columns["right"], columns["winner"], annotators, strict=True)
    given = [Comparison(left, right, winner, annotator) for left, right, winner, annotator in rows]
    checked = [check_comparison(one, f"row {row}: ") for row, one in enumerate(given, start=1)]
    _require_one_reading(given, checked)
    if "strength" not in columns:
        return checked
    return [
        _with_strength(one, strength, f"row {row}: ")
        for row, (one, strength) in enumerate(zip(checked, columns["strength"], strict=True), start=1)
    ]


def _with_strength(given: Comparison, strength: Any, where: str) -> Comparison:
    """The comparison with what its column `strength` says."""
    word = "" if is_missing(strength) else id_text(strength)
    if not word:
        return given
    if word not in ("much", "slightly"):
        raise InvalidInput(f"{where}unknown strength {word!r}; it is much or slightly, or empty")
    if given.outcome not in ("left", "right"):
        raise InvalidInput(f"{where}the winner {given.outcome!r} takes no strength; got {word!r}")
    strong: Any = f"{given.outcome}-{word}"
    return given._replace(outcome=strong)


def _require_one_reading(given: Sequence[Comparison], checked: Sequence[Comparison]) -> None:
    """Raise InvalidInput where a winner is a side and another item's id, in a table that names winners by their ids."""
    words = [id_text(one.outcome) for one in given]
    by_id = next((row for row, word in enumerate(words, start=1) if word not in OUTCOMES), None)
    if by_id is None:
        return
    for row, (word, one) in enumerate(zip(words, checked, strict=True), start=1):
        same = {"left": one.left, "right": one.right}.get(word) == word  # as a side and as an id
        if word in OUTCOMES and word in (one.left, one.right) and not same:
            raise InvalidInput(
                f"row {row}: the winner {word!r} is a side and the id of an item, and row {by_id} names its winner by "
                "its id, so this can be read two ways; name all winners by their side: left, right or tie"
            )


def require_same_groups(columns: Columns, items: Items) -> None:
    """Raise InvalidInput where comparisons have a column `group` that the groups of the items do not agree with."""
    if "group" not in columns:
        return
    if items.group is None:
        raise InvalidInput(
            "the comparisons have a column 'group' but the study has no groups, so all its items would be ordered as "
            "one list; make the study from items with a column 'group', or rename that column to ignore it"
        )
    group_of = dict(zip(items.ids, items.group, strict=True))
    rows = zip(columns["left"], columns["right"], columns["group"], strict=True)
    for row, (left, right, group) in enumerate(rows, start=1):
        for item in map(id_text, (left, right)):
            if item in group_of and group_of[item] != id_text(group):
                raise InvalidInput(
                    f"row {row}: item {item!r} is in group {group_of[item]!r} of the study, not in {id_text(group)!r}"
                )


def unused_columns(columns: Columns) -> list[str]:
    """The columns of a table of comparisons that are not read."""
    return [name for name in columns if name not in ("left", "right", "winner", "annotator", "group", "strength")]


def comparison_columns(comparisons: Sequence[Comparison]) -> dict[str, list[Any]]:
    """The table that `comparisons_from_columns` reads."""
    return {
        "left": [one.left for one in comparisons],
        "right": [one.right for one in comparisons],
        "winner": [one.outcome for one in comparisons],
        "annotator": [one.annotator for one in comparisons],
    }


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
        expected = f"{', '.join(OUTCOMES)}, or the id of one of the two items"
        alike = next((one for one in (*OUTCOMES, left, right) if appearance(one) == appearance(winner)), None)
        meant = "" if alike is None else f": write {alike!r}"
        raise InvalidInput(f"{where}unknown winner {winner!r}; it is {expected}{meant}")
    annotator = None if is_missing(given.annotator) else plain_text(id_text(given.annotator), f"{where}annotator")
    return Comparison(left, right, outcome, annotator)


def comparisons_of(given: Any, items: Items) -> list[Comparison]:
    """Comparisons of these items from a frame, or from rows of (left, right, outcome) and perhaps the annotator."""
    if hasattr(given, "columns"):
        columns = frame_columns(given)
        require_same_groups(columns, items)
        return comparisons_from_columns(columns)
    comparisons = []
    for row, one in enumerate(given if isinstance(given, Iterable) else [given], start=1):
        if not isinstance(one, tuple | list) or len(one) not in (3, 4):
            raise InvalidInput(f"row {row} is no comparison (left, right, outcome, annotator): {one!r}")
        comparisons.append(check_comparison(Comparison(*one), f"row {row}: "))
    return comparisons
