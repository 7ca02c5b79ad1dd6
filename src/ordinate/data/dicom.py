"""DICOM pictures, read by pydicom, an extra: the pixels in 8 bits through the window of the file, and nothing else.

No data of the patient leave the file: only pixels are taken, and a file that says that data are burned into its pixels
is refused. (The name of a file, and so the id of an item from a folder, may still hold some.)
"""

from __future__ import annotations

import io
import math
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
    """The picture. Raises InvalidInput where there is none to read, or a larger one than Pillow reads; MissingExtra
    without pydicom.

    Values go through the modality and the window of the file; without a window, the darkest is black and the brightest
    white. MONOCHROME1 is inverted.
    """
    pydicom = _pydicom()
    with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("error", Image.DecompressionBombWarning)  # of a JPEG within
        try:
            return _read(pydicom, data)
        except InvalidInput:
            raise
        except pydicom.errors.InvalidDicomError as error:
            raise InvalidInput(f"it is a damaged DICOM file ({error})") from None
        except Exception as error:  # damaged bytes come as far as zlib, struct and NumPy: any kind may be raised
            raise InvalidInput(f"it is a DICOM file without a picture that can be read ({error})") from None


def _read(pydicom: Any, data: bytes) -> DicomPicture:
    _require_not_deflated(pydicom, data)
    file = pydicom.dcmread(io.BytesIO(data))
    if str(file.get("BurnedInAnnotation", "")).upper() == "YES":
        raise InvalidInput("it says that data of the patient are burned into its pixels; remove them first")
    _require_small(file)
    pixels = np.asarray(pydicom.pixels.pixel_array(file, index=0))  # colours come as RGB
    frames = int(file.get("NumberOfFrames", 1) or 1)
    if file.get("PhotometricInterpretation") == "PALETTE COLOR":
        pixels = pydicom.pixels.apply_color_lut(pixels, file)
    if pixels.ndim > 2:
        deep = 8 * (pixels.dtype.itemsize - 1)
        return DicomPicture(Image.fromarray((pixels >> deep if deep else pixels).astype(np.uint8)), frames, None)
    values = np.asarray(pydicom.pixels.apply_modality_lut(pixels, file), dtype=np.float64)
    if not np.isfinite(values.max() - values.min()):
        raise InvalidInput("it holds pixels that are no numbers")
    low, high, window = _window(file, values)
    if low < high:
        # In place: it may be a large picture.
        values -= low
        values /= high - low
        np.clip(values, 0.0, 1.0, out=values)
    else:
        values = (values > low).astype(np.float64)
    if file.get("PhotometricInterpretation") == "MONOCHROME1":
        np.subtract(1.0, values, out=values)
    values *= 255.0
    return DicomPicture(Image.fromarray(np.rint(values, out=values).astype(np.uint8)), frames, window)


def _require_not_deflated(pydicom: Any, data: bytes) -> None:
    """pydicom inflates such a file before anything can be said of its size: a small one could fill the memory."""
    head = io.BytesIO(data)
    head.seek(132)
    header = pydicom.filereader.read_dataset(head, False, True, stop_when=lambda tag, vr, length: tag >> 16 != 2)
    for _ in header:  # reads every element: where one cannot be read, pydicom would read the header in another way
        pass
    if pydicom.uid.UID(header.TransferSyntaxUID).is_deflated:
        raise InvalidInput(
            "it is a deflated DICOM file, which is not read because it could fill the memory; save it uncompressed, "
            "as dcmconv +te does"
        )


def _require_small(file: Any) -> None:
    """What Pillow allows other pictures. Only the first frame is decoded, so others do not count."""
    pixels, most = int(file.Rows) * int(file.Columns) * int(file.get("SamplesPerPixel", 1)), Image.MAX_IMAGE_PIXELS
    if most is not None and pixels > most:
        raise InvalidInput(
            f"it is too large: {file.Columns:,} x {file.Rows:,} pixels with {file.get('SamplesPerPixel', 1)} samples "
            f"each are {pixels:,} values, and {most:,} are the most"
        )


def _window(file: Any, values: Floats) -> tuple[float, float, str | None]:
    """Up to which value it is black, and from which it is white, and the window in words; by DICOM PS3.3 C.11.2.1.2.

    Both are one value where the window is a threshold: above it is white.
    """
    centre, width = (_first(file.get(name)) for name in ("WindowCenter", "WindowWidth"))
    exact = str(file.get("VOILUTFunction", "LINEAR")).upper() == "LINEAR_EXACT"
    if centre is None or width is None or not (width > 0 if exact else width >= 1):
        return float(values.min()), float(values.max()), None
    if not math.isfinite(centre) or not math.isfinite(width):
        raise InvalidInput("its window is no number")
    words = f"centre {centre:g}, width {width:g}"
    if exact:
        return centre - width / 2, centre + width / 2, words
    return centre - 0.5 - (width - 1) / 2, centre - 0.5 + (width - 1) / 2, words


def _first(value: Any) -> float | None:
    """The first of several windows."""
    if value is None or value == "":
        return None
    if isinstance(value, int | float | str):
        return float(value)
    return float(value[0]) if len(value) else None


def _pydicom() -> Any:
    try:
        import pydicom
        import pydicom.pixels
    except ModuleNotFoundError as error:
        raise MissingExtra("pydicom", "dicom", "a DICOM picture") from error
    return pydicom
