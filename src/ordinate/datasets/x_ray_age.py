"""X-RayAge: chest X-rays with the patient's age, of the Kaggle competition "SPR X-Ray Age Prediction Challenge".

The files were not available. The layout comes from public repositories that use them: train_age.csv has the columns
imageId (0, 1, ...) and age; image 17 is kaggle/kaggle/train/000017.png; one README counts 10,702 images of 1024 x 1024.
"""

from __future__ import annotations

from pathlib import Path

from ordinate.data.cells import numbers
from ordinate.data.items import Items
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected, find, read_table, require
from ordinate.errors import InvalidInput, naming

AGES = Expected("train_age.csv", ("imageId", "age"))
IMAGES = Expected(
    "train",
    optional=True,
    note="The images, six digits each: 000000.png. Features are computed from them.",
    below=("kaggle/kaggle", "kaggle"),
)
EXPECTS = (AGES, IMAGES)


def read_x_ray_age(folder: str | Path) -> Dataset:
    """The X-rays; the truth is the age in years, so the ordering runs from the oldest to the youngest.

    Nobody compared them: the paper draws the answers from a logistic model.
    """
    folder = Path(folder)
    path = require(folder, AGES)
    table = read_table(path, AGES)
    with naming(path):
        items = Items(ids=table["imageId"])
        ages = numbers(table["age"], "age")
    images = find(folder, IMAGES)
    if images is None:
        return Dataset(items, ages, notes=("there is no folder of images, so the items have no images",))
    names = [_file_name(name) for name in items.ids]
    missing = [name for name in names if not (images / name).is_file()]
    if missing:
        raise InvalidInput(
            f"{images} lacks {len(missing):,} of the {len(names):,} images in {AGES.name}, for example {missing[0]}"
        )
    inside = images.relative_to(folder)
    content = {"image": [(inside / name).as_posix() for name in names]}
    return Dataset(Items(ids=items.ids, content=content), ages)


def _file_name(image: str) -> str:
    return f"{image.zfill(6)}.png"
