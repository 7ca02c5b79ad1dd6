"""Small folders in the layout of the published data sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ADDRESS = "https://example.org/IMDB-WIKI-SbS/"
FACES = {"old.jpg": 80, "middle.jpg": 40, "young.jpg": 10, "grey.jpg": 50, "grey-in-colour.jpg": 51, "small.png": 52}
FACE_LABELS = (
    ("old.jpg", "young.jpg", "old.jpg", "ann"),
    ("middle.jpg", "young.jpg", "young.jpg", "bob"),
    ("grey.jpg", "old.jpg", "old.jpg", "ann"),
    ("small.png", "grey-in-colour.jpg", "small.png", "ann"),
    ("old.jpg", "old.jpg", "old.jpg", "bob"),
)


def write_faces(folder: Path) -> Path:
    """IMDB-WIKI-SbS without images."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [",".join((*(ADDRESS + name for name in row[:3]), row[3])) for row in FACE_LABELS]
    (folder / "crowd_labels.csv").write_text("\n".join(["left,right,label,performer", *rows]) + "\n")
    rows = [f"{ADDRESS}{name},{age}" for name, age in FACES.items()]
    (folder / "gt.csv").write_text("\n".join(["label,score", *rows]) + "\n")
    return folder


def write_face_images(folder: Path) -> Path:
    """The images of the faces; 160 x 160 is just large enough."""
    images = folder / "images"
    images.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name in FACES:
        colour = rng.integers(0, 256, (160, 170, 3), dtype=np.uint8)
        if name == "small.png":
            colour = colour[:159]
        if name == "grey.jpg":
            colour = colour[:, :, 0]
        if name == "grey-in-colour.jpg":
            colour = np.repeat(colour[:, :, :1], 3, axis=2)
        Image.fromarray(colour).save(images / name)
    return images


def write_ads(folder: Path) -> Path:
    """WiscAds; the first comparison stands there twice."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["170,1,7732,0,W1,t", "170,1,6957,1,W1,t"] * 2 + ["170,2,7083,1,W2,t", "170,2,7732,0,W2,t"]
    header = "batch_id,comparison_id,document_id,result,worker_id,completed_at"
    (folder / "all_batches.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


def write_x_rays(folder: Path) -> Path:
    """X-RayAge without images."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train_age.csv").write_text("imageId,age\n0,89.0\n1,72.0\n2,25.0\n")
    return folder


def write_clarity(folder: Path) -> Path:
    """ImageClarity with images."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for name in ("a", "b", "c"):
        (folder / "images" / f"{name}.png").write_bytes(b"")
    (folder / "items.csv").write_text("id,truth,image\na,-1,images/a.png\nb,-2,images/b.png\nc,-3,images/c.png\n")
    (folder / "comparisons.csv").write_text("left,right,winner,annotator\na,b,a,ann\nc,b,right,bob\na,c,tie,\n")
    return folder


WRITERS = {
    "imdb-wiki-sbs": write_faces,
    "image-clarity": write_clarity,
    "wisc-ads": write_ads,
    "x-ray-age": write_x_rays,
    "recorded": write_clarity,
}


@pytest.fixture
def published(tmp_path: Path) -> Callable[[str], Path]:
    """Write the small folder of a data set, and say where it is."""
    return lambda name: WRITERS[name](tmp_path / name)


@pytest.fixture
def faces(tmp_path: Path) -> Path:
    """IMDB-WIKI-SbS with images."""
    folder = write_faces(tmp_path / "faces")
    write_face_images(folder)
    return folder
