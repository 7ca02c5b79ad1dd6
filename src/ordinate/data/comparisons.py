"""Comparisons and queries, checked one by one; `comparison_formats` reads them from tables, files and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ordinate.data.cells import id_text, is_missing, plain_text, require_single
from ordinate.data.items import Items
from ordinate.data.lookalikes import appearance
from ordinate.errors import InvalidInput

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
_TEXTS = frozenset((str, type(None)))


def plain_outcome(outcome: Outcome) -> Outcome:
    """left, right or tie: the outcome without its strength."""
    return {1.0: "left", 0.0: "right"}.get(OUTCOME_VALUES[outcome], "tie")  # type: ignore[return-value]


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


def with_strength(given: Comparison, strength: Any, where: str) -> Comparison:
    """The comparison with what a column `strength` says: much, slightly or nothing. Raises InvalidInput."""
    word = "" if is_missing(strength) else id_text(strength)
    if not word:
        return given
    if word not in ("much", "slightly"):
        raise InvalidInput(f"{where}unknown strength {word!r}; it is much or slightly, or empty")
    if given.outcome not in ("left", "right"):
        raise InvalidInput(f"{where}the winner {given.outcome!r} takes no strength; got {word!r}")
    strong: Any = f"{given.outcome}-{word}"
    return given._replace(outcome=strong)


def require_one_reading(rows: Sequence[int], given: Sequence[Comparison], checked: Sequence[Comparison]) -> None:
    """Raise InvalidInput where a winner is a side and another item's id, in a table that names winners by their ids.

    rows  of the table, one for each comparison
    """
    words = [id_text(one.outcome) for one in given]
    by_id = next((row for row, word in zip(rows, words, strict=True) if word not in OUTCOMES), None)
    if by_id is None:
        return
    for row, word, one in zip(rows, words, checked, strict=True):
        same = {"left": one.left, "right": one.right}.get(word) == word  # as a side and as an id
        if word in OUTCOMES and word in (one.left, one.right) and not same:
            raise InvalidInput(
                f"row {row}: the winner {word!r} is a side and the id of an item, and row {by_id} names its winner by "
                "its id, so this can be read two ways; name all winners by their side: left, right or tie"
            )


def comparison_columns(comparisons: Sequence[Comparison], items: Items | None = None) -> dict[str, list[Any]]:
    """The table of our own form; with items, and where these have groups, it has a column `group`."""
    columns: dict[str, list[Any]] = {
        "left": [one.left for one in comparisons],
        "right": [one.right for one in comparisons],
        "winner": [one.outcome for one in comparisons],
        "annotator": [one.annotator for one in comparisons],
    }
    if items is not None and items.group is not None:
        group_of = dict(zip(items.ids, items.group, strict=True))
        columns["group"] = [group_of[one.left] for one in comparisons]
    return columns


def check_comparison(given: Comparison, where: str = "") -> Comparison:
    """The comparison with its ids as text and its winner as a side; `where` opens the error message."""
    if not _TEXTS.issuperset(map(type, given)):  # nearly all are texts, and there may be millions
        for name, value in zip(("left item", "right item", "winner", "annotator"), given, strict=True):
            require_single(value, f"{where}the {name}")
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
        raise InvalidInput(f"{where}unknown winner {winner!r}; it is {expected}{meant}").with_option(
            "if the table has other words for this, say what they mean, such as --answers 1=left,2=right"
            if winner
            else ""
        )
    annotator = None if is_missing(given.annotator) else plain_text(id_text(given.annotator), f"{where}annotator")
    return Comparison(left, right, outcome, annotator)
