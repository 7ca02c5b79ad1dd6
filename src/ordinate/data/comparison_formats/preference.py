"""Preference data as used to train models: chosen and rejected, and where known prompt.

Each is a text or a list of messages, of which the last one is the answer. A prompt is the group of its answers. The id
of a short text is the text itself; that of a long one is a hash of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ordinate.data.cells import is_missing, text_id
from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source, Translated, has, people, winners
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import InvalidInput


def text_in(value: object, where: str) -> str:
    """The text, or that of the last message in a list of {"role", "content"}."""
    if isinstance(value, list | tuple) and value and isinstance(value[-1], Mapping):
        value = value[-1].get("content")
    if not isinstance(value, str) or is_missing(value):
        raise InvalidInput(f"{where} holds {str(value)[:40]!r}, neither a text nor a list of messages")
    return value


def _translate(source: Source) -> Translated:
    chosen, rejected = source.need("left", "chosen"), source.need("right", "rejected")
    empty = [is_missing(one) and is_missing(other) for one, other in zip(chosen, rejected, strict=True)]
    texts = {
        side: [
            "" if empty[row - 1] else text_in(value, f"row {row} of {name!r}")
            for row, value in enumerate(given, start=1)
        ]
        for side, name, given in (("left", "chosen", chosen), ("right", "rejected", rejected))
    }
    columns: dict[str, list[Any]] = {
        "left": [text_id(text) for text in texts["left"]],
        "right": [text_id(text) for text in texts["right"]],
        "winner": [LEFT_OUT if one else "left" for one in empty],
        "left_text": list(texts["left"]),
        "right_text": list(texts["right"]),
    }
    if (prompts := source.get("group", "prompt")) is not None:
        columns["group"] = [text_in(value, f"row {row} of 'prompt'") for row, value in enumerate(prompts, start=1)]
    if (annotator := source.get("annotator", "annotator", "annotator_id")) is not None:
        columns["annotator"] = annotator
    return Translated(columns, notes=["The sides on the screen are unknown: what was chosen counts as the left item."])


def _write(comparisons: Sequence[Comparison], items: Items | None) -> dict[str, list[Any]]:
    pairs = winners(comparisons, "preference")
    shown = {} if items is None else dict(zip(items.ids, items.content.get("text", [None] * len(items)), strict=True))
    columns: dict[str, list[Any]] = {
        "chosen": [shown.get(winner) or winner for winner, _ in pairs],
        "rejected": [shown.get(loser) or loser for _, loser in pairs],
        "annotator": people(comparisons),
    }
    if items is not None and items.group is not None:
        group = dict(zip(items.ids, items.group, strict=True))
        columns = {"prompt": [group[winner] for winner, _ in pairs], **columns}
    return columns


FORMAT = ComparisonFormat(
    "preference data: chosen, rejected, prompt",
    has("chosen", "rejected"),
    _translate,
    fields=("left", "right", "annotator"),
    write=_write,
    ties=False,
    group="prompt",
    own_names=True,
)
