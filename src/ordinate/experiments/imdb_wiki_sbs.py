"""IMDB-WIKI-SbS: thousands of items compared by people, items that are added later, and features nobody trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ordinate.datasets import Dataset
from ordinate.errors import InvalidInput
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes
from ordinate.experiments.human import COMPARED, HELD_OUT, HumanTask, bradley_terry, unit_to_hold_out
from ordinate.experiments.sources import published, recorded, reduced, with_features
from ordinate.experiments.untrained import untrained_features
from ordinate.experiments.wisc_ads import figures
from ordinate.formats import read_matrix
from ordinate.simulation.run import Plan
from ordinate.types import Floats

FEATURES = 75
CANDIDATES = 5_000
STARTING = 0.494  # the share of the items that are there at the start: 3,000 of 6,072
_ADDED = (
    "guro-hybrid-factored",
    "bald-hybrid-factored",
    "bald-paper-hybrid-factored",
    "guro-contextual",
    "bald-paper-contextual",
    "trueskill",
)
_UNTRAINED = ("guro-hybrid-factored", "uniform-hybrid-factored", "guro-contextual", "uniform-contextual", "trueskill")
# Without features the factored hybrid is a score per item in O(n): the independent model has n x n numbers.
_FEATURE_FREE = ("guro-hybrid-factored", "bald-hybrid-factored", "uniform-hybrid-factored", "trueskill")


@dataclass(frozen=True, eq=False)
class TwiceSeen(Dataset):
    """A data set with a second matrix of features, of a network with random weights."""

    untrained: Floats | None = None


def build(dataset: Dataset, wishes: Wishes) -> list[Setting]:
    budget = wishes.budget_or(10_000)
    plan = Plan(budget, every=max(1, budget // 20), refit_every=25, candidates=CANDIDATES)
    items, made = dataset.items, dataset.comparisons
    bare = Dataset(replace(items, content={}), dataset.truth, made)
    task = HumanTask(bare, bradley_terry(items, made), unit_to_hold_out(made))
    if not items.features.shape[1]:
        return [Setting("human-answers", task, plan, _FEATURE_FREE, seeds=2)]
    longer = replace(plan, budget=budget * 3 // 2)
    first = max(2, round(STARTING * len(items)))
    settings = [
        Setting("human-answers", task, plan, COMPARED, seeds=2),
        Setting("items-added", replace(task, first=first, after=budget), longer, _ADDED, seeds=2),
    ]
    # What looking at a part of the pairs costs: the same with all of them, not as long.
    short = replace(plan, budget=budget // 2)
    for name, candidates in (("all-pairs", None), ("some-pairs", CANDIDATES)):
        settings.append(Setting(name, task, replace(short, candidates=candidates), ("guro-hybrid-factored",), seeds=2))
    if (untrained := _untrained(dataset)) is not None:
        poor = replace(task, dataset=with_features(bare, reduced(untrained, FEATURES)))
        settings.append(Setting("untrained-features", poor, short, _UNTRAINED, seeds=2))
    return settings


def _untrained(dataset: Dataset) -> Floats | None:
    """The second matrix; of texts it can be made here."""
    if isinstance(dataset, TwiceSeen):
        return dataset.untrained
    texts = dataset.items.content.get("text")
    return None if texts is None else untrained_features([text or "" for text in texts])


def _faces(folder: Path) -> Dataset:
    """The published folder with features.npy and, if there is one, untrained.npy: both with a row per item."""
    faces = published("imdb-wiki-sbs", folder, FEATURES)
    path = folder / "untrained.npy"
    untrained = read_matrix(path).astype(np.float64) if path.is_file() else None
    if untrained is not None and len(untrained) != len(faces.items):
        raise InvalidInput(f"{path} has {len(untrained):,} rows for {len(faces.items):,} items")
    return TwiceSeen(faces.items, faces.truth, faces.comparisons, faces.notes, untrained)


def _figures(tag: str, what: str, truth: str) -> tuple[Figure, ...]:
    words = "Share of held-out answers predicted wrong"
    return (
        *figures(tag, what, truth),
        Figure(
            f"{tag}-added",
            f"{what}: half of them arrive later",
            "Figure 'empirical error', items added after 10,000 comparisons",
            "one standard deviation",
            (Panel("items-added", {HELD_OUT: ""}, words),),
        ),
        Figure(
            f"{tag}-untrained",
            f"{what}: features of an untrained network",
            "Figure 'the model used for feature extraction is untrained'",
            "one standard deviation",
            (Panel("untrained-features", {HELD_OUT: ""}, words),),
        ),
    )


IMDB_WIKI_SBS = Experiment(
    "Thousands of items compared by people; items that arrive later; features that nobody trained.",
    {
        "imdb-wiki-sbs": Data(_faces, "", build, _figures("imdb-wiki-sbs", "IMDB-WIKI-SbS", "Age")),
        "gppl_humour": Data(
            lambda folder: recorded(folder, FEATURES),
            "the faces",
            build,
            _figures(
                "imdb-wiki-sbs-stand-in-jokes",
                "IMDB-WIKI-SbS' experiment on 4,030 jokes and sentences",
                "Joke or not",
            ),
        ),
        "imdb_wiki_sbs_partial": Data(
            lambda folder: recorded(folder),
            "all answers about the faces, with their images",
            build,
            figures("imdb-wiki-sbs-without-images", "IMDB-WIKI-SbS, a part of its answers, no images", "Age"),
        ),
    },
)
