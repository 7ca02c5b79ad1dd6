"""Several names in one text, as options take them and as messages advise: `weight,"length, cm"`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|\Z)')


def names_in(text: str) -> list[str]:
    """The names between the commas. In double quotes a name may hold commas, and a quote in it stands twice.

    >>> names_in('weight, "length, cm"')
    ['weight', 'length, cm']
    """
    found = [quoted.replace('""', '"') or plain for quoted, plain in _NAME.findall(text)]
    return [name for name in found if name.strip()]


def as_text(names: Iterable[str]) -> str:
    """The text in which `names_in` finds these names.

    >>> as_text(["weight", "length, cm"])
    'weight,"length, cm"'
    """
    return ",".join(map(_in_quotes_if_needed, names))


def _in_quotes_if_needed(name: str) -> str:
    if "," in name or name.startswith('"') or name != name.strip():
        return '"' + name.replace('"', '""') + '"'
    return name
