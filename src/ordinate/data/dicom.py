"""DICOM pictures, read by pydicom, an extra: the pixels in 8 bits through the window of the file, and nothing else.

No data of the patient leave the file: only pixels are taken, and a file that says that data are burned into its pixels
is refused. (The name of a file, and so the id of an item from a folder, may still hold some.)
"""

from __future__ import annotations

import io
import warnings
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from ordinate.data.arrays import Floats
from ordinate.errors import InvalidInput, MissingExtra

WINDOW = "DICOM window"
"""The name under which a PNG version keeps the window, as "centre 40, width 400"."""


class DicomPicture(NamedTuple):
    """The first frame as people see it, how many frames there are, and the window: None where the file has none."""

    image: Image.Image
    frames: int
    window: str | None


def is_dicom(head: bytes) -> bool:
    return head[128:132] == b"DICM"


def read_dicom(data: bytes) -> DicomPicture:
    """The picture. Raises InvalidInput where there is none to read, MissingExtra without pydicom.

    Values go through the modality and the window of the file; without a window, the darkest is black and the brightest
    white. MONOCHROME1 is inverted.
    """
    pydicom = _pydicom()
    with warnings.catch_warnings(action="ignore"):
        try:
            file = pydicom.dcmread(io.BytesIO(data))
            if str(file.get("BurnedInAnnotation", "")).upper() == "YES":
                raise InvalidInput("it says that data of the patient are burned into its pixels; remove them first")
            pixels = np.asarray(pydicom.pixels.pixel_array(file, index=0))  # colours come as RGB
            if file.get("PhotometricInterpretation") == "PALETTE COLOR":
                pixels = pydicom.pixels.apply_color_lut(pixels, file)
            values = pixels if pixels.ndim > 2 else pydicom.pixels.apply_modality_lut(pixels, file)
        except InvalidInput:
            raise
        except pydicom.errors.InvalidDicomError as error:
            raise InvalidInput(f"it is a damaged DICOM file ({error})") from None
        except (AttributeError, KeyError, ValueError, TypeError, NotImplementedError, RuntimeError, EOFError) as error:
            raise InvalidInput(f"it is a DICOM file without a picture that can be read ({error})") from None
    frames = int(file.get("NumberOfFrames", 1) or 1)
    if pixels.ndim > 2:
        deep = pixels.dtype.itemsize > 1
        return DicomPicture(
            Image.fromarray((pixels >> 8 * (pixels.dtype.itemsize - 1) if deep else pixels).astype(np.uint8)),
            frames,
            None,
        )
    values = np.asarray(values, dtype=np.float64)
    low, high, window = _window(file, values)
    span = high - low
    grey = np.clip((values - low) / span, 0.0, 1.0) if span > 0 else np.zeros_like(values)
    if file.get("PhotometricInterpretation") == "MONOCHROME1":
        grey = 1.0 - grey
    return DicomPicture(Image.fromarray(np.rint(255.0 * grey).astype(np.uint8)), frames, window)


def _window(file: Any, values: Floats) -> tuple[float, float, str | None]:
    """The values that are shown black and white, and the window in words; by DICOM PS3.3 C.11.2.1.2."""
    centre, width = (_first(file.get(name)) for name in ("WindowCenter", "WindowWidth"))
    if centre is None or width is None or width < 1:
        return float(values.min()), float(values.max()), None
    words = f"centre {centre:g}, width {width:g}"
    if str(file.get("VOILUTFunction", "LINEAR")).upper() == "LINEAR_EXACT":
        return centre - width / 2, centre + width / 2, words
    return centre - 0.5 - (width - 1) / 2, centre - 0.5 + (width - 1) / 2, words


def _first(value: Any) -> float | None:
    """The first of several windows."""
    if value is None or value == "":
        return None
    return float(value if isinstance(value, int | float | str) else value[0])


def _pydicom() -> Any:
    try:
        import pydicom
        import pydicom.pixels
    except ModuleNotFoundError as error:
        raise MissingExtra("pydicom", "dicom", "a DICOM picture") from error
    return pydicom
