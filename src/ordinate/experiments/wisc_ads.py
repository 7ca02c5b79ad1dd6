"""WiscAds: texts compared by people; evaluated on held-out answers and against the Bradley-Terry order."""

from __future__ import annotations

from ordinate.datasets import Dataset
from ordinate.experiments.experiment import Data, Experiment, Figure, Panel, Setting, Wishes, as_the_paper
from ordinate.experiments.human import (
    BY_DEFAULT,
    COMPARED,
    FEATURE_FREE,
    HELD_OUT,
    TARGET,
    TRUTH,
    HumanTask,
    bradley_terry,
    unit_to_hold_out,
)
from ordinate.experiments.sources import published, recorded

FEATURES = 162


def build(dataset: Dataset, wishes: Wishes) -> list[Setting]:
    budget = wishes.budget_or(1_500)
    plan = as_the_paper(budget, every=budget // 20, refit_every=1)
    target = bradley_terry(dataset.items, dataset.comparisons)
    task = HumanTask(dataset, target, unit_to_hold_out(dataset.comparisons))
    if not dataset.items.features.shape[1]:
        return [Setting("held-out", task, plan, FEATURE_FREE, seeds=20)]
    main = Setting("held-out", task, plan, COMPARED, seeds=20)
    return [main, main.with_defaults(BY_DEFAULT, seeds=20)]


def figures(tag: str, what: str, truth: str = "") -> tuple[Figure, ...]:
    """The held-out error and the distances to the Bradley-Terry order and to the true order, if that is known."""
    panels = [
        Panel("held-out", HELD_OUT, "Share of held-out answers predicted wrong", "Held-out answers"),
        Panel("held-out", TARGET, "Share of pairs in another order", "Bradley-Terry of all answers"),
        Panel("held-out-defaults", HELD_OUT, "Share of held-out answers predicted wrong", "With our defaults"),
    ]
    if truth:
        panels.append(Panel("held-out", TRUTH, "Share of pairs in the wrong order", truth))
    shows = "Figures 'empirical error on a holdout comparison set' and 'ground truth estimated using all comparisons'"
    return (Figure(tag, what, shows, "one standard deviation", tuple(panels)),)


WISC_ADS: Experiment = {
    "wisc-ads": Data(lambda folder: published("wisc-ads", folder, FEATURES), "", build, figures("wisc-ads", "WiscAds")),
    "sentimentit_movie_reviews": Data(
        lambda folder: recorded(folder, FEATURES),
        "campaign advertisements with their texts",
        build,
        figures("wisc-ads-stand-in-reviews", "WiscAds' experiment on 497 movie reviews", "Stars of the reviewer"),
    ),
    "wiscads_no_text": Data(
        lambda folder: recorded(folder),
        "the same answers with texts",
        build,
        figures("wisc-ads-without-texts", "WiscAds without its texts: 935 advertisements, no features"),
    ),
}
