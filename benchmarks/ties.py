"""Ties: half a win for each side, the cumulative logit (Rao and Kupper) or Davidson?

python -m benchmarks.ties --seeds 10
python -m benchmarks.ties --recorded comparisons.csv --recorded more.csv

The first form simulates studies in which people call it a tie if they see less than 0.8 of a difference, in the worlds
of `benchmarks.calibration`, and compares the expected error with the true one. The second one predicts held-out answers
of recorded comparisons with the columns left, right, winner: a fifth of them at a time, in five parts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

from benchmarks.calibration import COLUMNS, ITEMS, WORLDS
from ordinate.algorithms import LikelihoodName
from ordinate.data.arrays import Floats
from ordinate.data.comparison_formats import read_comparison_file
from ordinate.data.comparisons import OUTCOME_VALUES, Comparison
from ordinate.data.items import Items
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.simulation.metrics import ordering_error
from ordinate.study.study import Study

NAMES: tuple[LikelihoodName, ...] = ("logistic", "cumulative", "davidson")
PER_ITEM = (1, 3, 10)
TIE = 0.8
PARTS = 5


def simulated(world: str, likelihood: LikelihoodName, seed: int) -> list[tuple[float, float]]:
    """(expected error, true error) of a study at each of `PER_ITEM`."""
    by_features, by_items, sharpness = WORLDS[world]
    rng = np.random.default_rng([seed, 11])
    features = rng.normal(size=(ITEMS, COLUMNS))
    truth = features @ (np.sqrt(by_features / COLUMNS) * rng.normal(size=COLUMNS))
    truth += np.sqrt(by_items) * rng.normal(size=ITEMS)
    study = Study.create(Items([str(row) for row in range(ITEMS)], features), seed=seed, likelihood=likelihood)
    found = []
    for answers in range(1, ITEMS * max(PER_ITEM) + 1):
        query = study.ask(f"simulated-{answers}")
        seen = sharpness * (truth[int(query.left)] - truth[int(query.right)]) + rng.logistic()
        study.tell(query.id, "tie" if abs(seen) < TIE else "left" if seen > 0 else "right")
        if answers in [ITEMS * per_item for per_item in PER_ITEM]:
            found.append((study.expected_error(), ordering_error(study.scores(), truth)))
    return found


def held_out(comparisons: Sequence[Comparison], likelihood: LikelihoodName) -> dict[str, float]:
    """Means over held-out answers: log loss with ties and of decided answers alone, and the share predicted wrongly."""
    ids = sorted({item for one in comparisons for item in (one.left, one.right)})
    place = np.random.default_rng(0).permutation(len(comparisons)) % PARTS
    with_ties, decided, wrong = [], [], []
    for part in range(PARTS):
        study = Study.create(Items(ids), likelihood=likelihood)
        study.record([one for one, at in zip(comparisons, place, strict=True) if at != part])
        rest = [one for one, at in zip(comparisons, place, strict=True) if at == part]
        left, right = study.rows(one.left for one in rest), study.rows(one.right for one in rest)
        mean, variance = study.posterior().belief.differences(np.array(left), np.array(right))
        outcome = np.array([OUTCOME_VALUES[one.outcome] for one in rest])
        steps, mass = hermegauss(30)
        likely = chances(study.likelihood(), mean[:, None] + np.sqrt(variance)[:, None] * steps)
        wins, ties = (part @ mass / np.sqrt(2.0 * np.pi) for part in likely)
        chance = np.where(outcome == 0.5, ties, np.where(outcome == 1.0, wins, 1.0 - wins - ties))
        with_ties += (-np.log(np.maximum(chance, 1e-12))).tolist()
        some = outcome != 0.5
        decided += (-np.log(chance[some] / (1.0 - ties[some]))).tolist()
        wrong += (np.sign(mean[some]) != np.sign(outcome[some] - 0.5)).tolist()
    return {"with ties": float(np.mean(with_ties)), "decided": float(np.mean(decided)), "wrong": float(np.mean(wrong))}


def chances(likelihood: Any, margin: Floats) -> tuple[Floats, Floats]:
    """The chances that left wins and of a tie."""
    tie = getattr(likelihood, "tie", 0.0)
    if isinstance(likelihood, Cumulative):
        return expit(margin - tie), expit(margin + tie) - expit(margin - tie)
    total = 2.0 * np.cosh(margin / 2.0) + tie
    return np.exp(margin / 2.0) / total, tie / total


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ties", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recorded", action="append", default=[], metavar="FILE")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--worlds", default="as the fixed scales expect,half of it,nothing")
    options = parser.parse_args()
    if options.recorded:
        print("| comparisons | ties | likelihood | log loss with ties | of decided answers | decided ones wrong |")
        print("|---|--:|---|--:|--:|--:|")
        for file in options.recorded:
            comparisons = read_comparison_file(file).comparisons
            share = np.mean([one.outcome == "tie" for one in comparisons])
            for name in NAMES:
                found = held_out(comparisons, name)
                first = "" if name == "logistic" else f"{found['with ties']:.4f}"
                print(
                    f"| {len(comparisons):,} | {100 * share:.0f} % | {name} | {first} | {found['decided']:.4f} "
                    f"| {100 * found['wrong']:.1f} % |"
                )
        return
    print("| world | likelihood | " + " | ".join(f"{count} per item" for count in PER_ITEM) + " |")
    print("|---" * (len(PER_ITEM) + 2) + "|")
    for world in options.worlds.split(","):
        for name in NAMES:
            runs = np.array([simulated(world, name, seed) for seed in range(options.seeds)])
            expected, true = runs.mean(axis=0).T
            cells = [f"{a / b:.2f} ({b:.3f})" for a, b in zip(expected, true, strict=True)]
            print(f"| {world} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
