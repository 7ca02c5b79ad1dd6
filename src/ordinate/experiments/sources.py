"""Data sets with the features of an experiment: a published folder or the user's tables, with a feature matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.cells import numbers
from ordinate.data.formats import read_columns, read_matrix
from ordinate.data.items import Items
from ordinate.datasets import Dataset, principal_components, read_dataset
from ordinate.datasets.recorded import FEATURES, read_recorded_folder
from ordinate.datasets.source import Source
from ordinate.errors import InvalidInput, naming
from ordinate.experiments.digest import digest


def published(name: str, folder: Path, columns: int) -> Dataset:
    """A published data set with the matrix in features.npy (one row per item), reduced to `columns` components."""
    dataset = read_dataset(name, folder)
    path = folder / FEATURES.name
    if not path.is_file():
        raise InvalidInput(
            f"{folder} has no {path.name}: a matrix with a row for each of the {len(dataset.items):,} items, in the "
            f"order of `ordinate datasets export {name}`"
        )
    return with_components(dataset, matrix_of(dataset, path), columns)


def matrix_of(dataset: Dataset, path: Path) -> Floats:
    """A matrix in a file, with one row of finite numbers for each item."""
    with naming(path):
        matrix: Floats = read_matrix(path).astype(np.float64)
        if len(matrix) != len(dataset.items):
            raise InvalidInput(f"there are {len(matrix):,} rows for {len(dataset.items):,} items")
        bad = np.argwhere(~np.isfinite(matrix))
        if len(bad):
            row, column = bad[0]
            raise InvalidInput(
                f"row {row}, column {column} (counted from 0) is {matrix[row, column]}; features are finite numbers"
            )
        return matrix


def recorded(folder: Path, columns: int | None = None) -> Dataset:
    """A folder of the user's own tables; its features, if any, are reduced to `columns` components."""
    dataset = read_recorded_folder(folder)
    features = dataset.items.features
    return dataset if not columns or not features.shape[1] else with_components(dataset, features, columns)


def required_truth(dataset: Dataset) -> Floats:
    """(n,) the truth of items with features. Raises InvalidInput where there is none."""
    if dataset.truth is None or not dataset.items.features.shape[1]:
        raise InvalidInput("this experiment needs items with features and a column truth")
    return dataset.truth


class Measured(NamedTuple):
    """What features.npy holds.

    matrix_columns  columns of the matrix
    components      principal components that the experiment keeps of them
    r_squared       share of the truth's variance that the ridge regression on them explains; None without a truth, or
                    where the paper has no such regression
    """

    matrix_columns: int
    components: int
    r_squared: float | None


def measured_features(dataset: Dataset, folder: Path, source: Source) -> Measured | None:
    """The features of a published data set, reduced as in the experiment; None if there are none."""
    path = folder / FEATURES.name
    if source.columns is None or not path.is_file():
        return None
    matrix = matrix_of(dataset, path)
    components = reduced(matrix, source.columns)
    share = None if source.r_squared is None or dataset.truth is None else ridge(components, dataset.truth)[1]
    return Measured(matrix.shape[1], components.shape[1], share)


def ridge(features: Floats, target: Floats) -> tuple[Floats, float]:
    """(n,) the fitted values of a ridge regression with penalty 1 and an intercept, and its R^2."""
    centred, wanted = features - features.mean(axis=0), target - target.mean()
    theta = np.linalg.solve(centred.T @ centred + np.eye(features.shape[1]), centred.T @ wanted)
    fitted: Floats = centred @ theta
    return fitted, float(1.0 - ((wanted - fitted) ** 2).sum() / (wanted**2).sum())


def reduced(features: Floats, columns: int) -> Floats:
    """The first principal components: `columns` of them, or all if there are fewer."""
    return principal_components(features, min(columns, *features.shape))


def with_components(dataset: Dataset, matrix: Floats, columns: int) -> Dataset:
    """The data set with so many principal components of this matrix instead of its own features."""
    return with_features(dataset, reduced(matrix, columns), (digest(matrix), columns))


def with_features(dataset: Dataset, features: Floats, computed_from: Any = None) -> Dataset:
    """The data set with this feature matrix instead of its own; `computed_from` as in `Dataset.computed`."""
    items = dataset.items
    computed = {name: source for name, source in dataset.computed.items() if name != "features"}
    if computed_from is not None:
        computed["features"] = computed_from
    items = Items(items.ids, features, group=items.group, content=items.content)
    return replace(dataset, items=items, computed=computed)


def column_as_truth(dataset: Dataset, folder: Path, column: str) -> Dataset:
    """The data set with a column of items.csv as its truth."""
    path = folder / "items.csv"
    table = read_columns(path)
    with naming(path):
        if column not in table:
            raise InvalidInput(f"expected a column {column!r}; found {', '.join(table)}")
        return replace(dataset, truth=numbers(table[column], column))
