"""`ordinate simulate recorded` by the default algorithm: processor time of 1,000 answers, and of what it is a multiple.

Items, features and answers are made with the sizes of one recorded set, 497 movie reviews with embeddings of 384
columns, of which 146 hold 90 % of the variance. The time is that of the whole run, the prior variances that are
fitted on the way and the measurements included, but without the start of Python.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.machine import best_of
from benchmarks.measure import Row, apart
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.projection import principal_components
from ordinate.datasets.dataset import Dataset
from ordinate.simulation.run import Plan, run_once
from ordinate.simulation.tasks import RecordedTask

ITEMS, COLUMNS, ANSWERS = 497, 384, 9_927
BUDGET, EVERY = 3_000, 500
KEPT = {"ordinate, columns by --pca 0.9": 0.9, "ordinate, all columns": None}


def recorded(items: int, columns: int, answers: int, keep: float | None) -> Dataset:
    """Half of what the items differ by is in their features, whose columns hold less and less."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(items, columns)) * np.exp(-np.arange(columns) / 170.0)
    features = features @ np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    scores = features @ rng.normal(size=columns) / np.sqrt(np.square(features).sum(axis=1).mean()) + rng.normal(
        size=items
    )
    left = rng.integers(0, items, answers)
    right = (left + rng.integers(1, items, answers)) % items
    won = rng.random(answers) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    ids = [f"item-{row}" for row in range(items)]
    given = [
        Comparison(ids[one], ids[other], "left" if first else "right", f"person-{number % 50}")
        for number, (one, other, first) in enumerate(zip(left.tolist(), right.tolist(), won.tolist(), strict=True))
    ]
    used = features if keep is None else principal_components(features, keep)
    return Dataset(Items(ids, used), comparisons=tuple(given))


def thousand_answers(dataset: Dataset, budget: int) -> float:
    """Seconds of processor time; what is compiled has been, by a short run."""
    task = RecordedTask(dataset)
    run_once(task, Plan(30, 30), "guro-hybrid", seed=1)
    begun = time.process_time()
    run_once(task, Plan(budget, EVERY), "guro-hybrid", seed=0)
    return 1e3 / budget * (time.process_time() - begun)


def rows(quick: bool) -> Iterator[Row]:
    items, columns, answers, budget = (30, 8, 300, 60) if quick else (ITEMS, COLUMNS, ANSWERS, BUDGET)
    side = 256 if quick else 2048
    square = np.random.default_rng(0).normal(size=(side, side))
    for who, keep in KEPT.items():
        dataset = recorded(items, columns, answers, keep)
        spent, peak, failure = apart(thousand_answers, dataset, budget, limit=600.0)
        product = best_of(lambda: square @ square, 5)
        times = f"{spent / product:.0f} times a product of {side:,} x {side:,}"
        note = failure or f"{times}, which took {1e3 * product:.0f} ms"
        d = dataset.items.features.shape[1]
        yield Row("simulated", "1,000 answers", who, items, d, budget, spent, spent, spent, 1, peak, note)
