"""Files of items that a server sends: only from the folders of a study."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ordinate.data.items import Items
from ordinate.data.media import KINDS, data_url, inside, is_address, media_type, read_head
from ordinate.errors import InvalidInput

__all__ = [
    "KINDS",
    "data_url",
    "inside",
    "is_elsewhere",
    "media_type",
    "read_head",
    "require_harmless",
    "require_inside",
]


def is_elsewhere(place: str) -> bool:
    return "://" in place


def require_inside(items: Items, folders: Sequence[Path]) -> None:
    """Raise InvalidInput for the first item whose file the server would not show."""
    for kind in KINDS:
        for item, place in zip(items.ids, items.content.get(kind, ()), strict=False):
            if place is None or is_address(place):
                continue
            if inside(place, folders) is None:
                where = folders[0] if folders else "the folders of the server"
                raise InvalidInput(
                    f"{kind} {place!r} of item {item!r} lies outside {where}; to show it, name its folder "
                    f"when the server starts: --media {Path(os.path.realpath(Path(*folders[:1], place))).parent}"
                )


def require_harmless(items: Items, folders: Sequence[Path]) -> None:
    """Raise InvalidInput where items that came over the network name files that only this machine should know of."""
    for kind in KINDS:
        for item, place in zip(items.ids, items.content.get(kind, ()), strict=False):
            if place is None or is_address(place):
                continue
            parts = place.replace("\\", "/").split("/")
            named_elsewhere = ".." in parts or place.startswith(("/", "\\")) or ":" in place
            if named_elsewhere or inside(place, folders) is None:
                raise InvalidInput(f"{kind} {place!r} of item {item!r} must be a path below the study's folder")
