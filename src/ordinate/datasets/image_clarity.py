"""ImageClarity: which of two versions of one image is less distorted (Zhang, Li and Feng 2016).

The published files (https://dbgroup.cs.tsinghua.edu.cn/ligl/crowdtopk) were not available, so the columns below are
this package's own: convert the published files to them. The paper has 100 images, 27,730 comparisons, and a true order
by the strength of the distortion.
"""

from __future__ import annotations

from pathlib import Path

from ordinate.data.cells import numbers
from ordinate.data.comparison_formats import Reading, read_comparisons
from ordinate.data.items import Items
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected, find, read_table, require
from ordinate.errors import InvalidInput, naming

ITEMS = Expected(
    "items.csv",
    ("id", "truth"),
    note="truth is higher for the clearer image; the optional column image names its file.",
)
COMPARISONS = Expected(
    "comparisons.csv",
    ("left", "right", "winner"),
    note="winner is left, right, tie, or the id of the clearer image; the optional column annotator says who answered.",
)
IMAGES = Expected("images", optional=True, note="The files that the column image of items.csv names: images/7.jpg.")
EXPECTS = (ITEMS, COMPARISONS, IMAGES)


def read_image_clarity(folder: str | Path) -> Dataset:
    """The images and the answers; the ordering runs from the clearest image to the most distorted."""
    folder = Path(folder)
    items_file, comparisons_file = require(folder, ITEMS), require(folder, COMPARISONS)
    table, answers = read_table(items_file, ITEMS), read_table(comparisons_file, COMPARISONS)
    with naming(items_file):
        items = Items.from_columns({name: table[name] for name in ("id", "image") if name in table})
        truth = numbers(table["truth"], "truth")
        if find(folder, IMAGES) is not None:
            for row, place in enumerate(items.content.get("image", ()), start=1):
                if place is not None and "://" not in place and not (folder / place).is_file():
                    raise InvalidInput(f"row {row}: there is no file {place!r} in {folder}")
    with naming(comparisons_file):
        return Dataset(items, truth, tuple(read_comparisons(answers, Reading("plain")).comparisons))
