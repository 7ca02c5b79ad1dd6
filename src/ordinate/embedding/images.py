"""Decode an image file into an upright 8-bit RGB picture."""

from __future__ import annotations

import io
import warnings

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ordinate.errors import InvalidInput

_DEEP = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")
"""Modes with more than 8 bits. Their range is unknown, so they are scaled from the darkest pixel to the brightest."""


def picture(data: bytes) -> Image.Image:
    """The first frame, rotated as its EXIF data say, scaled from 16 bits to 8, with transparency composited on white.

    Raises InvalidInput if the bytes are not an image, or are truncated.
    """
    if data[128:132] == b"DICM":
        raise InvalidInput("DICOM files are not supported; export it as PNG")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(data))
            image.load()
        image = ImageOps.exif_transpose(image)
    except UnidentifiedImageError:
        raise InvalidInput("not an image, or an unsupported format; use PNG, JPEG, TIFF or WebP") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidInput(f"it is too large: {error}") from error
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError) as error:
        raise InvalidInput(f"it is truncated or damaged ({error})") from error
    if image.mode in _DEEP:
        return _eight_bits(image)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    values = np.asarray(image, dtype=np.float64)
    low, high = values.min(), values.max()
    if not np.isfinite(high - low):
        raise InvalidInput("it has pixels that are not finite numbers")
    scaled = (values - low) * (255.0 / (high - low)) if high > low else np.zeros_like(values)
    return Image.fromarray(np.rint(scaled).astype(np.uint8)).convert("RGB")
