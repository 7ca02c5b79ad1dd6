"""Chatbot Arena battles: model_a, model_b, winner (model_a, model_b, tie, both bad) and, where known, judge.

Items are models. Where a column is named as the group, such as that of the prompt, they are the models' replies to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordinate.data.comparison_formats.source import (
    ComparisonFormat,
    Source,
    Translated,
    has,
    people,
)
from ordinate.data.comparisons import Comparison, plain_outcome
from ordinate.data.items import Items

WORDS = {
    "model_a": "left",
    "model_b": "right",
    "tie": "tie",
    "tie (bothbad)": "both-bad",
    "both_bad": "both-bad",
    "bothbad": "both-bad",
}
_NAMES = {"left": "model_a", "right": "model_b", "tie": "tie", "both-bad": "tie (bothbad)"}


def _translate(source: Source) -> Translated:
    winner = source.meant(source.need("winner", "winner"), WORDS)
    columns: dict[str, list[Any]] = {
        "left": source.need("left", "model_a"),
        "right": source.need("right", "model_b"),
        "winner": winner,
    }
    if (judge := source.get("annotator", "judge", "judge_id", "user_id", "evaluation_session_id")) is not None:
        columns["annotator"] = judge
    return Translated(columns)


def _write(comparisons: Sequence[Comparison], _items: Items | None) -> dict[str, list[Any]]:
    return {
        "model_a": [one.left for one in comparisons],
        "model_b": [one.right for one in comparisons],
        "winner": [_NAMES.get(one.outcome) or _NAMES[plain_outcome(one.outcome)] for one in comparisons],
        "judge": people(comparisons),
    }


FORMAT = ComparisonFormat(
    "Chatbot Arena battles: model_a, model_b, winner, judge",
    has("model_a", "model_b", "winner"),
    _translate,
    fields=("left", "right", "winner", "annotator"),
    write=_write,
    own_names=True,
    label="model",
)
