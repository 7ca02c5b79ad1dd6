"""The bytes of an image file -> an upright 8-bit RGB picture, as a person would see it."""

from __future__ import annotations

import io
import warnings

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ordinate.errors import InvalidInput

_DEEP = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")
"""Modes with more than 8 bits. Their range is not known, so black is the darkest pixel, and white the brightest."""


def picture(data: bytes) -> Image.Image:
    """Upright as its EXIF data say; 16 bits brought to 8; what is transparent on white; the first frame.

    Raises InvalidInput where these bytes are no image, or a cut one.
    """
    if data[128:132] == b"DICM":
        raise InvalidInput("it is a DICOM file, which is not read; export it as PNG")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(data))
            image.load()
        image = ImageOps.exif_transpose(image)
    except UnidentifiedImageError:
        raise InvalidInput("it is no image, or one of a kind that is not read; PNG, JPEG, TIFF, WebP are") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidInput(f"it is too large: {error}") from error
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError) as error:
        raise InvalidInput(f"it is cut short or damaged ({error})") from error
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
        raise InvalidInput("it holds pixels that are no numbers")
    scaled = (values - low) * (255.0 / (high - low)) if high > low else np.zeros_like(values)
    return Image.fromarray(np.rint(scaled).astype(np.uint8)).convert("RGB")
