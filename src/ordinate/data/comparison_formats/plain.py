"""Our own form: left, right, winner (left, right, tie, or the winner's id) and, where known, annotator and group.

Also what tables of other programs are read as when `--map` names their columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.cells import is_missing
from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source, Translated, has
from ordinate.data.comparisons import Comparison, Query, comparison_columns
from ordinate.data.items import Items
from ordinate.data.tables import require_columns
from ordinate.errors import InvalidInput

OPTIONAL = ("strength", "annotator", "group", "left_text", "right_text", "query")


def _translate(source: Source) -> Translated:
    if not source.names:
        require_columns(source.columns, ("left", "right", "winner"))
    if {"status", "query"} <= source.columns.keys():
        raise InvalidInput(
            "this is a full export, with answers that do not count; import the plain one, as "
            "`ordinate export STUDY.db --out FILE` writes it"
        )
    columns = {name: source.need(name, name) for name in ("left", "right", "winner")}
    columns["winner"] = source.meant(columns["winner"])
    columns |= {name: found for name in OPTIONAL if (found := source.get(name, name)) is not None}
    if "query" in columns:  # a table of questions, of which some may have no answer yet
        columns["winner"] = [LEFT_OUT if is_missing(value) else value for value in columns["winner"]]
        source.use(*(name for name in source.columns if name == "question" or name.startswith(("left_", "right_"))))
    return Translated(columns)


def _write(comparisons: Sequence[Comparison], items: Items | None) -> dict[str, list[Any]]:
    return comparison_columns(comparisons, items)


def questions(queries: Sequence[Query], items: Items, question: str) -> dict[str, list[Any]]:
    """Open queries as a table whose empty column `winner` is filled in elsewhere, and which is then imported."""
    shown = shown_beside(queries, items)
    columns: dict[str, list[Any]] = {"query": [one.id for one in queries], "question": [question] * len(queries)}
    for name in dict.fromkeys(name for data in shown for name in data):
        columns[name] = [data.get(name) for data in shown]
    return {**columns, "winner": [None] * len(queries)}


def shown_beside(pairs: Sequence[Comparison | Query], items: Items | None) -> list[dict[str, Any]]:
    """Of each pair the ids, what is shown of both items (left_text, right_text, ...), and their group."""
    if items is None:
        return [{"left": one.left, "right": one.right, "left_text": one.left, "right_text": one.right} for one in pairs]
    content = {kind: dict(zip(items.ids, values, strict=True)) for kind, values in items.content.items()}
    content["text"] = {item: content.get("text", {}).get(item) or item for item in items.ids}
    group = {} if items.group is None else dict(zip(items.ids, items.group, strict=True))
    return [
        {
            "left": one.left,
            "right": one.right,
            **{f"{side}_{kind}": of[getattr(one, side)] for kind, of in content.items() for side in ("left", "right")},
            **({"group": group[one.left]} if group else {}),
        }
        for one in pairs
    ]


FORMAT = ComparisonFormat(
    "left, right, winner and, where known, strength, annotator and group",
    has("left", "right", "winner"),
    _translate,
    fields=("left", "right", "winner", "strength", "annotator"),
    write=_write,
)
