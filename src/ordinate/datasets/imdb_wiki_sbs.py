"""IMDB-WIKI-SbS: which of two people looks older (Pavlichenko and Ustalov 2021).

The layout follows the repository Toloka/IMDB-WIKI-SbS: its README.md describes both tables, and data/gt.csv has 9,150
rows such as `https://.../nm1442940_rm3965098752_1996-10-3_2006.jpg,10`. Of data/crowd_labels.csv (250,249 rows) only
the description was available. The last part of an address is unique, so it is the id here, and the name of the file in
the folder of images.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ordinate.data.cells import id_text, numbers
from ordinate.data.comparison_formats import Reading, read_comparisons
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected, find, read_table, require
from ordinate.datasets.source import Remote
from ordinate.errors import InvalidInput, naming

SMALLEST = 160  # pixels; the paper leaves out images that are narrower or lower

LABELS = Expected("crowd_labels.csv", ("left", "right", "label", "performer"), below=("data",))
TRUTH = Expected("gt.csv", ("label", "score"), below=("data",))
IMAGES = Expected(
    "images",
    optional=True,
    note="The images, named as in their addresses. With them, grayscale images and those under "
    f"{SMALLEST} x {SMALLEST} are left out, as in the paper.",
    below=("data",),
)
EXPECTS = (LABELS, TRUTH, IMAGES)

# A commit, so that the bytes stay. The sum of gt.csv was recomputed from its rows.
_ADDRESS = "https://raw.githubusercontent.com/Toloka/IMDB-WIKI-SbS/6087435b6eb61993c1169e232a827fd18b51a7c1/data/"
REMOTE = (
    Remote("gt.csv", f"{_ADDRESS}gt.csv", "47281f24209f4566f0e8d0e0615b3d249f8045e36260c8dfa4e44b80f1c31d08"),
    Remote(
        "crowd_labels.csv",
        f"{_ADDRESS}crowd_labels.csv",
        "2307300380f8ccdb09255970cd6b013ce0fcddf74545fb0f2ca4b0eca0a9220f",
    ),
)


def read_imdb_wiki_sbs(folder: str | Path) -> Dataset:
    """The faces and the answers; the truth is the age in years, so the ordering runs from the oldest to the youngest.

    If there is a folder of images, the paper's filter is applied: it leaves out grayscale images (stored as such, or
    with three equal channels) and images under 160 x 160. In the paper, 6,072 images and 110,349 comparisons remain.
    """
    folder = Path(folder)
    truth_file, labels_file = require(folder, TRUTH), require(folder, LABELS)
    truth, labels = read_table(truth_file, TRUTH), read_table(labels_file, LABELS)
    with naming(truth_file):
        places = [id_text(place) for place in truth["label"]]
        everyone = Items(ids=[_id(place) for place in places], content={"image": places})
        ages = numbers(truth["score"], "score")
    with naming(labels_file):
        comparisons, with_itself = _comparisons(labels, set(everyone.ids))
    notes = [f"answers that compare an image with itself, left out: {with_itself:,}"] if with_itself else []
    images = find(folder, IMAGES)
    if images is None:
        notes.append("there is no folder of images, so the paper's filter was not applied")
        return Dataset(everyone, ages, tuple(comparisons), tuple(notes))

    reasons = [_why_left_out(images / name) for name in everyone.ids]
    counts = Counter(reason for reason in reasons if reason)
    kept = [row for row, reason in enumerate(reasons) if reason is None]
    if not kept:
        raise InvalidInput(f"{images}: no image is left; {_counted(counts)}. {IMAGES.note}")
    if counts:
        notes.append(f"images left out: {_counted(counts)}")
    inside = images.relative_to(folder)
    names = [everyone.ids[row] for row in kept]
    items = Items(ids=names, content={"image": [(inside / name).as_posix() for name in names]})
    known = set(names)
    left = tuple(made for made in comparisons if made.left in known and made.right in known)
    return Dataset(items, ages[kept], left, tuple(notes))


def _id(address: str) -> str:
    return address.rsplit("/", 1)[-1]


def _comparisons(labels: dict[str, list[str]], known: set[str]) -> tuple[list[Comparison], int]:
    """The comparisons, and the number of rows that compare an image with itself, which are left out."""
    rows = zip(*(map(_id, map(id_text, labels[name])) for name in ("left", "right", "label")), strict=True)
    listed = [(left, right, label, who) for (left, right, label), who in zip(rows, labels["performer"], strict=True)]
    for row, (left, right, label, _) in enumerate(listed, start=1):
        unknown = {left, right} - known
        if unknown:
            raise InvalidInput(f"row {row}: {min(unknown)!r} is not in {TRUTH.name}")
        if label not in (left, right):
            raise InvalidInput(f"row {row}: the label {label!r} is neither the left nor the right image")
    proper = [values for values in listed if values[0] != values[1]]
    lefts, rights, winners, who = (list(column) for column in zip(*proper, strict=True)) if proper else ([], [], [], [])
    columns = {"left": lefts, "right": rights, "winner": winners, "annotator": who}
    return read_comparisons(columns, Reading("plain")).comparisons, len(listed) - len(proper)


def _why_left_out(path: Path) -> str | None:
    """Why the paper's filter leaves out this image; None if it does not."""
    from PIL import Image, ImageChops

    if not path.is_file():
        return "not in the folder"
    try:
        with Image.open(path) as image:
            if min(image.size) < SMALLEST:
                return f"under {SMALLEST} x {SMALLEST}"
            # A JPEG is read at an eighth of its size, which is several times as fast and keeps colour.
            image.draft("RGB", (image.width // 8, image.height // 8))
            red, green, blue = image.convert("RGB").split()
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise InvalidInput(f"{path} cannot be read as an image ({error}); download it again, or delete it") from error
    same = all(ImageChops.difference(red, other).getbbox() is None for other in (green, blue))
    return "grayscale" if same else None


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.most_common())
