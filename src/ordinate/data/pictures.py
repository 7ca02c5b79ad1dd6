"""The bytes of an image file -> an upright 8-bit RGB picture, as a person would see it; and a version for browsers."""

from __future__ import annotations

import io
import warnings
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.PngImagePlugin import PngInfo

from ordinate.data.arrays import Floats
from ordinate.data.dicom import WINDOW, DicomPicture, is_dicom, read_dicom
from ordinate.data.media import DEEP_MODES, HEAD, described, media_type
from ordinate.errors import InvalidInput, MissingExtra

_PHOTOGRAPHIC = ("RGB", "CMYK", "YCbCr", "LAB")
"""Modes that are written as JPEG. Greys, palettes and what was transparent are written as PNG, which is lossless."""
_QUALITY = 95
_OUTSIDE = 1.0
"""Percent of the pixels of a deep picture that are shown black, and white: a marker or a dead pixel does not decide how
dark all the others are."""


class WebVersion(NamedTuple):
    """A picture that browsers show: the bytes of a file, its suffix, and what it does not have of the original."""

    data: bytes
    suffix: str
    windowed: bool
    frames_left_out: int


def web_version(data: bytes) -> WebVersion | None:
    """What browsers show of a picture that they do not show rightly; None for one that they do.

    TIFF, HEIC, JPEG 2000 and CMYK become 8-bit RGB; of several pages or frames the first is taken; greys of more than
    8 bits are `windowed`; DICOM is shown through its own window, which the PNG keeps. Animations that browsers play
    stay. Raises InvalidInput where these bytes are no whole picture, MissingExtra for HEIC or DICOM without the package
    that reads it.
    """
    if is_dicom(data):
        return _of_dicom(read_dicom(data))
    upright = _upright(data)
    with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(data)) as original:
        mode, frames, profile = original.mode, getattr(original, "n_frames", 1), original.info.get("icc_profile")
        transparent = original.has_transparency_data
    deep = mode in DEEP_MODES
    if media_type(data[:HEAD]) is not None and not deep and mode != "CMYK":
        return None
    file = io.BytesIO()
    shown = windowed(upright) if deep else _in_colour(upright)
    if mode in _PHOTOGRAPHIC and not transparent:
        # The profile of an RGB picture holds for its version; others were converted.
        shown.save(file, "JPEG", quality=_QUALITY, subsampling=0, icc_profile=profile if mode == "RGB" else None)
        return WebVersion(file.getvalue(), ".jpg", deep, frames - 1)
    shown.save(file, "PNG")
    return WebVersion(file.getvalue(), ".png", deep, frames - 1)


def _of_dicom(found: DicomPicture) -> WebVersion:
    notes = PngInfo()
    if found.window is not None:
        notes.add_text(WINDOW, found.window)
    file = io.BytesIO()
    found.image.save(file, "PNG", pnginfo=notes)
    return WebVersion(file.getvalue(), ".png", found.window is None and found.image.mode == "L", found.frames - 1)


def windowed(image: Image.Image) -> Image.Image:
    """A grey picture of more than 8 bits as annotators see it, in 8: nearly all of its pixels lie between black and
    white, which stand for its 1st and 99th percentile."""
    values = _numbers(image)
    low, high = np.percentile(values, (_OUTSIDE, 100.0 - _OUTSIDE))
    return _scaled(values, low, high) if low < high else _scaled(values, values.min(), values.max())


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
    if is_dicom(data):
        return read_dicom(data).image.convert("RGB")
    image = _upright(data)
    if image.mode in DEEP_MODES:
        values = _numbers(image)
        return _scaled(values, values.min(), values.max()).convert("RGB")
    return _in_colour(image)


def _upright(data: bytes) -> Image.Image:
    if described(data[:HEAD]) == "a HEIC picture":
        _register_heif()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged metadata
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(data))
            image.load()
        return ImageOps.exif_transpose(image)
    except UnidentifiedImageError:
        raise InvalidInput("it is no image, or one of a kind that is not read; PNG, JPEG, TIFF, WebP are") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidInput(f"it is too large: {error}") from error
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError) as error:
        raise InvalidInput(f"it is cut short or damaged ({error})") from error


def _in_colour(image: Image.Image) -> Image.Image:
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _numbers(image: Image.Image) -> Floats:
    """The pixels of a grey picture (height, width). Raises InvalidInput where some are no numbers."""
    values = np.asarray(image, dtype=np.float64)
    if not np.isfinite(values.max() - values.min()):
        raise InvalidInput("it holds pixels that are no numbers")
    return values


def _scaled(values: Floats, low: float, high: float) -> Image.Image:
    """In 8 bits: black up to `low`, white from `high` on."""
    scaled = (values - low) * (255.0 / (high - low)) if high > low else np.zeros_like(values)
    return Image.fromarray(np.rint(np.clip(scaled, 0.0, 255.0)).astype(np.uint8))
