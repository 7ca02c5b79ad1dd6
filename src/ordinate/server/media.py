"""Files of items: only from the folders of a study, only pictures, sounds and videos, known by their first bytes."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from ordinate.data.items import Items
from ordinate.errors import InvalidInput

KINDS = ("image", "audio", "video")
_HEAD = 64
_MP4_BRANDS = {b"avif": "image/avif", b"avis": "image/avif", b"M4A ": "audio/mp4", b"M4B ": "audio/mp4"}


def media_type(head: bytes) -> str | None:
    """The type that the first bytes of a file show; None for everything else, SVG and HTML among it."""
    for start, name in (
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"BM", "image/bmp"),
        (b"ID3", "audio/mpeg"),
        (b"fLaC", "audio/flac"),
        (b"\x1aE\xdf\xa3", "video/webm"),
    ):
        if head.startswith(start):
            return name
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _MP4_BRANDS.get(head[8:12], "video/mp4")
    if head[:4] == b"OggS":
        return "video/ogg" if b"theora" in head else "audio/ogg"
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0:
        return "audio/mpeg" if head[1] & 0x06 else "audio/aac"
    return None


def is_elsewhere(place: str) -> bool:
    return "://" in place


def inside(place: str, folders: Sequence[Path]) -> Path | None:
    """The file of a stored path, symbolic links followed; None outside all folders. Paths start at the first one."""
    path = Path(os.path.realpath(folders[0] / place))
    return path if any(path.is_relative_to(os.path.realpath(folder)) for folder in folders) else None


def read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def data_url(place: str) -> tuple[str, bytes] | None:
    """The type and the bytes of a data: URL that holds a picture, a sound or a video."""
    header, comma, body = place.removeprefix("data:").partition(",")
    try:
        data = base64.b64decode(body, validate=True) if header.endswith(";base64") else unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        return None
    kind = media_type(data[:_HEAD])
    return (kind, data) if comma and kind is not None else None


def require_inside(items: Items, folders: Sequence[Path]) -> None:
    """Raise InvalidInput for the first item whose file the server would not show."""
    for kind in KINDS:
        for item, place in zip(items.ids, items.content.get(kind, ()), strict=False):
            if place is None or place.startswith("data:") or is_elsewhere(place):
                continue
            if inside(place, folders) is None:
                raise InvalidInput(
                    f"{kind} {place!r} of item {item!r} lies outside {folders[0]}; to show it, name its folder: "
                    f"--media {Path(os.path.realpath(folders[0] / place)).parent}"
                )


def require_harmless(items: Items) -> None:
    """Raise InvalidInput where items that came over the network name files that only this machine should know of."""
    for kind in KINDS:
        for item, place in zip(items.ids, items.content.get(kind, ()), strict=False):
            if place is None or place.startswith("data:") or is_elsewhere(place):
                continue
            parts = place.replace("\\", "/").split("/")
            if ".." in parts or place.startswith(("/", "\\")) or ":" in place:
                raise InvalidInput(f"{kind} {place!r} of item {item!r} must be a path below the study's folder")
