"""Label Studio: the JSON export of a project with the tag Pairwise, and tasks to import there.

A task of ours has in its data the ids `left` and `right`, their texts, and the id of the query. In other tasks the two
items are the data whose keys differ only at their end: text1 and text2, image_a and image_b. `--map left=KEY` and
`--map right=KEY` name others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ordinate.data.cells import is_missing, require_single, text_id
from ordinate.data.comparison_formats.plain import shown_beside
from ordinate.data.comparison_formats.source import (
    LEFT_OUT,
    ComparisonFormat,
    NoWinner,
    Source,
    Translated,
    has,
    winners,
)
from ordinate.data.comparisons import Comparison, Query, plain_outcome
from ordinate.data.items import Items
from ordinate.errors import InvalidInput

CONFIGURATION = """<View>
  <Header value="$question"/>
  <Pairwise name="pair" toName="left_text,right_text"/>
  <Text name="left_text" value="$left_text"/>
  <Text name="right_text" value="$right_text"/>
</View>"""
_END = re.compile(r"(.*?)[_-]?(1|2|a|b|left|right)", re.IGNORECASE)
_SIDES = {"1": "left", "a": "left", "left": "left", "2": "right", "b": "right", "right": "right"}


def _translate(source: Source) -> Translated:
    columns: dict[str, list[Any]] = {
        name: [] for name in ("left", "right", "winner", "annotator", "group", "query", "left_text", "right_text")
    }
    rows = []
    data, annotations = source.need("data", "data"), source.need("annotations", "annotations")
    names = [source.named(side) for side in ("left", "right")]
    group = source.named("group") or "group"
    for row, (task, given) in enumerate(zip(data, annotations, strict=True), start=1):
        if not isinstance(task, Mapping) or not isinstance(given, list):
            raise InvalidInput(f"task {row}: data must be an object, and annotations a list")
        for annotation in given:
            result = _result(row, annotation)
            keys = _keys(row, task, names)
            for side, key in zip(("left", "right"), keys, strict=True):
                if is_missing(task.get(key)):
                    raise InvalidInput(f"task {row}: its data have nothing for {key!r}")
                require_single(task[key], f"task {row}: {key!r}")
                value = str(task[key])
                columns[side].append(value if key == side else text_id(value))
                columns[f"{side}_text"].append(task.get(f"{side}_text") if key == side else value)
            columns["winner"].append(_winner(row, annotation, result))
            columns["annotator"].append(task.get("annotator") or _person(annotation.get("completed_by")))
            columns["group"].append(task.get(group))
            columns["query"].append(task.get("query"))
            rows.append(row)
    if all(value is None for value in columns["group"]):
        del columns["group"]
    return Translated(columns, rows)


def _keys(row: int, task: Mapping[str, Any], names: Sequence[str | None]) -> list[str]:
    """The keys of the left and of the right item in the data of a task."""
    if any(names):
        return [name or side for name, side in zip(names, ("left", "right"), strict=True)]
    if {"left", "right"} <= task.keys():
        return ["left", "right"]
    stems: dict[str, dict[str, str]] = {}
    for key in task:
        if (match := _END.fullmatch(key)) is not None:
            stems.setdefault(match[1], {})[_SIDES[match[2].lower()]] = key
    pairs = [[found["left"], found["right"]] for found in stems.values() if len(found) == 2]
    if len(pairs) != 1:
        raise InvalidInput(
            f"task {row}: which of its data are the two items? It has {', '.join(map(repr, task))}; name them"
        ).with_option("the options are --map left=KEY --map right=KEY")
    return pairs[0]


def _result(row: int, annotation: object) -> Mapping[str, Any] | None:
    """The part of an annotation that the tag Pairwise made; None if it made none."""
    parts = annotation.get("result") or [] if isinstance(annotation, Mapping) else None
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
        raise InvalidInput(f"task {row}: an annotation must be an object with a list of results")
    return next((part for part in parts if part.get("type") == "pairwise"), None)


def _winner(row: int, annotation: Mapping[str, Any], result: Mapping[str, Any] | None) -> str | NoWinner:
    if annotation.get("was_cancelled") or result is None:
        return LEFT_OUT
    value = result.get("value")
    selected = value.get("selected") if isinstance(value, Mapping) else value
    if selected not in ("left", "right"):
        raise InvalidInput(f"task {row}: selected is {selected!r}; it is left or right")
    return str(selected)


def _person(completed_by: object) -> object:
    if isinstance(completed_by, Mapping):
        return completed_by.get("email") or completed_by.get("id")
    return completed_by


def _write(comparisons: Sequence[Comparison], items: Items | None) -> dict[str, list[Any]]:
    winners(comparisons, "label-studio")  # which refuses ties
    shown = shown_beside(comparisons, items)
    result = {"from_name": "pair", "to_name": "pair", "type": "pairwise"}
    return {
        "data": [{**data, "annotator": one.annotator} for one, data in zip(comparisons, shown, strict=True)],
        "annotations": [
            [{"result": [{**result, "value": {"selected": plain_outcome(one.outcome)}}]}] for one in comparisons
        ],
    }


def tasks(queries: Sequence[Query], items: Items, question: str) -> dict[str, list[Any]]:
    """Open queries as tasks to import into Label Studio, for a project with CONFIGURATION."""
    shown = shown_beside(queries, items)
    return {"data": [{**data, "question": question, "query": one.id} for one, data in zip(queries, shown, strict=True)]}


FORMAT = ComparisonFormat(
    "Label Studio: the JSON export of a project with Pairwise",
    has("data", "annotations"),
    _translate,
    fields=("left", "right"),
    write=_write,
    ties=False,
    group="data",
)
