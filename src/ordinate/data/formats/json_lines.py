"""JSON Lines: one JSON object per line. A key that a line lacks is None in that row."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ordinate.data.formats.json_list import columns_of, objects, parse
from ordinate.data.formats.utf8 import text_of
from ordinate.errors import InvalidInput, naming


def decode(data: bytes) -> dict[str, list[Any]]:
    rows = []
    # Not splitlines(), which also splits at characters that JSON allows within a string.
    for number, line in enumerate(text_of(data).split("\n"), start=1):
        if line.strip():
            with naming(f"line {number}"):
                row = parse(line)
                if not isinstance(row, dict):
                    raise InvalidInput(f"this is {json.dumps(row)[:40]}; each line must be an object such as {{...}}")
                rows.append(row)
    return columns_of(rows)


def encode(columns: Mapping[str, Sequence[Any]]) -> bytes:
    return b"".join(line + b"\n" for line in objects(columns))
