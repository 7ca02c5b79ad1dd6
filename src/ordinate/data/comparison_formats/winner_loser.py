"""The winner and the loser in a row: winner_id and loser_id, or winner and loser. It has no ties and no sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.cells import is_missing
from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source, Translated, people, winners
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.tables import Columns


def _recognise(columns: Columns) -> bool:
    return {"winner_id", "loser_id"} <= columns.keys() or {"winner", "loser"} <= columns.keys()


def _translate(source: Source) -> Translated:
    won = source.need("left", "winner_id", "winner")
    columns: dict[str, list[Any]] = {
        "left": won,
        "right": source.need("right", "loser_id", "loser"),
        "winner": ["left" if not is_missing(one) else LEFT_OUT for one in won],
    }
    if (annotator := source.get("annotator", "annotator", "worker", "user_id")) is not None:
        columns["annotator"] = annotator
    return Translated(columns, notes=["The sides on the screen are unknown: each winner counts as the left item."])


def _write(comparisons: Sequence[Comparison], _items: Items | None) -> dict[str, list[Any]]:
    pairs = winners(comparisons, "winner-loser")
    return {
        "winner_id": [winner for winner, _ in pairs],
        "loser_id": [loser for _, loser in pairs],
        "annotator": people(comparisons),
    }


FORMAT = ComparisonFormat(
    "winner_id and loser_id, or winner and loser",
    _recognise,
    _translate,
    fields=("left", "right", "annotator"),
    write=_write,
    ties=False,
)
