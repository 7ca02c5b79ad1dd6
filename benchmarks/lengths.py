"""Judges who prefer long items: what that does to a fit that knows of it, and to one that does not.

python -m benchmarks.lengths --seeds 8

simulates judges of 60 items, who differ in their sharpness and in what a standard deviation of the log length adds for
them; in some worlds long items are better.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ordinate.learning.expectation_propagation import Propagation
from ordinate.learning.expected_error import expected_error
from ordinate.learning.fitted import People, fitted
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers, SiteModel
from ordinate.learning.models.hybrid import Hybrid
from ordinate.simulation.metrics import ordering_error

ITEMS, COLUMNS = 60, 5


class World(NamedTuple):
    """Of each judge: lean by length, answers, whether a model, sharpness. `better`: how much long items are."""

    leans: Sequence[float]
    each: Sequence[int]
    models: Sequence[bool]
    sharp: Sequence[float]
    better: float = 0.0


PEOPLE, BESIDE = [False] * 4, [False, False, False, True]
WORLDS = {
    "3 people": World([0, 0, 0], [100] * 3, PEOPLE[:3], [1, 1, 1]),
    "3 people, long items are better": World([0, 0, 0], [60] * 3, PEOPLE[:3], [1, 1, 1], 1.5),
    "4 people, long items are better, one is less sharp (0.2)": World([0] * 4, [100] * 4, PEOPLE, [1, 1, 1, 0.2], 1.5),
    "3 people and a model, long items are better, the model is less sharp (0.3)": World(
        [0] * 4, [60, 60, 60, 300], BESIDE, [1, 1, 1, 0.3], 1.5
    ),
    "3 people and a model, long items are better, the model is sharper (3)": World(
        [0] * 4, [60, 60, 60, 300], BESIDE, [1, 1, 1, 3], 1.5
    ),
    "3 people and a model with b = 1": World([0, 0, 0, 1], [60, 60, 60, 300], BESIDE, [1] * 4),
    "1 person and a model with b = 1": World([0, 1], [100, 300], [False, True], [1, 1]),
    "3 people with b = -0.8, 0, 0.8": World([-0.8, 0, 0.8], [100] * 3, PEOPLE[:3], [1] * 3),
    "3 people with b = 0.8 each": World([0.8] * 3, [100] * 3, PEOPLE[:3], [1] * 3),
}


def run(seed: int, world: World) -> list[float]:
    """Whether leans are found; the ordering error and the expected one of a fit without them, and with them."""
    rng = np.random.default_rng([seed, 29])
    features = rng.normal(size=(ITEMS, COLUMNS)) / np.sqrt(COLUMNS)
    length = rng.normal(size=ITEMS)
    length /= length.std()
    truth = np.sqrt(2.0) * features @ rng.normal(size=COLUMNS) + rng.normal(size=ITEMS) + world.better * length
    who = rng.permutation(np.repeat(np.arange(len(world.leans)), world.each))
    left = rng.integers(0, ITEMS, len(who))
    right = (left + rng.integers(1, ITEMS, len(who))) % ITEMS
    longer = length[left] - length[right]
    margin = np.asarray(world.sharp)[who] * (truth[left] - truth[right]) + np.asarray(world.leans)[who] * longer
    answers = Answers(left, right, (rng.random(len(who)) < expit(margin)).astype(np.float64))
    models = np.array(world.models, dtype=np.bool_)
    people = People(who, np.ones(len(models), dtype=np.bool_), np.ones(len(who), dtype=np.bool_), models, longer)
    found: list[float] = []
    for lengths in (False, True):
        start, weigh = Hybrid(likelihood=Cumulative()), any(world.models)
        used = fitted(start, features, answers, people, features_alone=0.0, weigh=weigh, sides=True, lengths=lengths)
        model = used.model
        assert isinstance(model, SiteModel)
        posterior = Propagation(model, features, used.applied(answers, people)).posterior(model.prior)
        found += [ordering_error(posterior.mean, truth), expected_error(posterior, np.zeros(ITEMS, dtype=np.int64))]
    return [float(used.length_lean is not None), *found]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lengths", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    print("| judges | found | error without | error with it | expected / true without | with it |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, world in WORLDS.items():
        rows = np.array([run(seed, world) for seed in range(options.seeds)])
        _, without, expected, with_it, expected_with = rows.mean(axis=0)
        print(
            f"| {name} | {int(rows[:, 0].sum())} of {options.seeds} | {without:.3f} | {with_it:.3f} | "
            f"{expected / without:.2f} | {expected_with / with_it:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
