"""Argilla: records as JSON, with a question that ranks text fields or names the best one of them.

A value is a list of field names from the best, or one field name. Other fields, unless they differ from those only in a
number or a letter at the end, are the prompt: they are the group of the answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

from ordinate.data.cells import text_id
from ordinate.data.comparison_formats.preference import text_in
from ordinate.data.comparison_formats.source import LEFT_OUT, ComparisonFormat, Source, Translated, has
from ordinate.data.lookalikes import suggestion
from ordinate.errors import InvalidInput


def _translate(source: Source) -> Translated:
    fields, responses = source.need("fields", "fields"), source.need("responses", "responses")
    if not all(isinstance(one, Mapping) for one in (*fields, *responses)):
        raise InvalidInput("fields and responses must be objects; write the records with dataset.records.to_json(path)")
    answers = _answers(source, fields, responses)
    stems = {_stem(name) for given in answers for value, _ in given for name in value}
    names = sorted({name for record in fields for name in record if _stem(name) in stems})
    columns: dict[str, list[Any]] = {
        name: [] for name in ("left", "right", "winner", "annotator", "group", "left_text", "right_text")
    }
    rows = []
    for row, (record, given) in enumerate(zip(fields, answers, strict=True), start=1):
        prompt = {name: value for name, value in record.items() if name not in names}
        group = " ".join(
            text_in(value, f"row {row} of field {name!r}") if isinstance(value, list) else str(value)
            for name, value in prompt.items()
        )
        for best_first, user in given:
            if not best_first:
                for name, value in zip(columns, (None, None, LEFT_OUT, user, group, None, None), strict=True):
                    columns[name].append(value)
                rows.append(row)
                continue
            unnamed = [name for name in names if name in record and name not in best_first]
            # Nothing is said about the unnamed ones among themselves.
            pairs = [*combinations(best_first, 2), *product(best_first, unnamed)]
            for better, worse in pairs:
                for side, name in (("left", better), ("right", worse)):
                    if name not in record:
                        raise InvalidInput(f"row {row}: the answer names the field {name!r}, which the record lacks")
                    text = text_in(record[name], f"row {row} of field {name!r}")
                    columns[side].append(text_id(text))
                    columns[f"{side}_text"].append(text)
                columns["winner"].append("left")
                columns["annotator"].append(user)
                columns["group"].append(group)
                rows.append(row)
    if not any(columns["group"]):
        del columns["group"]
    return Translated(
        columns, rows, ["The sides on the screen are unknown: what ranks higher counts as the left item."]
    )


def _answers(source: Source, fields: list[Any], responses: list[Any]) -> list[list[tuple[list[str], Any]]]:
    """Of each record the answers to the question whose answers name fields: the names from the best, and the user.

    The user may name the question as the winner.
    """
    known = set().union(*fields)
    read = [{name: _read(answers) for name, answers in given.items()} for given in responses]
    fitting = dict.fromkeys(
        name
        for given in read
        for name, answers in given.items()
        if any(one for one, _ in answers) and all(set(one) <= known for one, _ in answers)
    )
    named = source.named("winner")
    if named is None and len(fitting) != 1:
        raise InvalidInput(
            f"{len(fitting) or 'no'} questions have answers that name fields; name one question"
        ).with_option("the option is --map winner=QUESTION")
    if named is not None and not any(named in given for given in read):
        questions = list(dict.fromkeys(name for given in read for name in given))
        raise InvalidInput(
            f"no record has answers to a question {named!r}{suggestion(named, questions)}; there are "
            f"{', '.join(map(repr, questions)) or 'none'}"
        )
    question = named or next(iter(fitting))
    return [given.get(question, []) for given in read]


def _read(answers: object) -> list[tuple[list[str], Any]]:
    """The values, as lists, and the users of the answers to a question."""
    if not isinstance(answers, list) or not all(isinstance(one, Mapping) and "value" in one for one in answers):
        raise InvalidInput(
            'the responses to a question must be a list of objects such as {"value": ..., "user_id": ...}'
        )
    values = (_names(one) for one in answers)
    return [([str(name) for name in value], one.get("user_id")) for value, one in zip(values, answers, strict=True)]


def _names(answer: Mapping[str, Any]) -> list[Any]:
    """The names of an answer; none where the annotator discarded the record, or has not submitted anything yet."""
    value = answer["value"]
    if value is None or answer.get("status") in ("discarded", "draft"):
        return []
    return value if isinstance(value, list) else [value]


def _stem(name: str) -> str:
    """What the fields of answers have in common: response1 and response2, reply_a and reply_b."""
    return re.sub(r"[_-][a-zA-Z]$|[_-]?[0-9]+$", "", name)


FORMAT = ComparisonFormat(
    "Argilla: records as JSON, with a ranking or a choice of fields",
    has("fields", "responses"),
    _translate,
    fields=("winner",),
    own_names=True,
)
