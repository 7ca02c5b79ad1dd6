"""X-RayAge: scores linear in image features, answers from a logistic model; in-sample and out-of-sample error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.datasets import Dataset
from ordinate.experiments.digest import FOLLOWS
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes, as_the_paper
from ordinate.experiments.sources import column_as_truth, published, recorded, required_truth, ridge
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.metrics import ordering_error
from ordinate.simulation.tasks import Learned, Trial

IN_SAMPLE, OUT_OF_SAMPLE, GAP = "in-sample error", "out-of-sample error", "generalisation gap"
FEATURES = 35
NOISE = 0.1  # the paper's lambda, for ages in years
SPREAD = 1.4
"""The standard deviation of lambda * theta_* x: 0.1 * sqrt(0.67) * 17 years, from the paper's lambda and R^2 and a
guess of the standard deviation of the ages. The lambda of a stand-in is set so that its scores have the same one."""
ALGORITHMS = (
    "guro-contextual",
    "bayes-guro-contextual-sequential",
    "bald-contextual",
    "bald-paper-contextual-sequential",
    "colstim-contextual",
    "norm-min-contextual",
    "uniform-contextual",
)
OTHER_UPDATES = ("bayes-guro-contextual", "bald-paper-contextual", "bald-contextual-sequential")
BY_DEFAULT = (
    "guro-contextual",
    "bayes-guro-contextual",
    "bald-contextual",
    "bald-paper-contextual",
    "colstim-contextual",
    "norm-min-contextual",
    "uniform-contextual",
)
_MAIN, _MAIN_BY_DEFAULT = (
    tuple(name for name in names if name != "norm-min-contextual") for names in (ALGORITHMS, BY_DEFAULT)
)


@dataclass(frozen=True, eq=False)
class LinearTask:
    """A random sample of the items, ordered by scores (n,) that are linear in their features."""

    dataset: Dataset
    scores: Floats = field(metadata=FOLLOWS)
    noise: float
    sample: int

    def build(self, seed: int) -> Trial:
        rows = _sample(len(self.scores), self.sample, seed)
        truth = self.scores[rows]
        return Trial(
            self.dataset.items.take(rows),
            LogisticAnnotators(truth, self.noise, seed),
            lambda study: {IN_SAMPLE: ordering_error(study.scores(), truth)},
        )


@dataclass(frozen=True, eq=False)
class HalvesTask:
    """The lower half of a sample (by the data set's truth) is ordered; features alone place the upper half."""

    dataset: Dataset
    scores: Floats = field(metadata=FOLLOWS)
    noise: float
    sample: int

    def build(self, seed: int) -> Trial:
        assert self.dataset.truth is not None  # `build` below refuses it
        rows = _sample(len(self.scores), self.sample, seed)
        rows = rows[np.argsort(self.dataset.truth[rows], kind="stable")]
        lower, upper = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        inside, outside = self.scores[lower], self.scores[upper]
        unseen = self.dataset.items.take(upper)
        place = {item: k for k, item in enumerate(unseen.ids)}

        def evaluate(study: Learned) -> Mapping[str, float]:
            ordering = study.ordering(unseen)
            predicted = np.empty(len(unseen))
            predicted[[place[item] for item in ordering.ids]] = ordering.scores
            within, beyond = ordering_error(study.scores(), inside), ordering_error(predicted, outside)
            return {IN_SAMPLE: within, OUT_OF_SAMPLE: beyond, GAP: beyond - within}

        return Trial(self.dataset.items.take(lower), LogisticAnnotators(inside, self.noise, seed), evaluate)


def _sample(count: int, size: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng([seed, 0xA6E]).choice(count, min(size, count), replace=False).astype(np.int64)


def build(noise: float | None, dataset: Dataset, wishes: Wishes) -> list[Setting]:
    """The settings. noise: lambda; None sets it from SPREAD."""
    scores, _ = ridge(dataset.items.features, required_truth(dataset))
    # Rounded, since the last digits of the scores differ from one kind of processor to another.
    level = round(SPREAD / float(scores.std()), 9) if noise is None else noise
    # Each run gets a copy: keep the features and drop content and answers, which it does not need.
    bare = replace(dataset, items=replace(dataset.items, content={}), comparisons=())
    budget = wishes.budget_or(1_200)
    plan = as_the_paper(budget, every=budget // 40, refit_every=1)
    whole, halves = LinearTask(bare, scores, level, 200), HalvesTask(bare, scores, level, 300)
    main = Setting("in-sample", whole, plan, ALGORITHMS, seeds=100)
    generalisation = Setting("generalisation", halves, plan, _MAIN, seeds=100)
    return [
        main,
        generalisation,
        main.with_defaults(BY_DEFAULT, seeds=20),
        generalisation.with_defaults(_MAIN_BY_DEFAULT, seeds=20),
        # Refits where the paper has sequential updates, and sequential updates of exact BALD.
        Setting("other-updates", whole, plan, OTHER_UPDATES, seeds=100),
        # GURO with what the paper found to make no difference.
        Setting("refit-every-25", whole, replace(plan, refit_every=25), ("guro-contextual",), seeds=100),
        Setting("covariance-renewed", whole, replace(plan, renew_covariance=True), ("guro-contextual",), seeds=100),
    ]


def _figures(stand_in: str) -> tuple[Figure, ...]:
    what = f"X-RayAge's experiment on {stand_in}" if stand_in else "X-RayAge"
    tag = "-stand-in" if stand_in else ""
    return (
        Figure(
            f"x-ray-age{tag}-in-sample",
            what,
            "Figure 'X-RayAge', left, and 'NormMin included'",
            "one standard deviation",
            (
                Panel("in-sample", IN_SAMPLE, "Ordering error, 200 items", "As in the paper's figure", _MAIN),
                Panel("in-sample", IN_SAMPLE, "Ordering error, 200 items", "NormMin included"),
                Panel("in-sample", IN_SAMPLE, "Ordering error, 200 items", "On a logarithmic axis", log=True),
                Panel("in-sample-defaults", IN_SAMPLE, "Ordering error, 200 items", "With our defaults"),
                Panel("other-updates", IN_SAMPLE, "Ordering error, 200 items", "Other updates of the posterior"),
            ),
        ),
        Figure(
            f"x-ray-age{tag}-generalisation",
            f"{what}: generalisation",
            "Figure 'X-RayAge', right, and the in-sample error during it",
            "95 % confidence interval",
            (
                Panel("generalisation", GAP, "Out-of-sample minus in-sample error", "Generalisation gap"),
                Panel("generalisation", IN_SAMPLE, "Ordering error, lower half", "In-sample, during it"),
                Panel("generalisation", OUT_OF_SAMPLE, "Ordering error, upper half", "Out of sample"),
                Panel("generalisation-defaults", GAP, "Out-of-sample minus in-sample error", "With our defaults"),
            ),
        ),
    )


def _jokes(folder: Path) -> Dataset:
    return column_as_truth(recorded(folder, FEATURES), folder, "bws_score")


X_RAY_AGE: Experiment = {
    "x-ray-age": Data(lambda folder: published("x-ray-age", folder, FEATURES), "", partial(build, NOISE), _figures("")),
    "gppl_humour": Data(_jokes, "chest X-rays and ages", partial(build, None), _figures("4,030 jokes and sentences")),
}
