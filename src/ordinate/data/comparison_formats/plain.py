"""Our own form: left, right, winner (left, right, tie, or the winner's id) and, where known, annotator and group.

Also what tables of other programs are read as when `--map` names their columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.comparison_formats.source import ComparisonFormat, Source, Translated, has
from ordinate.data.comparisons import Comparison, comparison_columns
from ordinate.data.items import Items
from ordinate.data.tables import require_columns
from ordinate.errors import InvalidInput

OPTIONAL = ("annotator", "group", "left_text", "right_text", "query")


def _translate(source: Source) -> Translated:
    if not source.names:
        require_columns(source.columns, ("left", "right", "winner"))
    if {"status", "query"} <= source.columns.keys():
        raise InvalidInput(
            "this is a full export, with answers that do not count; import the plain one, which "
            "`ordinate export` writes without --full"
        )
    columns = {name: source.need(name, name) for name in ("left", "right", "winner")}
    columns |= {name: found for name in OPTIONAL if (found := source.get(name, name)) is not None}
    return Translated(columns)


def _write(comparisons: Sequence[Comparison], items: Items | None) -> dict[str, list[Any]]:
    return comparison_columns(comparisons, items)


FORMAT = ComparisonFormat(
    "left, right, winner and, where known, annotator and group", has("left", "right", "winner"), _translate, _write
)
