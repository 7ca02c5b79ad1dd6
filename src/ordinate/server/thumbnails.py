"""Small versions of pictures for lists: a page of many items need not load each picture whole."""

from __future__ import annotations

import io
import threading
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, Request, Response
from PIL import Image, ImageOps

from ordinate.data.media import DEEP_MODES
from ordinate.data.pictures import windowed
from ordinate.errors import InvalidInput
from ordinate.server import media
from ordinate.server.authentication import TheAuthenticator
from ordinate.server.headers import MEDIA
from ordinate.server.problems import Problem

router = APIRouter(include_in_schema=False)
SIZE = 320
"""Pixels along the longer side: enough for a card of the owner's page where a CSS pixel is two of the screen."""
_MOST_PIXELS = 90_000_000
_one_at_a_time = threading.Lock()


@router.get("/media/{study}/{row}/thumbnail")
def item_thumbnail(request: Request, authenticator: TheAuthenticator, study: str, row: int) -> Response:
    """A small version of an item's picture, for everybody with a link."""
    served = authenticator.authenticate(request, study).served
    places = served.study.items.content.get("image", ())
    place = places[row] if 0 <= row < len(places) else None
    made = None
    if place is not None and place.startswith("data:"):
        found = media.data_url(place)
        made = None if found is None else thumbnail(io.BytesIO(found[1]))
    elif place is not None and not media.is_elsewhere(place):
        path = media.inside(place, served.folders)
        if path is not None and path.is_file() and media.media_type(media.read_head(path)):
            made = thumbnail_of(path)
    if made is None:
        raise Problem(404, "there is no such picture, or none that a thumbnail can be made of")
    headers = {"Content-Security-Policy": MEDIA, "Cache-Control": "private, max-age=86400"}
    return Response(made, media_type="image/webp", headers=headers)


def thumbnail_of(path: Path) -> bytes | None:
    """The thumbnail of a picture in a file, one at a time; the newest are kept."""
    state = path.stat()
    with _one_at_a_time:
        return _of_file(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=512)
def _of_file(path: Path, _modified: int, _size: int) -> bytes | None:
    return thumbnail(path)


def thumbnail(source: Path | io.BytesIO) -> bytes | None:
    """A picture upright, in WebP, with its longer side at most SIZE pixels; None where Pillow cannot read it."""
    try:
        with Image.open(source) as picture:
            # A JPEG file is decoded at a fraction of its size.
            picture.draft("RGB", (2 * SIZE, 2 * SIZE))
            if picture.width * picture.height > _MOST_PIXELS:
                return None
            small = _with_8_bits(picture)
            small.thumbnail((SIZE, SIZE))
            small = ImageOps.exif_transpose(small)
            written = io.BytesIO()
            small.save(written, "WEBP", quality=80)
            return written.getvalue()
    except (InvalidInput, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def _with_8_bits(picture: Image.Image) -> Image.Image:
    """In RGB, and transparent where the picture is."""
    if picture.mode in DEEP_MODES:
        return windowed(picture).convert("RGB")
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")
