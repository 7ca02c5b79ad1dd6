"""Items with answers that people gave: a table of items, a table of comparisons and, optionally, a feature matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ordinate.data.cells import numbers
from ordinate.data.comparisons import Comparison, comparisons_from_columns
from ordinate.data.items import Items
from ordinate.data.projection import principal_components
from ordinate.data.tables import Columns
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected, find, read_table, require
from ordinate.errors import InvalidInput, naming

ITEMS = Expected("items.csv", ("id",), note="Optional columns: group, text, image, audio, video and link.")
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
    dataset = read_recorded(items_file, comparisons_file, features=find(folder, FEATURES))
    if "truth" not in table:
        return dataset
    with naming(items_file):
        return replace(dataset, truth=numbers(table["truth"], "truth"))


def read_recorded(
    items: str | Path,
    comparisons: str | Path,
    *,
    features: str | Path | None = None,
    feature_columns: Sequence[str] = (),
    id_column: str = "id",
    pca: float | int | None = None,
) -> Dataset:
    """Read a recorded data set from files of any format that `ordinate.data.formats` knows.

    Groups come from a column `group` of the items or, if they have none, of the comparisons. `pca` reduces the
    features, see `principal_components`.
    """
    from ordinate.data.formats import read_columns

    answers = read_columns(comparisons)
    table = Items.read(items, id_column=id_column, features=features, feature_columns=feature_columns)
    with naming(comparisons):
        listed = comparisons_from_columns(answers)
    if table.group is None and "group" in answers:
        table = replace(table, group=_groups_from_comparisons(table.ids, listed, answers))
    if pca is not None:
        table = replace(table, features=principal_components(table.features, pca), feature_names=None)
    return Dataset(table, comparisons=tuple(listed))


def _groups_from_comparisons(ids: Sequence[str], listed: Sequence[Comparison], columns: Columns) -> list[str]:
    """The group of each item, from its comparisons. Raises InvalidInput if they disagree or there is none."""
    found: dict[str, Any] = {}
    for row, (comparison, group) in enumerate(zip(listed, columns["group"], strict=True), start=1):
        for item in (comparison.left, comparison.right):
            if found.setdefault(item, group) != group:
                raise InvalidInput(f"row {row}: item {item!r} is compared in group {found[item]!r} and in {group!r}")
    alone = [item for item in ids if item not in found]
    if alone:
        raise InvalidInput(
            f"item {alone[0]!r} is in no comparison, so its group is unknown; add a column 'group' to the items"
        )
    return [str(found[item]) for item in ids]
