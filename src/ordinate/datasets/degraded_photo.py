"""Versions of one photograph with different degradations: a task that anybody can judge by eye, without a download.

The photograph is the public-domain portrait of Grace Hopper that matplotlib includes. Each version has its own framing
and exposure, which do not depend on its quality, and its own mix of blur, noise and JPEG compression, which add up to
one strength. The true score is minus the strength, so the ordering runs from the clearest version to the worst. The ids
are shuffled, and the features are computed from the pixels alone (photo_features.py), so the weights of blur, noise and
compression must be learned from the answers.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from ordinate.data.formats.files import failures
from ordinate.data.items import Items
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.photo_features import FEATURE_NAMES, photo_features

Pixels = NDArray[np.uint8]  # (height, width, 3)

SIZE = (240, 288)  # width and height of a version
FRAMING = 0.05  # the crop leaves out up to this share of each axis
EXPOSURE = 0.08  # brightness varies by up to this share, contrast by half of it
BLUR = 8.0  # standard deviation in pixels at full strength
NOISE = 130.0  # standard deviation in grey levels at full strength
QUALITY = (92, 3)  # JPEG quality at zero and at full strength
MIX = 5.0  # Dirichlet parameter: larger means more even mixes


@dataclass(frozen=True, eq=False)
class DegradedPhotos(Dataset):
    """The versions as a data set; `files[k]` is the JPEG file of item k, which its content names photos/<id>.jpg."""

    files: tuple[bytes, ...] = ()

    def write(self, folder: str | Path) -> None:
        """Write the images to the paths in the items' content, relative to the folder."""
        for name, data in zip(self.items.content["image"], self.files, strict=True):
            path = Path(folder) / str(name)
            with failures("written", path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


def degrade_photo(rng: np.random.Generator, n: int = 100) -> DegradedPhotos:
    """n versions with evenly spaced strengths in [0, 1], in shuffled order."""
    original = read_original()
    strength = rng.permutation(np.linspace(0.0, 1.0, n))
    amounts = strength[:, None] * rng.dirichlet((MIX, MIX, MIX), n)
    files = tuple(degrade(reframe(original, rng), amount, rng) for amount in amounts.tolist())
    digits = len(str(n))
    ids = [f"photo-{row:0{digits}d}" for row in range(1, n + 1)]
    items = Items(
        ids=ids,
        features=np.stack([photo_features(pixels(data)) for data in files]),
        feature_names=FEATURE_NAMES,
        content={"image": [f"photos/{name}.jpg" for name in ids]},
    )
    return DegradedPhotos(items, truth=-strength, files=files)


def read_original() -> Image.Image:
    """The portrait that matplotlib includes."""
    from matplotlib.cbook import get_sample_data

    path = str(get_sample_data("grace_hopper.jpg", asfileobj=False))
    with Image.open(path) as image:
        return image.convert("RGB")


def reframe(original: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A slightly different crop and exposure of the same photograph, at the same quality."""
    width, height = original.size
    left, top, right, bottom = rng.uniform(0.0, FRAMING, 4)
    box = (left * width, top * height, (1 - right) * width, (1 - bottom) * height)
    framed = original.resize(SIZE, Image.Resampling.LANCZOS, box=box)
    gain = 1.0 + EXPOSURE * rng.uniform(-1.0, 1.0)
    contrast = 1.0 + EXPOSURE / 2 * rng.uniform(-1.0, 1.0)
    grey = np.asarray(framed, dtype=np.float64) * gain
    return _image(grey.mean() + contrast * (grey - grey.mean()))


def degrade(image: Image.Image, amounts: Sequence[float], rng: np.random.Generator) -> bytes:
    """The degraded image as a JPEG file. `amounts`: of blur, noise and compression, each in [0, 1]."""
    blur, noise, compression = amounts
    blurred = np.asarray(image.filter(ImageFilter.GaussianBlur(BLUR * blur)), dtype=np.float64)
    best, worst = QUALITY
    # Quadratic, because the first part of the quality scale is barely visible (from 92 to 40).
    quality = worst + (best - worst) * (1.0 - compression) ** 2
    buffer = io.BytesIO()
    noisy = _image(blurred + NOISE * noise * rng.standard_normal(blurred.shape))
    noisy.save(buffer, format="JPEG", quality=round(quality))
    return buffer.getvalue()


def pixels(data: bytes) -> Pixels:
    """The pixels of an image file."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def _image(grey: NDArray[np.float64]) -> Image.Image:
    return Image.fromarray(np.clip(np.rint(grey), 0, 255).astype(np.uint8))
