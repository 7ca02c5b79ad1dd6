"""Data sets to try the algorithms on, one file each: `DATASETS` maps a name to what makes or reads it."""

from __future__ import annotations

from collections.abc import Callable

from ordinate.datasets.dataset import Dataset
from ordinate.datasets.degraded_photo import DegradedPhotos, degrade_photo
from ordinate.datasets.recorded import principal_components, read_recorded
from ordinate.datasets.synthetic import draw_synthetic, linear_dataset, read_synthetic

DATASETS: dict[str, Callable[..., Dataset]] = {
    "synthetic": draw_synthetic,
    "synthetic-file": read_synthetic,
    "recorded": read_recorded,
    "degraded-photo": degrade_photo,
}

__all__ = [
    "DATASETS",
    "Dataset",
    "DegradedPhotos",
    "degrade_photo",
    "draw_synthetic",
    "linear_dataset",
    "principal_components",
    "read_recorded",
    "read_synthetic",
]
