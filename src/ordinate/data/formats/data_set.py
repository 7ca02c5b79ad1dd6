"""A folder that `datasets.Dataset.save_to_disk` of Hugging Face wrote, read by polars or pyarrow.

Labels come as their names. Pictures and sounds in the files stay {"bytes": ..., "path": ...}, which `Items` takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordinate.data.formats.files import read_bytes
from ordinate.data.formats.parquet import arrow_stream
from ordinate.errors import InvalidInput, naming


def is_data_set(folder: str | Path) -> bool:
    return any((Path(folder) / name).is_file() for name in ("state.json", "dataset_dict.json"))


def read_data_set(folder: str | Path) -> dict[str, list[Any]]:
    """The columns of the data set. Raises InvalidInput for one with several splits, naming these."""
    folder = Path(folder)
    if not (folder / "state.json").is_file():
        splits = _parsed(folder / "dataset_dict.json").get("splits", [])
        raise InvalidInput(f"{folder} holds several splits; give the folder of one: {', '.join(map(str, splits))}")
    features = _parsed(folder / "dataset_info.json").get("features") or {}
    columns: dict[str, list[Any]] = {}
    for file in _parsed(folder / "state.json").get("_data_files", []):
        path = folder / str(file["filename"])
        with naming(path):
            for name, values in arrow_stream(read_bytes(path)).items():
                columns.setdefault(name, []).extend(values)
    for name, feature in features.items():
        names = feature.get("names") if isinstance(feature, Mapping) else None
        if names and feature.get("_type") == "ClassLabel" and name in columns:
            columns[name] = [None if value is None or value < 0 else names[value] for value in columns[name]]
    return columns


def _parsed(path: Path) -> dict[str, Any]:
    with naming(path):
        try:
            parsed = json.loads(read_bytes(path))
        except ValueError as error:
            raise InvalidInput(f"this is no JSON: {error}") from None
        if not isinstance(parsed, dict):
            raise InvalidInput("this must be a JSON object")
        return parsed
