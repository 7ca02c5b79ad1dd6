"""Simulated scores of which the features explain a given share: how much features and the choice of pairs are worth.

Two experiments that are not in the paper, and a third that mixes recorded features with those of other items.

In a world of n items with d features, the score of an item is spread * (sqrt(share) u + sqrt(1 - share) w): u is linear
in its features, w is not, and both have variance 1 over the items. People answer by the logistic model, so spread is
the size of the scores in units of the noise of the answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.items import Items
from ordinate.datasets import Dataset
from ordinate.errors import InvalidInput
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes
from ordinate.experiments.human import HELD_OUT, HumanTask, bradley_terry, unit_to_hold_out
from ordinate.experiments.sources import recorded, with_features
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.metrics import ordering_error
from ordinate.simulation.run import Plan
from ordinate.simulation.tasks import Trial

ERROR = "ordering error"
SHARES = (0, 25, 50, 75, 100)  # per cent
PER_ITEM = 5  # comparisons
FEATURES = 75  # components of recorded features


@dataclass(frozen=True)
class World:
    """The world of a seed; every number may be varied."""

    items: int = 100
    columns: int = 10
    share: float = 0.5
    spread: float = 2.0

    def build(self, seed: int) -> Trial:
        rng = np.random.default_rng([seed, 0xF5])
        features = rng.standard_normal((self.items, self.columns))
        linear, rest = features @ rng.standard_normal(self.columns), rng.standard_normal(self.items)
        scores = self.spread * (np.sqrt(self.share) * _unit(linear) + np.sqrt(1.0 - self.share) * _unit(rest))
        return Trial(
            Items([str(item) for item in range(self.items)], features),
            LogisticAnnotators(scores, 1.0, seed),
            lambda study: {ERROR: ordering_error(study.scores(), scores)},
        )


def _unit(values: Floats) -> Floats:
    standardised: Floats = (values - values.mean()) / values.std()
    return standardised


COMPARED = ("guro-hybrid", "guro-contextual", "guro-independent", "uniform-hybrid")
LARGER = ("guro-hybrid-factored", "guro-contextual", "guro-independent", "uniform-hybrid-factored")
_SHARE = "Share of the score that the features explain (%)"
_OWN = "Share of the features that is the item's own (%)"


def _shares(_: Dataset, wishes: Wishes) -> list[Setting]:
    budget = wishes.budget_or(PER_ITEM * World().items)
    plan = Plan(budget, max(1, budget // 5))
    return [Setting(f"share-{share}", World(share=share / 100), plan, COMPARED, seeds=20) for share in SHARES]


def _mixed(dataset: Dataset, wishes: Wishes) -> list[Setting]:
    """Each item's features mixed with those of another item, so that less and less of them is about the item."""
    if not dataset.items.features.shape[1]:
        raise InvalidInput("this experiment needs items with features")
    budget = wishes.budget_or(len(dataset.items))
    plan = Plan(budget, max(1, budget // 5))
    own = dataset.items.features
    other = own[np.random.default_rng(0).permutation(len(own))]
    target = bradley_terry(dataset.items, dataset.comparisons)
    settings = []
    for share in SHARES:
        features = np.sqrt(share / 100) * own + np.sqrt(1.0 - share / 100) * other
        mixed = with_features(dataset, features, (dataset.computed.get("features"), share))
        task = HumanTask(mixed, target, unit_to_hold_out(dataset.comparisons))
        settings.append(Setting(f"share-{share}", task, plan, LARGER, seeds=20))
    return settings


def _share_figure(tag: str, what: str, part: str, words: str, xlabel: str, hybrid: str) -> tuple[Figure, ...]:
    across = tuple((share, f"share-{share}") for share in SHARES)
    first = across[0][1]
    return (
        Figure(
            tag,
            what,
            "Not in the paper: the gain of the hybrid model by what the features explain",
            "95 % confidence interval",
            (
                Panel(first, part, words, "At the end", across=across, xlabel=xlabel),
                Panel(first, part, "Error minus that of GURO hybrid", "The hybrid's gain", (), across, xlabel, hybrid),
            ),
        ),
    )


FEATURE_SHARE: Experiment = {
    "worlds": Data(
        lambda folder: _nothing(folder),
        "",
        _shares,
        _share_figure(
            "feature-share", "What features are worth: simulated", ERROR, "Ordering error", _SHARE, "guro-hybrid"
        ),
        needs_folder=False,
    ),
}
FEATURE_MIXTURE: Experiment = {
    "sentimentit_movie_reviews": Data(
        lambda folder: recorded(folder, FEATURES),
        "",
        _mixed,
        _share_figure(
            "feature-mixture",
            "What features are worth: 497 movie reviews",
            HELD_OUT,
            "Share of held-out answers predicted wrong",
            _OWN,
            "guro-hybrid-factored",
        ),
    ),
}

VARIED = {
    "spread": ("Spread of the scores, in units of the noise", (1, 2, 4, 8)),
    "items": ("Number of items", (25, 50, 100, 200)),
    "columns": ("Number of features", (2, 5, 10, 30)),
    "share": (_SHARE, SHARES),
}
ACTIVE = ("guro-hybrid", "uniform-hybrid")


def _world(name: str, value: int) -> World:
    if name == "share":
        return World(share=value / 100)
    return replace(World(), **{name: value})


def _varied(_: Dataset, wishes: Wishes) -> list[Setting]:
    settings = []
    for name, (_label, values) in VARIED.items():
        for value in values:
            world = _world(name, value)
            budget = wishes.budget_or(PER_ITEM * world.items)
            settings.append(Setting(f"{name}-{value}", world, Plan(budget, max(1, budget // 5)), ACTIVE, seeds=20))
    longest = wishes.budget_or(4 * PER_ITEM * World().items)
    settings.append(Setting("budget", World(), Plan(longest, max(1, longest // 20)), ACTIVE, seeds=20))
    return settings


_GAIN = "Error of random pairs minus GURO's"
ACTIVE_CHOICE: Experiment = {
    "worlds": Data(
        lambda folder: _nothing(folder),
        "",
        _varied,
        (
            Figure(
                "active-choice",
                "What choosing pairs is worth, with the hybrid model",
                "Not in the paper: the gain of GURO over random pairs by noise, items, features and budget",
                "95 % confidence interval",
                (
                    *(
                        Panel(
                            f"{name}-{values[0]}",
                            ERROR,
                            _GAIN,
                            f"{PER_ITEM} comparisons per item",
                            ACTIVE,
                            tuple((value, f"{name}-{value}") for value in values),
                            label,
                            "guro-hybrid",
                        )
                        for name, (label, values) in VARIED.items()
                    ),
                    Panel("budget", ERROR, _GAIN, "By budget, 100 items", ACTIVE, minus="guro-hybrid"),
                ),
            ),
        ),
        needs_folder=False,
    ),
}


def _nothing(_: Path) -> Dataset:
    """Each seed draws its own world."""
    return Dataset(Items(["none"]))
