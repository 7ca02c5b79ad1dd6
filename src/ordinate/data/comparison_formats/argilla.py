"""Argilla: records as JSON, with a question that ranks text fields or names the best one of them.

A value is a list of field names from the best, or one field name. Other fields, unless they differ from those only in a
number or a letter at the end, are the prompt: they are the group of the answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from ordinate.data.cells import text_id
from ordinate.data.comparison_formats.preference import text_in
from ordinate.data.comparison_formats.source import ComparisonFormat, Source, Translated, has
from ordinate.errors import InvalidInput


def _translate(source: Source) -> Translated:
    fields, responses = source.need("fields", "fields"), source.need("responses", "responses")
    if not all(isinstance(one, Mapping) for one in (*fields, *responses)):
        raise InvalidInput("fields and responses must be objects; write the records with dataset.records.to_json(path)")
    question = _question(source, fields, responses)
    stems = {_stem(name) for given in responses for one in given.get(question) or () for name in _named(one["value"])}
    names = {name for record in fields for name in record if _stem(name) in stems}
    columns: dict[str, list[Any]] = {
        name: [] for name in ("left", "right", "winner", "annotator", "group", "left_text", "right_text")
    }
    rows = []
    for row, (record, given) in enumerate(zip(fields, responses, strict=True), start=1):
        group = " ".join(str(value) for name, value in record.items() if name not in names)
        for response in given.get(question) or ():
            best_first = _named(response["value"])
            order = best_first + [name for name in sorted(names) if name in record and name not in best_first]
            # Where one field is named, nothing is said about the others among themselves.
            pairs = combinations(order, 2) if len(best_first) > 1 else [(order[0], name) for name in order[1:]]
            for better, worse in pairs:
                for side, name in (("left", better), ("right", worse)):
                    if name not in record:
                        raise InvalidInput(f"row {row}: the answer names the field {name!r}, which the record lacks")
                    text = text_in(record[name], f"row {row} of field {name!r}")
                    columns[side].append(text_id(text))
                    columns[f"{side}_text"].append(text)
                columns["winner"].append("left")
                columns["annotator"].append(response.get("user_id"))
                columns["group"].append(group)
                rows.append(row)
    if not any(columns["group"]):
        del columns["group"]
    return Translated(
        columns, rows, ["The sides on the screen are unknown: what ranks higher counts as the left item."]
    )


def _question(source: Source, fields: list[Any], responses: list[Any]) -> str:
    """The question whose answers name fields; the user may name it as the winner."""
    if "winner" in source.names:
        return source.names["winner"]
    known = set().union(*fields)
    fitting = dict.fromkeys(
        name
        for given in responses
        for name, answers in given.items()
        if answers and all(set(_named(one["value"])) <= known for one in answers)
    )
    if len(fitting) != 1:
        raise InvalidInput(
            f"{len(fitting) or 'no'} questions have answers that name fields; name the question: --map winner=QUESTION"
        )
    return str(next(iter(fitting)))


def _stem(name: str) -> str:
    """What the fields of answers have in common: response1 and response2, reply_a and reply_b."""
    return re.sub(r"[_-][a-zA-Z]$|[_-]?[0-9]+$", "", name)


def _named(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


FORMAT = ComparisonFormat(
    "Argilla: records as JSON, with a ranking or a choice of fields", has("fields", "responses"), _translate
)
