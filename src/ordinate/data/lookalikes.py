"""Names that a person would take for the same: found within a table, and suggested for a name that is unknown.

The exact text of a name decides what it means; nothing here changes a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from difflib import get_close_matches

_LARGEST = 20_000
"""Among more names than this, only look-alikes are suggested, not misspelt names: comparing takes too long."""
_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
_DECIMALS = re.compile(r"([+-]?[0-9]+)(?:\.0+|(\.[0-9]*[1-9])0*)")


def appearance(name: str) -> str:
    """What look-alikes have in common: names that differ only in Unicode form, case, spaces, invisible characters,
    leading zeros, decimals that are zero (1.0), or the kind and number of slashes have the same appearance."""
    text = " ".join((name.casefold() if name.isascii() else _folded(name)).split())
    # The questions before each pattern are for speed: a table may have a million names.
    if "/" in text or "\\" in text:
        text = re.sub(r"[/\\]+(\./+)*", "/", text).removeprefix("./")
    if "0" in text:
        text = _ZEROS.sub("", text)
        if "." in text and (number := _DECIMALS.fullmatch(text)):
            text = number[1] + (number[2] or "")
    return text


def _folded(name: str) -> str:
    shown = "".join(character for character in name if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())


def lookalikes(names: Iterable[str]) -> list[tuple[str, str]]:
    """Each name that looks like an earlier one, with that one: (earlier, later)."""
    first: dict[str, str] = {}
    found = []
    for name in names:
        earlier = first.setdefault(appearance(name), name)
        if earlier != name:
            found.append((earlier, name))
    return found


def suggestion(name: str, known: Collection[str]) -> str:
    """The end of an error message about an unknown name: the nearest known one, or nothing if none is near."""
    look = appearance(name)
    alike = next((one for one in known if appearance(one) == look), None)
    if alike is not None:
        # Written in ASCII where the two would look the same on the screen.
        same = unicodedata.normalize("NFC", alike) == unicodedata.normalize("NFC", name) or not alike.isprintable()
        return f"; {alike!a} looks alike" if same else f"; {alike!r} looks alike"
    near = get_close_matches(name, known, 1) if len(known) <= _LARGEST else []
    return f"; {near[0]!r} is the nearest" if near else ""
