"""What owners did to a study, as sentences: from the entries of the log that owners write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ordinate.storage import Entry
from ordinate.study.words import count

ALWAYS = (
    "add-items",
    "exclude-item",
    "include-item",
    "exclude-annotator",
    "include-annotator",
    "set",
    "link",
    "revoke",
    "machine",
)
"""Kinds of entries that only owners write; an answer is taken back by them where the entry says who."""
_LONGEST = 200
"""Characters of a rule's value that are shown."""


class Change(NamedTuple):
    """`by` is the name of the owner; None: the log does not say, as where a command or a program did it."""

    at: str
    by: str | None
    what: str


def is_change(entry: Entry) -> bool:
    """Whether an owner changed the study by it. A link with a key was made by a server for somebody who gave a name."""
    if entry.kind == "link":
        return entry.key is None
    return entry.kind in ALWAYS or (entry.kind == "retract" and entry.by is not None)


def changes(entries: Sequence[Entry], links: Mapping[str, Entry]) -> list[Change]:
    """Newest first; what was done at once to several answers of a person is one change."""
    found = []
    for _, same in groupby(entries, _together):
        first, *more = same
        pairs = count(1 + len(more), "pair")
        what = f"took back the answers of {_name(first.annotator)} to {pairs}" if more else _words(first, links)
        found.append(Change(first.at, first.by, what))
    return found[::-1]


def _together(entry: Entry) -> object:
    """Equal for entries that are one change."""
    return (entry.at, entry.by, entry.annotator) if entry.kind == "retract" else entry.position


def _words(entry: Entry, links: Mapping[str, Entry]) -> str:
    pair, whose = f"{entry.left} or {entry.right}", _name(entry.annotator)
    match entry.kind:
        case "add-items":
            return "added items" if entry.position > 1 else "created the study"
        case "exclude-item":
            return f"left out the item {entry.left}"
        case "include-item":
            return f"took the item {entry.left} in again"
        case "exclude-annotator":
            return f"left out {whose}"
        case "include-annotator":
            return f"took {whose} in again"
        case "set":
            return f"set the rule {entry.name} to {_value(entry.value)}"
        case "link":
            return f"made the link {_of(entry)}"
        case "revoke":
            return f"revoked the link {_of(links[str(entry.name)])}"
        case "machine":
            return f"let the model {entry.name} judge as {whose}"
        case "retract":
            return f"took back the answer of {whose} to {pair}"
        case _:
            raise ValueError(f"no owner writes an entry of the kind {entry.kind!r}")


def _name(annotator: str | None) -> str:
    return annotator or "somebody without a name"


def _value(value: str | None) -> str:
    found = json.loads(value or "null")
    match found:
        case None:
            return "nothing"
        case bool():
            return "yes" if found else "no"
        case list():
            shown = ", ".join(" | ".join(_parts(one)) if isinstance(one, list) else str(one) for one in found)
            shown = shown or "nothing"
        case _:
            shown = str(found)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]} …"


def _parts(row: Sequence[str | None]) -> list[str]:
    """A practice pair without a right answer has two."""
    return [part for part in row if part is not None]


def _of(link: Entry) -> str:
    role = {"owner": "an owner", "viewer": "viewers"}.get(str(link.value), "annotators")
    if link.annotator is None or link.annotator == link.value:
        return f"for {role}"
    return f"for the {link.value} {link.annotator}"
