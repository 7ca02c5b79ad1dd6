"""Features that nobody trained: a network with random weights, for what features that say little do to a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from ordinate.types import Floats

_BUCKETS = 4096
_WIDTHS = (512, 384)


def untrained_features(texts: Sequence[str], seed: int = 0) -> Floats:
    """(n, 384) the words of each text, hashed into 4,096 counts, through two layers of random weights with tanh.

    The weights are normal, with the variance that keeps the size of a signal (He et al. 2015); nothing is learned.
    """
    rng = np.random.default_rng(seed)
    hidden: Floats = np.zeros((len(texts), _BUCKETS))
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            hidden[row, crc32(word.encode()) % _BUCKETS] += 1.0
    hidden /= np.maximum(np.linalg.norm(hidden, axis=1, keepdims=True), 1.0)
    for width in _WIDTHS:
        weights = rng.standard_normal((hidden.shape[1], width)) * np.sqrt(2.0 / width)
        hidden = np.tanh(hidden @ weights)
    return hidden
