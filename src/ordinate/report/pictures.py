"""The pictures of a report as thumbnails, and which of them are left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ordinate.data.embedded_pictures import embedded, is_outside
from ordinate.data.media import inside, is_address
from ordinate.learning.checks import listed
from ordinate.study.words import count

_OUTSIDE = (
    "Left out: {count} in files outside the study’s folder, of {items}. To show such pictures, make the report with "
    "`ordinate report --media FOLDER`."
)
_REASONS = {
    "outside": _OUTSIDE,
    "missing": "Not shown: {count} whose file is not where the study has it, of {items}. Put the files back there, "
    "then make the report again.",
    "unreadable": "Not shown: {count} whose file cannot be read as a picture, of {items}.",
    "elsewhere": "Not shown: {count} at addresses on the network, which a report does not fetch, of {items}.",
}


class Pictures(NamedTuple):
    """of        item -> a data: URL
    left_out  sentences about pictures that are not there
    """

    of: dict[str, str]
    left_out: list[str]


def thumbnails(places: Mapping[str, str], folders: Sequence[Path]) -> Pictures:
    """Of items with the place of a picture each; relative paths start at the first of the folders."""
    found: dict[str, str] = {}
    missing: dict[str, list[str]] = {}
    for item, place in places.items():
        made = embedded(place, folders)
        if made is not None:
            found[item] = made
        else:
            missing.setdefault(_reason(place, folders), []).append(item)
    return Pictures(
        found,
        [
            said.format(count=count(len(items), "picture"), items=listed(items))
            for reason, said in _REASONS.items()
            if (items := missing.get(reason))
        ],
    )


def _reason(place: str, folders: Sequence[Path]) -> str:
    """Why there is no thumbnail of the picture at this place: a key of `_REASONS`."""
    if is_address(place):
        return "unreadable" if place.startswith("data:") else "elsewhere"
    if is_outside(place, folders):
        return "outside"
    path = inside(place, folders)
    return "unreadable" if path is not None and path.is_file() else "missing"
