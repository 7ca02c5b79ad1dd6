"""Small versions of pictures for lists: a page of many items need not show each picture whole."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, ImageOps

from ordinate.data.media import DEEP_MODES
from ordinate.data.pictures import windowed
from ordinate.errors import InvalidInput

SIZE = 320
"""Pixels along the longer side: enough for a card of the owner's page where a CSS pixel is two of the screen."""
_MOST_PIXELS = 90_000_000


def thumbnail(source: Path | io.BytesIO, size: int = SIZE) -> bytes | None:
    """A picture upright, in WebP, with its longer side at most `size` pixels; None where Pillow cannot read it."""
    try:
        with Image.open(source) as picture:
            # A JPEG file is decoded at a fraction of its size.
            picture.draft("RGB", (2 * size, 2 * size))
            if picture.width * picture.height > _MOST_PIXELS:
                return None
            small = _with_8_bits(picture)
            small.thumbnail((size, size))
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
