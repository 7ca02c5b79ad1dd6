"""Ordering errors under the rules of scaling: on ordinary features, with an outlying row, with rare flags.

    python benchmarks/scaling.py [--seeds 16] [--budget 300] [--districts items.csv]

Each study has simulated annotators and the default algorithm, refitted every 10 answers. The table in
docs/algorithms.md is from this command with 20 seeds. --districts adds recorded data: a table with columns x, y, area,
n_neighbours and model_mean_deprivation.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ordinate import Items, Study
from ordinate.data.arrays import Floats
from ordinate.errors import FeatureWarning
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.metrics import ordering_error

DISTRICTS = ("x", "y", "area", "n_neighbours")


class World(NamedTuple):
    """features (n, d), whether they are named columns, and the true scores (n,)."""

    features: Floats
    named: bool
    truth: Floats


def linear(rng: np.random.Generator, items: int) -> World:
    """Scores that are linear in six normal features, plus a term of their own."""
    features = rng.normal(size=(items, 6))
    truth = features @ rng.normal(size=6) * 2.0 / np.sqrt(6.0) + 0.7 * rng.normal(size=items)
    return World(features, True, truth)


def outlying_row(rng: np.random.Generator, named: bool) -> World:
    world = linear(rng, 100)
    features = world.features.copy()
    features[3] *= 1e4
    return World(features, named, world.truth)


def flags(rng: np.random.Generator, count: int) -> World:
    """Each on one item of 200, and without a meaning."""
    world = linear(rng, 200)
    return world._replace(features=np.column_stack([world.features, np.eye(200)[:, :count]]))


def log_normal(rng: np.random.Generator, of_logarithms: bool) -> World:
    logarithms = rng.normal(size=(100, 6))
    features = np.exp(logarithms)
    explained = logarithms * 2.0 / np.sqrt(6.0) if of_logarithms else features / 3.0
    return World(features, True, explained @ rng.normal(size=6) + 0.7 * rng.normal(size=100))


def districts(path: str) -> Callable[[np.random.Generator], World]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    features = np.array([[float(row[name]) for name in DISTRICTS] for row in rows])
    truth = np.array([float(row["model_mean_deprivation"]) for row in rows])

    def draw(rng: np.random.Generator) -> World:
        chosen = rng.choice(len(rows), 150, replace=False)
        return World(features[chosen], True, 2.0 * truth[chosen] / truth.std())

    return draw


WORLDS: dict[str, Callable[[np.random.Generator], World]] = {
    "ordinary features": lambda rng: linear(rng, 100),
    "named columns, one row 10,000 times as large": lambda rng: outlying_row(rng, True),
    "a matrix with such a row": lambda rng: outlying_row(rng, False),
    "a flag on one item of 200": lambda rng: flags(rng, 1),
    "20 flags, each on one item of 200": lambda rng: flags(rng, 20),
    "log-normal columns that enter the scores as they are": lambda rng: log_normal(rng, False),
    "log-normal columns whose logarithms enter the scores": lambda rng: log_normal(rng, True),
}


def error(world: World, scaling: str, seed: int, budget: int) -> float:
    ids = [str(row) for row in range(len(world.truth))]
    names = [f"column {number}" for number in range(world.features.shape[1])] if world.named else None
    items = Items(ids, world.features, feature_names=names)
    study = Study.create(items, seed=seed, scaling=scaling, refit_every=10)  # type: ignore[arg-type]
    annotators = LogisticAnnotators(world.truth, seed=seed)
    for number in range(budget):
        query = study.ask(f"annotator {number}")
        study.tell(query.id, annotators.answer(int(query.left), int(query.right)))
    return ordering_error(study.scores(), world.truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--districts", help="items.csv of recorded districts")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FeatureWarning)
    worlds = WORLDS if arguments.districts is None else {**WORLDS, "districts": districts(arguments.districts)}
    print("| features | standard | robust |\n|---|--:|--:|")
    for name, draw in worlds.items():
        cells = []
        for scaling in ("standard", "robust"):
            found = [
                error(draw(np.random.default_rng(seed)), scaling, seed, arguments.budget)
                for seed in range(arguments.seeds)
            ]
            spread = np.std(found, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
            cells.append(f"{np.mean(found):.3f} ± {spread:.3f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
