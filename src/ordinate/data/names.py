"""Names of annotators: one rule for names from forms, requests, tables and Python."""

from __future__ import annotations

import unicodedata
from typing import Any

from ordinate.data.cells import text
from ordinate.errors import InvalidInput

LONGEST = 80
_JOINERS = "\u200c\u200d"
"""Scripts such as Persian, and some emoji, need these two to be written; Python does not count them as printable."""


def annotator_name(given: Any, where: str = "") -> str | None:
    """The name as it is stored: in Unicode's composed form (NFC), without spaces around it, with single ones within.

    None and "" both stand for an annotator without a name. Raises InvalidInput for a name that is not printable or too
    long; `where` opens the message.
    """
    if given is None or given == "":
        return None
    name = unicodedata.normalize("NFC", " ".join(text(f"{where}the annotator's name", given).split()))
    if not 1 <= len(name) <= LONGEST:
        raise InvalidInput(f"{where}an annotator's name has 1 to {LONGEST} characters, not {len(name)}")
    if not name.isprintable() and not all(letter.isprintable() or letter in _JOINERS for letter in name):
        raise InvalidInput(f"{where}the annotator's name {name!r} holds characters that cannot be seen; leave them out")
    return name


def caseless(name: str) -> str:
    """Equal for names that differ in nothing but their case."""
    return unicodedata.normalize("NFC", name.casefold())
