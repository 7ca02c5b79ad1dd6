"""ImageClarity: many answers about few images, with a true order; and a case where the Bradley-Terry order misleads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.comparisons import Comparison
from ordinate.data.formats import read_columns
from ordinate.datasets import Dataset, degrade_photo
from ordinate.errors import InvalidInput, naming
from ordinate.experiments.digest import digest
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes, as_the_paper
from ordinate.experiments.human import (
    BY_DEFAULT,
    COMPARED,
    SUBSET,
    TARGET,
    HumanTask,
    SubsetTask,
    bradley_terry,
    unit_to_hold_out,
)
from ordinate.experiments.sources import published, recorded, with_features
from ordinate.experiments.wisc_ads import figures
from ordinate.simulation.annotators import LogisticAnnotators

FEATURES = 63
ANSWERS = 27_730  # the number of answers in the paper's data
NOISE = 8.0  # reliability of the simulated answers about the degraded photograph
FEW = 1_000  # answers that can be asked in the counterexample
_OTHER = "Share of pairs in another order"
_COUNTED = ("guro-contextual", "trueskill")


def build(dataset: Dataset, wishes: Wishes) -> list[Setting]:
    budget = wishes.budget_or(1_000)
    plan = as_the_paper(budget, every=budget // 20, refit_every=1)
    target = bradley_terry(dataset.items, dataset.comparisons)
    few = min(FEW, len(dataset.comparisons))
    task = HumanTask(dataset, target, unit_to_hold_out(dataset.comparisons))
    main = Setting("held-out", task, plan, COMPARED, seeds=100)
    counted = replace(plan, budget=min(few, budget), every=max(1, min(few, budget) // 40))
    return [
        main,
        main.with_defaults(BY_DEFAULT, seeds=20),
        Setting("few-answers", SubsetTask(dataset, target, few), counted, _COUNTED, seeds=100),
    ]


def _figures(tag: str, what: str, truth: str) -> tuple[Figure, ...]:
    return (
        *figures(tag, what, truth),
        Figure(
            f"{tag}-counterexample",
            f"{what}: one ordering, two targets",
            "Figure 'different numbers of comparisons'",
            "one standard deviation",
            (
                Panel("few-answers", SUBSET, _OTHER, "Bradley-Terry of the answers that can be asked"),
                Panel("few-answers", TARGET, _OTHER, "Bradley-Terry of all answers"),
            ),
        ),
    )


def _photos(_: Path) -> Dataset:
    """100 versions of one photograph, with as many simulated answers on random pairs as the paper has answers."""
    photos = degrade_photo(np.random.default_rng(0), 100)
    assert photos.truth is not None  # degrade_photo always sets it
    rng = np.random.default_rng(1)
    crowd = LogisticAnnotators(photos.truth, NOISE)
    left = rng.integers(100, size=ANSWERS)
    right = (left + rng.integers(1, 100, size=ANSWERS)) % 100
    ids = photos.items.ids
    answers = tuple(
        Comparison(ids[one], ids[other], crowd.answer(one, other))
        for one, other in zip(left.tolist(), right.tolist(), strict=True)
    )
    computed = {"features": digest(photos.files)}
    return Dataset(replace(photos.items, content={}), photos.truth, answers, computed=computed)


def _light_fields(folder: Path) -> Dataset:
    """Distorted light fields, with features for the type of the distortion and its level within the type."""
    dataset = recorded(folder)
    path = folder / "items.csv"
    table = read_columns(path)
    with naming(path):
        if missing := [name for name in ("dist_type", "dist_level") if name not in table]:
            raise InvalidInput(f"there is no column {', '.join(missing)}; found {', '.join(table)}")
    return with_features(dataset, distortion_features(table["dist_type"], table["dist_level"]))


def distortion_features(types: list[str], levels: list[str]) -> Floats:
    """(n, 2 k) for k types: an indicator of the type, and the level divided by the highest level of the type."""
    names, code = np.unique(types, return_inverse=True)
    member = (code[:, None] == np.arange(len(names))).astype(np.float64)
    level = np.asarray(levels, dtype=np.float64)
    highest = np.array([max(level[code == k].max(), 1.0) for k in range(len(names))])
    return np.column_stack([member, member * (level / highest[code])[:, None]])


IMAGE_CLARITY: Experiment = {
    "image-clarity": Data(
        lambda folder: published("image-clarity", folder, FEATURES),
        "",
        build,
        _figures("image-clarity", "ImageClarity", "Strength of the distortion"),
    ),
    "degraded-photo": Data(
        _photos,
        "the distorted images and their answers, which are simulated here",
        build,
        _figures(
            "image-clarity-stand-in-photo",
            "ImageClarity's experiment on 100 versions of a photo, simulated answers",
            "Strength of the degradation",
        ),
        needs_folder=False,
    ),
    "pwcmp_light_field": Data(
        _light_fields,
        "the distorted images, without a true order",
        build,
        _figures("image-clarity-stand-in-light-fields", "ImageClarity's experiment on 350 distorted light fields", ""),
    ),
}
