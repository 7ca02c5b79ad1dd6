"""Small pictures of items, inside the page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from ordinate.data.media import data_url, is_address
from ordinate.data.thumbnails import thumbnail

SIZE = 128


def embedded(place: str, folder: Path) -> str | None:
    """A data: URL of a picture in a file or in a data: URL; None for one that lies elsewhere or cannot be read."""
    if place.startswith("data:"):
        found = data_url(place)
        made = None if found is None else thumbnail(io.BytesIO(found[1]), SIZE)
    elif is_address(place):
        return None
    else:
        path = folder / place
        made = thumbnail(path, SIZE) if path.is_file() else None
    return None if made is None else f"data:image/webp;base64,{base64.b64encode(made).decode('ascii')}"
