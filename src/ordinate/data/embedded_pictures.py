"""Small pictures of items, inside a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path

from ordinate.data.media import data_url, inside, is_address
from ordinate.data.thumbnails import thumbnail

SIZE = 128


def embedded(place: str, folders: Sequence[Path], size: int = SIZE) -> str | None:
    """A data: URL of a picture in a file or in a data: URL; None for one that lies elsewhere or cannot be read."""
    if place.startswith("data:"):
        found = data_url(place)
        made = None if found is None else thumbnail(io.BytesIO(found[1]), size)
    elif is_address(place):
        return None
    else:
        path = inside(place, folders)
        made = thumbnail(path, size) if path is not None and path.is_file() else None
    return None if made is None else f"data:image/webp;base64,{base64.b64encode(made).decode('ascii')}"


def is_outside(place: str, folders: Sequence[Path]) -> bool:
    """Whether it is a path that leads out of all folders, so that nobody is shown it without being asked for."""
    return not is_address(place) and inside(place, folders) is None
