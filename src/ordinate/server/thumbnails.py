"""Small versions of pictures for lists: a page of many items need not load each picture whole."""

from __future__ import annotations

import io
import threading
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from ordinate.data.thumbnails import thumbnail
from ordinate.server import media
from ordinate.server.authentication import TheAuthenticator
from ordinate.server.headers import MEDIA
from ordinate.server.problems import Problem

router = APIRouter(include_in_schema=False)
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
