"""Export a data set to the tables that `ordinate create` and `ordinate simulate recorded` read."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from ordinate.data.comparisons import comparison_columns
from ordinate.data.formats import write_columns
from ordinate.data.formats.files import failures, write_bytes
from ordinate.datasets.dataset import Dataset
from ordinate.errors import InvalidInput

_FILE_KINDS = ("image", "audio", "video")


def export_dataset(dataset: Dataset, source: str | Path, out: str | Path) -> list[Path]:
    """Write items.csv and, if there are any, comparisons.csv and features.npy to a folder; it is created if missing.

    The paths of images are relative to `source`; in the new table they are relative to `out`. If the truth is known, it
    is a column of items.csv, which the commands ignore. If one of the files exists, raises InvalidInput and writes
    nothing.
    """
    out = Path(out)
    items, comparisons, features = (out / name for name in ("items.csv", "comparisons.csv", "features.npy"))
    wanted = [items, *([comparisons] if dataset.comparisons else []), *([features] if _has_features(dataset) else [])]
    with failures("written", out):
        for path in wanted:
            if path.exists():
                raise InvalidInput(f"{path} exists and was not changed; choose another folder")
        out.mkdir(parents=True, exist_ok=True)
    write_columns(items, _item_columns(dataset, Path(source), out))
    if comparisons in wanted:
        write_columns(comparisons, comparison_columns(dataset.comparisons))
    if features in wanted:
        buffer = io.BytesIO()
        np.save(buffer, dataset.items.features, allow_pickle=False)
        write_bytes(features, buffer.getvalue())
    return wanted


def _has_features(dataset: Dataset) -> bool:
    return bool(dataset.items.features.shape[1])


def _item_columns(dataset: Dataset, source: Path, out: Path) -> dict[str, list[Any]]:
    items = dataset.items
    columns: dict[str, list[Any]] = {"id": list(items.ids)}
    if items.group is not None:
        columns["group"] = list(items.group)
    start, end = os.path.realpath(source), os.path.realpath(out)
    for kind, values in items.content.items():
        columns[kind] = [_moved(value, start, end) if kind in _FILE_KINDS else value for value in values]
    columns |= {label: list(values) for label, values in items.labels.items()}
    if dataset.truth is not None:
        columns["truth"] = dataset.truth.tolist()
    return columns


def _moved(place: str | None, start: str, end: str) -> str | None:
    if place is None or "://" in place or place.startswith("data:") or os.path.isabs(place):
        return place
    path = os.path.join(start, place)
    try:
        return Path(os.path.relpath(path, end)).as_posix()
    except ValueError:  # Windows: on another drive there is no relative path.
        return path
