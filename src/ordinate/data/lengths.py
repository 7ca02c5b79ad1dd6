"""How long items are: by a column `length`, such as the seconds of a sound, or by the characters of their texts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats
from ordinate.data.items import Items

_LEAST = math.log(2.0) / 4.0
"""Standard deviation of log lengths below which nobody can be said to prefer long items: the answers would be about
differences of a few per cent, and what is said is about items that are twice as long."""


class Lengths(NamedTuple):
    """values    (n,) log lengths in standard deviations; NaN where not known
    doubling  how many standard deviations an item has more that is twice as long
    """

    values: Floats
    doubling: float


def standard_lengths(items: Items, counted: NDArray[np.bool_]) -> Lengths | None:
    """The unit is the standard deviation of the counted items (n,); None where the lengths of these hardly differ."""
    logs = log_lengths(items)
    known = np.empty(0) if logs is None else logs[counted & ~np.isnan(logs)]
    unit = float(known.std()) if len(known) else 0.0
    if logs is None or unit < _LEAST:
        return None
    return Lengths(logs / unit, math.log(2.0) / unit)


def log_lengths(items: Items) -> Floats | None:
    """(n,) natural logarithms; NaN where a length is not known; None where no two items have different ones."""
    stated = items.labels.get("length")
    known = np.log(np.array(_characters(items) if stated is None else stated, dtype=np.float64))  # None is NaN
    there = known[~np.isnan(known)]
    return known if len(there) and there.min() < there.max() else None


def _characters(items: Items) -> list[float | None]:
    """Of the texts; what is shown with a picture, a sound or a video is its caption."""
    texts = items.content.get("text", (None,) * len(items))
    shown = [items.content[kind] for kind in ("image", "audio", "video") if kind in items.content]
    captions = {row for column in shown for row, value in enumerate(column) if value is not None}
    return [None if text is None or row in captions else max(len(text), 1) for row, text in enumerate(texts)]
