"""Data sets to try the algorithms on, one file each: `DATASETS` maps a name to the source of the data set."""

from __future__ import annotations

from pathlib import Path

from ordinate.data.projection import principal_components
from ordinate.datasets import image_clarity, imdb_wiki_sbs, recorded, wisc_ads, x_ray_age
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.degraded_photo import DegradedPhotos, degrade_photo
from ordinate.datasets.download import download
from ordinate.datasets.export import export_dataset
from ordinate.datasets.recorded import read_recorded
from ordinate.datasets.source import Source
from ordinate.datasets.synthetic import draw_synthetic, linear_dataset, read_synthetic
from ordinate.errors import InvalidInput

DATASETS: dict[str, Source] = {
    "imdb-wiki-sbs": Source(
        imdb_wiki_sbs.read_imdb_wiki_sbs,
        "Which of two people looks older: 9,150 photographs, 250,249 answers before the paper's filter.",
        "https://github.com/Toloka/IMDB-WIKI-SbS",
        "CC BY 4.0 for the tables; the photographs, from IMDB-WIKI, are for academic research only",
        items=6072,
        answers=110_349,
        columns=75,
        expects=imdb_wiki_sbs.EXPECTS,
        remote=imdb_wiki_sbs.REMOTE,
    ),
    "image-clarity": Source(
        image_clarity.read_image_clarity,
        "Which of two versions of one image is less distorted.",
        "https://dbgroup.cs.tsinghua.edu.cn/ligl/crowdtopk",
        "none stated in the paper; ask its publishers",
        items=100,
        answers=27_730,
        columns=63,
        expects=image_clarity.EXPECTS,
    ),
    "wisc-ads": Source(
        wisc_ads.read_wisc_ads,
        "Which of two campaign advertisements of 2008 is more negative.",
        "https://doi.org/10.7910/DVN/0ZRGEE",
        "CC0 1.0, as the paper says",
        items=935,
        answers=9528,
        columns=162,
        expects=wisc_ads.EXPECTS,
    ),
    "x-ray-age": Source(
        x_ray_age.read_x_ray_age,
        "Chest X-rays, more than 10,000 of them, with the age of the patient; the paper takes 200 at random.",
        "https://www.kaggle.com/competitions/spr-x-ray-age",
        "the rules of the Kaggle competition, which you accept there",
        items=200,
        answers=0,
        sampled=True,
        columns=35,
        r_squared=0.67,
        expects=x_ray_age.EXPECTS,
    ),
    "recorded": Source(
        recorded.read_recorded_folder,
        "Your own data: any items with comparisons that people made.",
        "your own tables",
        "yours",
        expects=recorded.EXPECTS,
    ),
    "synthetic": Source(
        draw_synthetic,
        "Standard normal features and scores that are linear in them, as in the paper's appendix.",
        "made by: ordinate simulate synthetic",
        "free of rights",
        items=100,
        answers=0,
    ),
    "synthetic-file": Source(
        read_synthetic,
        "The same, with features and theta from an .npz file.",
        "your own: ordinate simulate synthetic --task FILE.npz",
        "yours",
    ),
    "degraded-photo": Source(
        degrade_photo,
        "One photograph with different amounts of blur, noise and compression.",
        "made by: ordinate demo",
        "public domain",
        items=100,
        answers=0,
    ),
}


def dataset_source(name: str) -> Source:
    """The source of this name. Raises InvalidInput, listing all names."""
    if name not in DATASETS:
        raise InvalidInput(f"unknown data set {name!r}; choose one of {', '.join(DATASETS)}")
    return DATASETS[name]


def read_dataset(name: str, folder: str | Path) -> Dataset:
    """A data set from the folder that holds its files, see `ordinate datasets`."""
    source = dataset_source(name)
    if not source.expects:
        readable = ", ".join(known for known, row in DATASETS.items() if row.expects)
        raise InvalidInput(f"{name} is not read from a folder ({source.origin}); data sets that are: {readable}")
    return source.load(folder)


__all__ = [
    "DATASETS",
    "Dataset",
    "DegradedPhotos",
    "Source",
    "dataset_source",
    "degrade_photo",
    "download",
    "draw_synthetic",
    "export_dataset",
    "linear_dataset",
    "principal_components",
    "read_dataset",
    "read_recorded",
    "read_synthetic",
]
