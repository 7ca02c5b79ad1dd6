"""evalica: x, y, winner, where the winner is X, Y or Draw, or its number. The CSV files of its command are plain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.comparison_formats.source import ComparisonFormat, Source, Translated
from ordinate.data.comparisons import Comparison, plain_outcome
from ordinate.data.items import Items
from ordinate.data.tables import Columns

_NAMES = {"left": "X", "right": "Y", "tie": "Draw"}
_NUMBERS = {"left": "1", "right": "2", "tie": "0"}
"""What a member of its enumeration becomes in a table."""
WORDS = {word: side for words in (_NAMES, _NUMBERS) for side, word in words.items()}


def _recognise(columns: Columns) -> bool:
    return {"x", "y", "winner"} <= columns.keys() or {"xs", "ys", "winners"} <= columns.keys()


def _translate(source: Source) -> Translated:
    winner = source.meant(source.need("winner", "winner", "winners"), WORDS)
    return Translated(
        {"left": source.need("left", "x", "xs"), "right": source.need("right", "y", "ys"), "winner": winner}
    )


def _write(comparisons: Sequence[Comparison], _items: Items | None) -> dict[str, list[Any]]:
    return {
        "x": [one.left for one in comparisons],
        "y": [one.right for one in comparisons],
        "winner": [_NAMES[plain_outcome(one.outcome)] for one in comparisons],
    }


FORMAT = ComparisonFormat(
    "evalica: x, y, winner (X, Y, Draw)",
    _recognise,
    _translate,
    fields=("left", "right", "winner"),
    write=_write,
    people=False,
)
