"""IMDB-WIKI-SbS: thousands of items compared by people, items added later, and features of untrained networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.formats import read_matrix
from ordinate.datasets import Dataset
from ordinate.errors import InvalidInput
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes
from ordinate.experiments.human import COMPARED, HELD_OUT, HumanTask, bradley_terry, unit_to_hold_out
from ordinate.experiments.sources import published, recorded, reduced, with_features
from ordinate.experiments.wisc_ads import figures
from ordinate.simulation.run import Plan

FEATURES = 75
CANDIDATES = 5_000
STARTING = 0.494  # the share of the items that are present at the start: 3,000 of 6,072
_ADDED = (
    "guro-hybrid-factored",
    "bald-hybrid-factored",
    "bald-paper-hybrid-factored",
    "guro-contextual",
    "bald-paper-contextual",
    "trueskill",
)
_POOR = ("guro-hybrid-factored", "guro-contextual", "uniform-contextual", "trueskill")
# Without features the factored hybrid is a score per item in O(n) memory; the independent model needs O(n^2).
_FEATURE_FREE = ("guro-hybrid-factored", "bald-hybrid-factored", "uniform-hybrid-factored", "trueskill")


@dataclass(frozen=True, eq=False)
class WithUntrainedFeatures(Dataset):
    """A data set with a second feature matrix, from a network with random weights."""

    untrained: Floats | None = None


def build(dataset: Dataset, wishes: Wishes) -> list[Setting]:
    budget = wishes.budget_or(10_000)
    plan = Plan(budget, every=max(1, budget // 20), refit_every=25, candidates=CANDIDATES, random=0.0)
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
    # The cost of choosing among random candidates: the same runs with all pairs, but shorter.
    short = replace(plan, budget=budget // 2)
    for name, candidates in (("all-pairs", None), ("some-pairs", CANDIDATES)):
        settings.append(Setting(name, task, replace(short, candidates=candidates), ("guro-hybrid-factored",), seeds=2))
    # Features without any information: each item has those of another item.
    shuffled = items.features[np.random.default_rng(0).permutation(len(items))]
    poor = {"shuffled-features": shuffled}
    if isinstance(dataset, WithUntrainedFeatures) and dataset.untrained is not None:
        poor["untrained-features"] = reduced(dataset.untrained, FEATURES)
    settings += [
        Setting(name, replace(task, dataset=with_features(bare, features)), short, _POOR, seeds=2)
        for name, features in poor.items()
    ]
    return settings


def _with_untrained(dataset: Dataset, folder: Path) -> Dataset:
    """The data set with the features in untrained.npy (a row per item), if the folder has that file."""
    path = folder / "untrained.npy"
    if not path.is_file():
        return dataset
    untrained = read_matrix(path).astype(np.float64)
    if len(untrained) != len(dataset.items):
        raise InvalidInput(f"{path} has {len(untrained):,} rows for {len(dataset.items):,} items")
    return WithUntrainedFeatures(dataset.items, dataset.truth, dataset.comparisons, dataset.notes, untrained)


def _figures(tag: str, what: str, truth: str) -> tuple[Figure, ...]:
    words = "Share of held-out answers predicted wrong"
    return (
        *figures(tag, what, truth),
        Figure(
            f"{tag}-added",
            f"{what}: half of them arrive later",
            "Figure 'empirical error', items added after 10,000 comparisons",
            "one standard deviation",
            (Panel("items-added", HELD_OUT, words),),
        ),
        Figure(
            f"{tag}-untrained",
            f"{what}: features that say little",
            "Figure 'the model used for feature extraction is untrained'",
            "one standard deviation",
            (
                Panel("untrained-features", HELD_OUT, words, "Features of an untrained network"),
                Panel("shuffled-features", HELD_OUT, words, "Features of other items"),
            ),
        ),
    )


IMDB_WIKI_SBS: Experiment = {
    "imdb-wiki-sbs": Data(
        lambda folder: _with_untrained(published("imdb-wiki-sbs", folder, FEATURES), folder),
        "",
        build,
        _figures("imdb-wiki-sbs", "IMDB-WIKI-SbS", "Age"),
    ),
    "gppl_humour": Data(
        lambda folder: _with_untrained(recorded(folder, FEATURES), folder),
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
}
