"""Mechanical Turk: the results of a batch. The pair is in columns Input.NAME, the answer in a column Answer.NAME.

Without `--map`, NAME is left, right and winner. Assignments that were rejected are left out.
"""

from __future__ import annotations

from typing import Any

from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source, Translated, has


def _translate(source: Source) -> Translated:
    columns: dict[str, list[Any]] = {
        "left": source.need("left", "Input.left"),
        "right": source.need("right", "Input.right"),
        "winner": source.need("winner", "Answer.winner"),
        "annotator": source.need("annotator", "WorkerId"),
    }
    source.use("HITId", "AssignmentStatus")
    for row, word in enumerate(source.columns.get("AssignmentStatus", ())):
        if word == "Rejected":
            columns["winner"][row] = LEFT_OUT
    columns["winner"] = source.meant(columns["winner"])
    for name in ("group", "query", "left_text", "right_text"):  # as in a table of `ordinate ask --out`
        if (found := source.get(name, f"Input.{name}")) is not None:
            columns[name] = found
    return Translated(columns)


FORMAT = ComparisonFormat(
    "Mechanical Turk: the results of a batch",
    has("HITId", "WorkerId"),
    _translate,
    fields=("left", "right", "winner", "annotator"),
)
