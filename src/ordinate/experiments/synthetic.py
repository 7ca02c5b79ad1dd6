"""The appendix's synthetic example: 100 items, 10 standard normal features, the loss and the paper's bound on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.comparisons import OUTCOME_VALUES
from ordinate.datasets import Dataset, draw_synthetic
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes, as_the_paper
from ordinate.experiments.sources import required_truth
from ordinate.experiments.theory import Truth, bounds_over_run
from ordinate.learning.models import Answers
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.metrics import ordering_error
from ordinate.simulation.tasks import Learned, Trial

NOISE = 0.5
THRESHOLD = 0.2  # of the bound on P(R >= threshold)
ERROR, EXPECTED = "ordering error", "expected error"
ALGORITHMS = (
    "guro-contextual",
    "bayes-guro-contextual-sequential",
    "bald-contextual",
    "bald-paper-contextual-sequential",
    "norm-min-contextual",
    "colstim-contextual",
    "colstim-noiseless-contextual",
    "trueskill",
    "uniform-contextual",
)
BY_DEFAULT = (
    "guro-contextual",
    "bayes-guro-contextual",
    "bald-contextual",
    "bald-paper-contextual",
    "norm-min-contextual",
    "colstim-contextual",
    "trueskill",
    "uniform-contextual",
)
_CONTEXTUAL = tuple(name for name in ALGORITHMS if "contextual" in name)


def bound_part(form: str, view: str) -> str:
    return f"bound: {form} form, {view}"


@dataclass(frozen=True, eq=False)
class BoundedTask:
    """Logistic annotators, scores that are linear in the features; measures the error and every bound on it."""

    dataset: Dataset
    noise: float

    def build(self, seed: int) -> Trial:
        items, truth = self.dataset.items, required_truth(self.dataset)
        theta: Floats = np.linalg.lstsq(items.features, truth, rcond=None)[0].astype(np.float64)
        row = {item: k for k, item in enumerate(items.ids)}

        def evaluate(study: Learned) -> Mapping[str, float]:
            made = study.comparisons()
            answers = Answers(
                np.array([row[one.left] for one in made], dtype=np.int64),
                np.array([row[one.right] for one in made], dtype=np.int64),
                np.array([OUTCOME_VALUES[one.outcome] for one in made], dtype=np.float64),
            )
            return {
                ERROR: ordering_error(study.scores(), truth),
                EXPECTED: study.expected_error(),
                **_bounds(items.features, answers, Truth(theta, self.noise)),
            }

        return Trial(items, LogisticAnnotators(truth, self.noise, seed), evaluate)


def _bounds(features: Floats, answers: Answers, truth: Truth) -> dict[str, float]:
    rows = bounds_over_run(features, answers, [len(answers.left)], THRESHOLD, truth=truth)
    named = zip(rows["form"], rows["view"], rows["probability_bound"], strict=True)
    return {bound_part(form, view): float(bound) for form, view, bound in named}


def build(dataset: Dataset, wishes: Wishes) -> list[Setting]:
    required_truth(dataset)
    budget = wishes.budget_or(2_000)
    plan = as_the_paper(budget, every=budget // 40, refit_every=10)
    main = Setting("loss-and-bounds", BoundedTask(dataset, NOISE), plan, ALGORITHMS, seeds=100)
    return [main, main.with_defaults(BY_DEFAULT, seeds=20)]


_VIEWS = ("verifiable", "unverifiable")
FIGURES = (
    Figure(
        "synthetic-loss",
        "Synthetic: 100 items, 10 features",
        "Figure 'Synthetic example', left: the risk",
        "one standard error",
        (
            Panel("loss-and-bounds", ERROR, "Ordering error", "As the paper runs it"),
            Panel("loss-and-bounds", ERROR, "Ordering error", "On a logarithmic axis", log=True),
            Panel("loss-and-bounds-defaults", ERROR, "Ordering error", "With our defaults"),
        ),
        reference=True,
    ),
    Figure(
        "synthetic-bounds",
        "Synthetic: the bound on P(ordering error ≥ 0.2), and what can be acted on",
        "Figure 'Synthetic example', right: the upper bound",
        "one standard error",
        (
            *(
                Panel(
                    "loss-and-bounds",
                    bound_part(form, view),
                    "Bound on the probability",
                    f"{words}, {view}",
                    _CONTEXTUAL,
                )
                for form, view, words in (
                    ("figure", "verifiable", "As in the paper's figure"),
                    ("figure", "unverifiable", "As in the paper's figure"),
                    ("right", "verifiable", "By Theorem 1"),
                    ("right", "unverifiable", "By Theorem 1"),
                )
            ),
            Panel("loss-and-bounds", EXPECTED, "Expected ordering error", "Under the belief", _CONTEXTUAL),
            Panel("loss-and-bounds", ERROR, "Ordering error", "True", _CONTEXTUAL),
        ),
    ),
)


def _drawn(_: Path) -> Dataset:
    return draw_synthetic(100, 10, np.random.default_rng(0))


SYNTHETIC: Experiment = {"synthetic": Data(_drawn, "", build, FIGURES, needs_folder=False)}
