"""The features of a published data set, made by the commands that the documents name, lie in the rows of its items."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.__main__ import main
from ordinate.experiments.sources import published

SHADES = (200, 40, 120, 250, 80)  # of item 0, 1, ...: no order of names or ages is theirs


def images(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True)
    for name, shade in zip(names, SHADES, strict=True):
        pixels = np.full((170, 170, 3), shade, np.uint8)
        pixels[:, :, 0] += 5  # the paper's filter leaves out what is grey
        Image.fromarray(pixels).save(folder / name)


def x_rays(folder: Path) -> None:
    images(folder / "train", [f"{k:06}.png" for k in range(5)])
    (folder / "train_age.csv").write_text(
        "imageId,age\n" + "".join(f"{k},{30 + 7 * k % 19}\n" for k in (3, 0, 4, 1, 2))
    )


def clarity(folder: Path) -> None:
    images(folder / "images", [f"z{k}.png" for k in range(5)])
    rows = [f"i{k},{-k},images/z{k}.png" for k in (4, 0, 2, 1, 3)]
    (folder / "items.csv").write_text("\n".join(["id,truth,image", *rows]) + "\n")
    (folder / "comparisons.csv").write_text("left,right,winner\ni0,i1,i0\ni4,i2,i2\n")


def faces(folder: Path) -> None:
    images(folder / "images", [f"{k}.png" for k in range(5)])
    names = [f"https://example.org/{k}.png" for k in (2, 4, 0, 3, 1)]
    (folder / "gt.csv").write_text("label,score\n" + "".join(f"{name},{20 + k}\n" for k, name in enumerate(names)))
    (folder / "crowd_labels.csv").write_text(
        "left,right,label,performer\n" + "".join(f"{left},{right},{left},ann\n" for left, right in pairwise(names))
    )


def ads(folder: Path) -> None:
    folder.mkdir()
    rows = [f"{number},{won},1,w\n{number},{lost},0,w\n" for number, (won, lost) in enumerate(((3, 0), (4, 1), (2, 3)))]
    (folder / "all_batches.csv").write_text("comparison_id,document_id,result,worker_id\n" + "".join(rows))
    texts = [f"{k},{'a' * SHADES[k]}" for k in range(5)]
    (folder / "texts.csv").write_text("ids,text\n" + "\n".join(texts) + "\n")


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize(
    ("name", "write", "encoder"),
    [
        ("x-ray-age", x_rays, "tones:any"),
        ("image-clarity", clarity, "tones:any"),
        ("imdb-wiki-sbs", faces, "tones:any"),
        ("wisc-ads", ads, "letters:any"),
    ],
)
def test_what_embed_writes_is_what_the_experiment_reads(tmp_path, name, write, encoder):
    folder, tables = tmp_path / name, tmp_path / "tables"
    write(folder)
    assert main(["datasets", "export", name, str(folder), "--out", str(tables)]) == 0
    line = ["embed", "--items", str(tables / "items.csv"), "--encoder", encoder, "--out", str(folder / "features.npy")]
    assert main(line) == 0
    items = published(name, folder, 1).items
    assert len(items) == 5
    shades = [SHADES[int("".join(letter for letter in item if letter.isdigit()))] for item in items.ids]
    # One principal component of what differs in the shade alone is the shade, but for its sign and place.
    assert abs(np.corrcoef(items.features[:, 0], shades)[0, 1]) > 0.9999
