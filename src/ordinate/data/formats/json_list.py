"""JSON: one list of objects, an object per row. A key that an object lacks is None in that row."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ordinate.data.formats.utf8 import text_of
from ordinate.errors import InvalidInput


def decode(data: bytes) -> dict[str, list[Any]]:
    text = text_of(data)
    try:
        rows = parse(text)
    except InvalidInput:
        if _is_object(text.partition("\n")[0]):
            raise InvalidInput("the file holds an object in its first line, as JSON Lines do; call it .jsonl") from None
        raise
    if not isinstance(rows, list):
        raise InvalidInput('the file must hold a list of objects, as in [{"id": "a"}, {"id": "b"}]')
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InvalidInput(f"row {number} is {json.dumps(row)[:40]}; each row must be an object such as {{...}}")
    return columns_of(rows)


def _is_object(line: str) -> bool:
    with suppress(InvalidInput):
        return isinstance(parse(line), dict)
    return False


def encode(columns: Mapping[str, Sequence[Any]]) -> bytes:
    return b"[\n" + b",\n".join(objects(columns)) + b"\n]\n"


def parse(text: str) -> Any:
    """The value. Raises InvalidInput, saying where, for broken JSON and for an object with a repeated key."""
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        raise InvalidInput(f"this is no JSON: {error.msg} ({place})") from None
    except RecursionError:
        raise InvalidInput("this JSON is nested too deeply") from None
    except InvalidInput:
        raise
    except ValueError:  # Python reads no more than 4,300 digits
        raise InvalidInput("a whole number has thousands of digits; write it as a text or with an exponent") from None


def columns_of(rows: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns in the order in which their keys first appear."""
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def objects(columns: Mapping[str, Sequence[Any]]) -> Iterator[bytes]:
    """One JSON object per row. JSON has no NaN and no infinity: they become null."""
    for row in zip(*columns.values(), strict=True):
        values = (None if isinstance(value, float) and not math.isfinite(value) else value for value in row)
        try:
            yield json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            if isinstance(error, UnicodeEncodeError):
                raise
            raise InvalidInput(f"a value cannot be written as JSON: {error}") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"the key {twice!r} stands twice in one object")
    return members
