"""One photograph, degraded to varying strength: a task anybody can judge by eye, made without a network.

The photograph is the public-domain portrait of Grace Hopper that matplotlib carries. Each version gets its own framing
and exposure, which say nothing about its quality, and its own mix of blur, noise and JPEG compression, which add up to
one strength. Minus the strength is the hidden truth: the ordering runs from the clearest version to the worst. Shuffled
ids say nothing about it, and the features are computed from the pixels alone (photo_features.py), so what blur, noise
and compression weigh has to be learned from the answers.
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
BLUR = 8.0  # pixels, standard deviation where blur alone has full strength
NOISE = 130.0  # grey levels, likewise
QUALITY = (92, 3)  # JPEG quality without compression damage and at its full strength
MIX = 5.0  # how even the mixes are: larger is more even


@dataclass(frozen=True, eq=False)
class DegradedPhotos(Dataset):
    """The versions as a data set; `files[k]` holds the JPEG file of item k, whose content names it photos/<id>.jpg."""

    files: tuple[bytes, ...] = ()

    def write(self, folder: str | Path) -> None:
        """Write the images where the items' content says, below the folder."""
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
    """The portrait in matplotlib's wheel, through its public function."""
    from matplotlib.cbook import get_sample_data

    path = str(get_sample_data("grace_hopper.jpg", asfileobj=False))
    with Image.open(path) as image:
        return image.convert("RGB")


def reframe(original: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A slightly other crop and exposure of the same photograph: differences that are no loss of quality."""
    width, height = original.size
    left, top, right, bottom = rng.uniform(0.0, FRAMING, 4)
    box = (left * width, top * height, (1 - right) * width, (1 - bottom) * height)
    framed = original.resize(SIZE, Image.Resampling.LANCZOS, box=box)
    gain = 1.0 + EXPOSURE * rng.uniform(-1.0, 1.0)
    contrast = 1.0 + EXPOSURE / 2 * rng.uniform(-1.0, 1.0)
    grey = np.asarray(framed, dtype=np.float64) * gain
    return _image(grey.mean() + contrast * (grey - grey.mean()))


def degrade(image: Image.Image, amounts: Sequence[float], rng: np.random.Generator) -> bytes:
    """The image as a JPEG file; the amounts of blur, noise and compression, each in [0, 1], make its strength."""
    blur, noise, compression = amounts
    blurred = np.asarray(image.filter(ImageFilter.GaussianBlur(BLUR * blur)), dtype=np.float64)
    best, worst = QUALITY
    # Damage grows slowly at first as the quality number falls: from 92 to 40 is barely seen.
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
