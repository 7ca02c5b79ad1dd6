"""crowd-kit: worker, left, right, and label, which is the id of the winner. It has no ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.comparison_formats.source import (
    ComparisonFormat,
    Source,
    Translated,
    has,
    people,
    side_of,
    winners,
)
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items


def _translate(source: Source) -> Translated:
    left, right, label = (
        source.need(name, usual) for name, usual in (("left", "left"), ("right", "right"), ("winner", "label"))
    )
    winner = source.meant(label)
    if source.words is None:
        winner = [side_of(row, *one) for row, one in enumerate(zip(label, left, right, strict=True), start=1)]
    return Translated({"left": left, "right": right, "winner": winner, "annotator": source.need("annotator", "worker")})


def _write(comparisons: Sequence[Comparison], _items: Items | None) -> dict[str, list[Any]]:
    return {
        "worker": people(comparisons),
        "left": [one.left for one in comparisons],
        "right": [one.right for one in comparisons],
        "label": [winner for winner, _ in winners(comparisons, "crowd-kit")],
    }


FORMAT = ComparisonFormat(
    "crowd-kit: worker, left, right, label",
    has("worker", "left", "right", "label"),
    _translate,
    fields=("left", "right", "winner", "annotator"),
    write=_write,
    ties=False,
)
