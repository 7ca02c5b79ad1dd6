"""choix: a list of pairs (winner, loser) of item numbers, as .json or .npy. It has no ties and no annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.cells import id_text
from ordinate.data.comparison_formats.source import ComparisonFormat, Source, Translated, winners
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.tables import Columns

NAMES = ("0", "1")
"""The columns of a list of pairs: those of `read_comparison_columns`."""


def _recognise(columns: Columns) -> bool:
    return tuple(columns) == NAMES


def _translate(source: Source) -> Translated:
    won, lost = source.need("left", "0"), source.need("right", "1")
    notes = ["The sides on the screen are unknown: each winner counts as the left item."]
    if len(won) == 2 and id_text(won[0]) == id_text(lost[1]) == "0":
        notes.append("Two rows of two are read as pairs; of a matrix of wins of two items, name the form: win-matrix.")
    return Translated({"left": won, "right": lost, "winner": ["left"] * len(won)}, notes=notes)


def _write(comparisons: Sequence[Comparison], items: Items | None) -> dict[str, list[Any]]:
    """Item k is the study's item in row k, counted from 0; without items, the k-th that is compared."""
    pairs = winners(comparisons, "choix")
    ids = [item for one in comparisons for item in one[:2]] if items is None else items.ids
    number = {item: place for place, item in enumerate(dict.fromkeys(ids))}
    return {"0": [number[winner] for winner, _ in pairs], "1": [number[loser] for _, loser in pairs]}


FORMAT = ComparisonFormat(
    "choix: pairs of item numbers, winner first (.npy or .json)",
    _recognise,
    _translate,
    fields=("left", "right"),
    write=_write,
    ties=False,
    people=False,
    group=None,
    numbers=True,
)
