"""Items with answers that people gave: a table of items, a table of comparisons and, optionally, a feature matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ordinate.data.cells import numbers
from ordinate.data.comparison_formats import Reading, read_comparison_file
from ordinate.data.items import FeatureFiles, Items, read_item_columns
from ordinate.data.projection import principal_components
from ordinate.data.recipe import Recipe
from ordinate.data.tables import Columns
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected, find, read_table, require
from ordinate.errors import InvalidInput, naming

ITEMS = Expected("items.csv", ("id",), note="Optional columns: group, text, image, audio, video, link and html.")
COMPARISONS = Expected(
    "comparisons.csv",
    ("left", "right", "winner"),
    note="winner is left, right, tie, or the id of the item that won; the optional column annotator says who answered.",
)
FEATURES = Expected("features.npy", optional=True, note="A matrix with one row per item.")
EXPECTS = (ITEMS, COMPARISONS, FEATURES)


def read_recorded_folder(folder: str | Path) -> Dataset:
    """`read_recorded` on the files of a folder with the names in EXPECTS; also reads a column `truth`."""
    folder = Path(folder)
    items_file, comparisons_file = require(folder, ITEMS), require(folder, COMPARISONS)
    table = read_table(items_file, ITEMS)
    read_table(comparisons_file, COMPARISONS)
    dataset = _read(items_file, comparisons_file, find(folder, FEATURES), Reading(), {}, ("truth",))
    if "truth" not in table:
        return dataset
    with naming(items_file):
        return replace(dataset, truth=numbers(table["truth"], "truth"))


def read_recorded(
    items: str | Path,
    comparisons: str | Path,
    *,
    features: FeatureFiles = None,
    pca: float | int | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> Dataset:
    """Read a recorded data set from files of any format that `ordinate.data.formats` knows.

    Groups come from a column `group` of the items or, if they have none, of the comparisons. `pca` reduces the
    features, see `principal_components`; named columns are standardised first. The options are those of
    `Items.from_columns`. The notes of the data set name what was left out, and the columns that were not read.
    """
    dataset = _read(items, comparisons, features, reading or Reading(), options)
    table = dataset.items
    if pca is not None and (table.feature_names is not None or table.blocks is not None):
        table = Recipe.of_given(table, pca)[0]
    elif pca is not None:
        table = replace(table, features=principal_components(table.features, pca))
    return replace(dataset, items=table)


def _read(
    items: str | Path,
    comparisons: str | Path,
    features: FeatureFiles,
    reading: Reading,
    options: Mapping[str, Any],
    used: Sequence[str] = (),
) -> Dataset:
    """`read_recorded` with all features; `used` are columns of the items that the caller reads."""
    read = read_comparison_file(comparisons, reading)
    columns = read_item_columns(items)
    table = Items.from_file_columns(columns, items, features=features, **options)
    read = read.called_as_in(table)
    with naming(comparisons):
        if table.group is None and read.group is not None:
            table = replace(table, group=_groups_from_comparisons(table.ids, read.item_columns()))
        read.require_items(table)
    unused = [*table.unused(columns, *used, *_named(options)), *read.columns_not_used]
    notes = [*([f"Columns not used: {', '.join(unused)}."] if unused else []), *read.notes]
    return Dataset(table, comparisons=tuple(read.comparisons), notes=tuple(one.removesuffix(".") for one in notes))


def _named(options: Mapping[str, Any]) -> list[str]:
    """The columns of the items that the options of `Items.from_columns` name."""
    return [
        options.get("id_column", "id"),
        *options.get("feature_columns", ()),
        *options.get("categorical", ()),
        *(options.get("content") or {}).values(),
    ]


def _groups_from_comparisons(ids: Sequence[str], compared: Columns) -> list[str]:
    """The group of each item, from its comparisons. Raises InvalidInput if there is none."""
    found = dict(zip(compared["id"], compared["group"], strict=True))
    alone = [item for item in ids if item not in found]
    if alone:
        raise InvalidInput(
            f"item {alone[0]!r} is in no comparison, so its group is unknown; add a column 'group' to the items"
        )
    return [found[item] for item in ids]
