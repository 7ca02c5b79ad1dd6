"""Features of a photograph's sharpness, noise and tones, computed from its pixels.

Energies are on a logarithmic scale: degradations multiply energies, so their logarithms add, as a linear model assumes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats

SCALES = (1, 2, 4, 8)  # pixels of the original per pixel at that scale
BANDS = (0.02, 0.06, 0.12, 0.22, 0.5)  # edges of the frequency bands, cycles per pixel
FEATURE_NAMES = (
    *(f"gradient_{scale}" for scale in SCALES),
    *(f"laplacian_{scale}" for scale in SCALES[:3]),
    *(f"band_{number}" for number in range(1, len(BANDS))),
    "local_noise",
    "flat_noise",
    "blockiness",
    "brightness",
    "contrast",
    "skewness",
    "entropy",
    "colour_noise",
)


def photo_features(pixels: NDArray[np.uint8]) -> Floats:
    """The features named in FEATURE_NAMES, of an image of shape (height, width, 3)."""
    colour = pixels.astype(np.float64)
    grey = colour @ (0.299, 0.587, 0.114)
    pyramid = [_shrink(grey, scale) for scale in SCALES]
    return np.array(
        [
            *(_log(float(np.hypot(*np.gradient(level)).mean())) for level in pyramid),
            *(_log(_laplacian(level).var()) for level in pyramid[:3]),
            *_band_energies(grey),
            _local_noise(grey),
            _flat_noise(grey),
            _blockiness(grey),
            *_tones(grey),
            _local_noise(colour[:, :, 0] - colour[:, :, 2]),
        ]
    )


def _log(energy: float) -> float:
    # The offset keeps the value of a blank image finite; it is far below one grey level of noise.
    return float(np.log(energy + 1e-3))


def _shrink(grey: Floats, scale: int) -> Floats:
    """Means over scale x scale blocks; incomplete blocks at the edges are dropped."""
    height, width = (size // scale * scale for size in grey.shape)
    means: Floats = grey[:height, :width].reshape(height // scale, scale, width // scale, scale).mean(axis=(1, 3))
    return means


def _laplacian(grey: Floats) -> Floats:
    inner = grey[1:-1, 1:-1]
    around: Floats = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return around - 4.0 * inner


def _band_energies(grey: Floats) -> list[float]:
    """Log mean power in rings of the spectrum; a Hann window keeps the image's edges out of it."""
    height, width = grey.shape
    window = np.outer(np.hanning(height), np.hanning(width))
    power = np.abs(np.fft.rfft2((grey - grey.mean()) * window)) ** 2 / grey.size
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :])
    return [_log(power[(radius >= low) & (radius < high)].mean()) for low, high in pairwise(BANDS)]


def _local_noise(grey: Floats) -> float:
    """Log noise level from the difference of two Laplacians, which edges leave near zero (Immerkaer 1996)."""
    rows = grey[:-2] - 2.0 * grey[1:-1] + grey[2:]
    mask = rows[:, :-2] - 2.0 * rows[:, 1:-1] + rows[:, 2:]
    return _log(np.sqrt(np.pi / 2.0) / 6.0 * np.abs(mask).mean())


def _flat_noise(grey: Floats) -> float:
    """Log standard deviation inside the flattest tenth of the 8 x 8 blocks, where all that varies is noise."""
    height, width = (size // 8 * 8 for size in grey.shape)
    blocks = grey[:height, :width].reshape(height // 8, 8, width // 8, 8)
    return _log(np.quantile(blocks.std(axis=(1, 3)), 0.1))


def _blockiness(grey: Floats) -> float:
    """Log ratio of the steps across JPEG's 8 x 8 block borders to the steps elsewhere."""
    steps = np.abs(np.diff(grey, axis=1)).mean(axis=0)
    border = np.arange(len(steps)) % 8 == 7
    return _log(steps[border].mean()) - _log(steps[~border].mean())


def _tones(grey: Floats) -> list[float]:
    """Brightness, contrast, skewness and entropy of the histogram of grey levels."""
    mean, deviation = grey.mean(), grey.std() + 1e-3
    share = np.histogram(grey, bins=64, range=(0.0, 256.0))[0] / grey.size
    share = share[share > 0]
    return [
        float(mean),
        float(deviation),
        float(np.mean(((grey - mean) / deviation) ** 3)),
        float(-np.sum(share * np.log2(share))),
    ]
