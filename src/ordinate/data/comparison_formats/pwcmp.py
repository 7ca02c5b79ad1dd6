"""pwcmp and ASAP: observer, condition_A, condition_B, is_A_selected; or condition_1, condition_2, selection (1 or 2).

A column `scene` is the group: pwcmp scales each scene on its own, and the same conditions are usually in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.comparison_formats.source import ComparisonFormat, Source, Translated, people, winners
from ordinate.data.comparisons import Comparison, plain_outcome
from ordinate.data.items import Items
from ordinate.data.tables import Columns

_IS_A = {"1": "left", "0": "right", "True": "left", "False": "right", "true": "left", "false": "right"}


def _recognise(columns: Columns) -> bool:
    names = columns.keys()
    return {"condition_A", "condition_B", "is_A_selected"} <= names or {
        "condition_1",
        "condition_2",
        "selection",
    } <= names


def _translate(source: Source) -> Translated:
    if "is_A_selected" in source.columns:
        winner = source.meant(source.need("winner", "is_A_selected"), _IS_A, "is_A_selected")
    else:
        winner = source.meant(source.need("winner", "selection"), {"1": "left", "2": "right"}, "selection")
    columns: dict[str, list[Any]] = {
        "left": source.need("left", "condition_A", "condition_1"),
        "right": source.need("right", "condition_B", "condition_2"),
        "winner": winner,
    }
    for name, usual in (("annotator", "observer"), ("group", "scene")):
        if (found := source.get(name, usual)) is not None:
            columns[name] = found
    return Translated(columns)


def _write(comparisons: Sequence[Comparison], _items: Items | None) -> dict[str, list[Any]]:
    winners(comparisons, "pwcmp")  # which refuses ties
    return {
        "observer": people(comparisons),
        "condition_A": [one.left for one in comparisons],
        "condition_B": [one.right for one in comparisons],
        "is_A_selected": [int(plain_outcome(one.outcome) == "left") for one in comparisons],
    }


FORMAT = ComparisonFormat(
    "pwcmp and ASAP: observer, condition_A, condition_B, is_A_selected",
    _recognise,
    _translate,
    fields=("left", "right", "winner", "annotator"),
    write=_write,
    ties=False,
    group="scene",
    own_names=True,
)
