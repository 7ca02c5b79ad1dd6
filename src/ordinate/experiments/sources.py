"""Data sets with the features of an experiment: a published folder or the user's tables, with a feature matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.cells import numbers
from ordinate.data.formats import read_columns, read_matrix
from ordinate.data.items import Items
from ordinate.datasets import Dataset, principal_components, read_dataset
from ordinate.datasets.recorded import FEATURES, read_recorded_folder
from ordinate.errors import InvalidInput, naming


def published(name: str, folder: Path, columns: int) -> Dataset:
    """A published data set with the matrix in features.npy (one row per item), reduced to `columns` components."""
    dataset = read_dataset(name, folder)
    path = folder / FEATURES.name
    if not path.is_file():
        raise InvalidInput(
            f"{folder} has no {path.name}: a matrix with a row for each of the {len(dataset.items):,} items, in the "
            f"order of `ordinate datasets export {name}`"
        )
    with naming(path):
        return with_features(dataset, reduced(read_matrix(path).astype(np.float64), columns))


def recorded(folder: Path, columns: int | None = None) -> Dataset:
    """A folder of the user's own tables; its features, if any, are reduced to `columns` components."""
    dataset = read_recorded_folder(folder)
    features = dataset.items.features
    return dataset if not columns or not features.shape[1] else with_features(dataset, reduced(features, columns))


def reduced(features: Floats, columns: int) -> Floats:
    """The first principal components: `columns` of them, or all if there are fewer."""
    return principal_components(features, min(columns, *features.shape))


def with_features(dataset: Dataset, features: Floats) -> Dataset:
    """The data set with this feature matrix instead of its own."""
    items = dataset.items
    return replace(dataset, items=Items(items.ids, features, group=items.group, content=items.content))


def column_as_truth(dataset: Dataset, folder: Path, column: str) -> Dataset:
    """The data set with a column of items.csv as its truth."""
    path = folder / "items.csv"
    table = read_columns(path)
    with naming(path):
        if column not in table:
            raise InvalidInput(f"expected a column {column!r}; found {', '.join(table)}")
        return replace(dataset, truth=numbers(table[column], column))
