"""IMDB-WIKI-SbS: thousands of items compared by people, items added later, and features of untrained networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.datasets import Dataset
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes, as_the_paper
from ordinate.experiments.human import COMPARED, HELD_OUT, HumanTask, bradley_terry, unit_to_hold_out
from ordinate.experiments.sources import matrix_of, published, recorded, with_components, with_features
from ordinate.experiments.wisc_ads import figures

FEATURES = 75
CANDIDATES = 5_000
STARTING = 0.494  # the share of the items that are present at the start: 3,000 of 6,072
# Sequential updates of thousands of items take too long here: the paper's BALD is refitted like the others.
_BALD = {
    "bald-paper-hybrid-sequential": "bald-paper-hybrid-factored",
    "bald-paper-contextual-sequential": "bald-paper-contextual",
}
_COMPARED = tuple(_BALD.get(name, name) for name in COMPARED)
_PAPERS = tuple(name for name in _COMPARED if name not in ("bald-hybrid-factored", "bald-contextual"))
_UNINFORMED = ("guro-hybrid-factored", "guro-contextual", "uniform-contextual", "trueskill")
_BY_DEFAULT = ("guro-hybrid-factored", "uniform-hybrid-factored", "guro-contextual", "uniform-contextual", "trueskill")
# Without features the factored hybrid is a score per item in O(n) memory; the independent model needs O(n^2).
_FEATURE_FREE = ("guro-hybrid-factored", "bald-hybrid-factored", "uniform-hybrid-factored", "trueskill")


@dataclass(frozen=True, eq=False)
class WithUntrainedFeatures(Dataset):
    """A data set with a second feature matrix, from a network with random weights."""

    untrained: Floats | None = None


def build(dataset: Dataset, wishes: Wishes) -> list[Setting]:
    budget = wishes.budget_or(8_000)
    plan = as_the_paper(budget, every=budget // 20, refit_every=25)
    items, made = dataset.items, dataset.comparisons
    bare = Dataset(replace(items, content={}), dataset.truth, made, computed=dataset.computed)
    task = HumanTask(bare, bradley_terry(items, made), unit_to_hold_out(made))
    if not items.features.shape[1]:
        return [Setting("held-out", task, plan, _FEATURE_FREE, seeds=20, hybrid_candidates=CANDIDATES)]
    main = Setting("held-out", task, plan, _COMPARED, seeds=20, hybrid_candidates=CANDIDATES)
    short = replace(main, plan=replace(plan, budget=budget // 2))
    # The first half of the items gets as many answers per item as in the paper, about three.
    first = max(2, round(STARTING * len(items)))
    later = replace(task, first=first, after=budget * 3 // 4)
    settings = [
        main,
        short.with_defaults(_BY_DEFAULT, seeds=20),
        replace(main, name="items-added", task=later, plan=replace(plan, budget=budget * 9 // 8), algorithms=_PAPERS),
        # The cost of choosing among random candidates: half a run that looks at all pairs.
        replace(short, name="all-pairs", algorithms=("guro-hybrid-factored",), hybrid_candidates=None),
    ]
    if isinstance(dataset, WithUntrainedFeatures) and dataset.untrained is not None:
        untrained = with_components(bare, dataset.untrained, FEATURES)
        settings.append(
            replace(short, name="untrained-features", task=replace(task, dataset=untrained), algorithms=_PAPERS)
        )
    # Features without any information: each item has those of another item.
    order = np.random.default_rng(0).permutation(len(items))
    others = with_features(bare, items.features[order], (dataset.computed.get("features"), order))
    settings.append(
        replace(short, name="shuffled-features", task=replace(task, dataset=others), algorithms=_UNINFORMED)
    )
    return settings


def _with_untrained(dataset: Dataset, folder: Path) -> Dataset:
    """The data set with the features in untrained.npy (a row per item), if the folder has that file."""
    path = folder / "untrained.npy"
    if not path.is_file():
        return dataset
    untrained = matrix_of(dataset, path)
    given = (dataset.items, dataset.truth, dataset.comparisons, dataset.notes, dataset.computed)
    return WithUntrainedFeatures(*given, untrained)


def _figures(tag: str, what: str, truth: str) -> tuple[Figure, ...]:
    words = "Share of held-out answers predicted wrong"
    return (
        *figures(tag, what, truth),
        Figure(
            f"{tag}-added",
            f"{what}: half of them arrive later",
            "Figure 'empirical error', items added",
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
