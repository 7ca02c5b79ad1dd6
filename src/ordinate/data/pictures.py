"""The bytes of an image file -> an upright 8-bit RGB picture, as a person would see it; and a version for browsers."""

from __future__ import annotations

import io
import warnings
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ordinate.data.media import DEEP_MODES, HEAD, described, media_type
from ordinate.errors import InvalidInput, MissingExtra

_PHOTOGRAPHIC = ("RGB", "CMYK", "YCbCr", "LAB")
"""Modes that are written as JPEG. Greys, palettes and what was transparent are written as PNG, which is lossless."""
_QUALITY = 95


class WebVersion(NamedTuple):
    """A picture that browsers show: the bytes of a file, its suffix, and what it does not have of the original."""

    data: bytes
    suffix: str
    windowed: bool
    frames_left_out: int


def web_version(data: bytes) -> WebVersion | None:
    """What browsers show of a picture that they do not show rightly; None for one that they do.

    TIFF, HEIC, JPEG 2000 and CMYK become 8-bit RGB; of several pages or frames the first is taken; pixels of more than
    8 bits run from black, the darkest of this picture, to white, the brightest. Animations that browsers play stay.
    Raises InvalidInput where these bytes are no whole picture, MissingExtra for HEIC without the package that reads it.
    """
    shown = picture(data)
    with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(data)) as original:
        mode, frames, profile = original.mode, getattr(original, "n_frames", 1), original.info.get("icc_profile")
        transparent = original.has_transparency_data
    deep = mode in DEEP_MODES
    if media_type(data[:HEAD]) is not None and not deep and mode != "CMYK":
        return None
    file = io.BytesIO()
    if mode in _PHOTOGRAPHIC and not transparent:
        # The profile of an RGB picture holds for its version; others were converted.
        shown.save(file, "JPEG", quality=_QUALITY, subsampling=0, icc_profile=profile if mode == "RGB" else None)
        return WebVersion(file.getvalue(), ".jpg", deep, frames - 1)
    (shown.convert("L") if deep else shown).save(file, "PNG")
    return WebVersion(file.getvalue(), ".png", deep, frames - 1)


def _register_heif() -> None:
    try:
        from pillow_heif import register_heif_opener
    except ModuleNotFoundError as error:
        raise MissingExtra("pillow-heif", None, "a HEIC picture") from error
    register_heif_opener()


def picture(data: bytes) -> Image.Image:
    """Turned upright as its EXIF data say, 16 bits scaled to 8, transparency composited on white, the first frame.

    Pixels of more than 8 bits are scaled so that the darkest is black and the brightest is white: their range is not
    known. Raises InvalidInput if these bytes are not an image, or one that is cut short; MissingExtra for HEIC without
    the package that reads it.
    """
    if described(data[:HEAD]) == "a HEIC picture":
        _register_heif()
    if data[128:132] == b"DICM":
        raise InvalidInput("it is a DICOM file, which is not read; export it as PNG")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged metadata
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
    if image.mode in DEEP_MODES:
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
