"""Annotators who toss coins: are they found, and what are weights worth?

python -m benchmarks.annotators --seeds 20
python -m benchmarks.annotators --recorded ../shared/data/sentimentit_movie_reviews --seeds 4

The first form simulates studies of 100 items by 12 annotators in turn, of whom four toss coins and the others differ in
sharpness (log-normal, 0.5); `--people`, `--coins` and `--spread` say otherwise. The second one takes recorded answers:
a fifth of the pairs is held out, and a third of the annotators, or none, is replaced by coins. `out`: without the
answers of the coins. AUC: of P(coin), in telling coins from others who gave 10 decided answers or more.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata

from benchmarks.calibration import COLUMNS, ITEMS, WORLDS
from ordinate.data.comparison_formats import read_comparison_file
from ordinate.data.comparisons import OUTCOME_VALUES, Comparison
from ordinate.data.items import Items
from ordinate.simulation.metrics import held_out_error, ordering_error
from ordinate.study.study import Study

PER_ITEM = (3, 5, 10)
WAYS = ("in", "out", "weights")


def study_of(items: Items, seed: int, way: str) -> Study:
    return Study.create(items, seed=seed, weigh_annotators=way == "weights")


def area(coin: dict[str, float], tossing: set[str]) -> float:
    """Under the receiver operating characteristic."""
    ranks = rankdata(list(coin.values()))
    those = np.array([name in tossing for name in coin])
    first = int(those.sum())
    return float((ranks[those].sum() - first * (first + 1) / 2) / (first * (len(those) - first)))


def chances(study: Study, least: int = 10) -> dict[str, float]:
    """P(coin) by annotator; where too few answers are given to show it, agreement tells the rest apart."""
    found = study.annotator_quality(fewest=least)
    return {str(one.name): one.coin for one in found.people if one.coin is not None}


def simulated(seed: int, people: int, coins: int, spread: float) -> list[list[float]]:
    """At each of `PER_ITEM`: errors in `WAYS`, and the AUC of the study with weights."""
    by_features, by_items, _ = WORLDS["as the fixed scales expect"]
    rng = np.random.default_rng([seed, 13])
    features = rng.normal(size=(ITEMS, COLUMNS))
    truth = features @ (np.sqrt(by_features / COLUMNS) * rng.normal(size=COLUMNS))
    truth += np.sqrt(by_items) * rng.normal(size=ITEMS)
    sharpness = np.exp(spread * rng.normal(size=people))
    sharpness[:coins] = 0.0
    items = Items([str(row) for row in range(ITEMS)], features)
    errors: dict[str, list[float]] = {}
    areas = []
    for way in WAYS:
        study, answers = study_of(items, seed, way), np.random.default_rng([seed, 17])
        errors[way] = []
        for answer in range(ITEMS * max(PER_ITEM)):
            person = answer % people
            if way != "out" or person >= coins:
                query = study.ask(f"person {person:02}")
                margin = truth[int(query.left)] - truth[int(query.right)]
                study.tell(query.id, "left" if answers.random() < expit(sharpness[person] * margin) else "right")
            if answer + 1 in [ITEMS * per_item for per_item in PER_ITEM]:
                errors[way].append(ordering_error(study.scores(), truth))
                if way == "weights":
                    tossing = {f"person {coin:02}" for coin in range(coins)}
                    areas.append(area(chances(study), tossing) if coins else float("nan"))
    return [[*(errors[way][k] for way in WAYS), areas[k]] for k in range(len(PER_ITEM))]


def recorded(folder: Path, seed: int, per_item: float, corrupted: bool) -> list[float]:
    """Held-out errors and log losses in `WAYS`, and the AUC where there are coins."""
    items = Items.read(str(folder / "items.csv"), features=str(folder / "features.npy"))
    given = read_comparison_file(folder / "comparisons.csv").comparisons
    rng = np.random.default_rng([seed, 19])
    pairs = [tuple(sorted((one.left, one.right))) for one in given]
    names = sorted(set(pairs))
    held = {names[place] for place in rng.permutation(len(names))[: len(names) // 5]}
    train = [one for one, pair in zip(given, pairs, strict=True) if pair not in held]
    train = [train[place] for place in rng.permutation(len(train))[: round(per_item * len(items))]]
    people = sorted({str(one.annotator) for one in train})
    tossing = set(rng.permutation(people)[: len(people) // 3].tolist()) if corrupted else set()
    tossed = [
        one._replace(outcome="left" if rng.random() < 0.5 else "right") if one.annotator in tossing else one
        for one in train
    ]
    rest = [one for one, pair in zip(given, pairs, strict=True) if pair in held]
    losses, errors, found = [], [], float("nan")
    for way in WAYS:
        study = study_of(items, seed, way)
        study.record([one for one in tossed if not (way == "out" and one.annotator in tossing)])
        error, loss = predicted(study, rest)
        errors.append(error)
        losses.append(loss)
        if way == "weights" and corrupted:
            found = area(chances(study), tossing)
    return [*errors, *losses, found]


def predicted(study: Study, rest: list[Comparison]) -> tuple[float, float]:
    """The share of held-out answers that are predicted wrongly, and the mean log loss."""
    left, right = np.array(study.rows(one.left for one in rest)), np.array(study.rows(one.right for one in rest))
    outcome = np.array([OUTCOME_VALUES[one.outcome] for one in rest])
    mean, variance = study.posterior().belief.differences(left, right)
    chance = expit(mean / np.sqrt(1.0 + np.pi * variance / 8.0))
    loss = -np.log(np.where(outcome == 1.0, chance, 1.0 - chance))
    return held_out_error(study.scores(), left, right, outcome), float(loss.mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.annotators",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--recorded", type=Path, metavar="FOLDER")
    parser.add_argument("--per-item", type=float, default=5.0, help="answers per item, of recorded ones")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--people", type=int, default=12)
    parser.add_argument("--coins", type=int, default=4)
    parser.add_argument("--spread", type=float, default=0.5, help="of the logarithm of people's sharpness")
    options = parser.parse_args()
    if options.recorded is None:
        print("| answers of each | coins in | coins out | weights | AUC |")
        print("|--:|--:|--:|--:|--:|")
        world = (options.people, options.coins, options.spread)
        runs = np.array([simulated(seed, *world) for seed in range(options.seeds)])
        for per_item, row in zip(PER_ITEM, runs.mean(axis=0), strict=True):
            print(f"| {per_item * ITEMS // options.people} | " + " | ".join(f"{value:.3f}" for value in row) + " |")
        return
    print("| recorded | coins | wrong: in | out | weights | log loss: in | out | weights | AUC |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for corrupted in (False, True):
        runs = np.array(
            [recorded(options.recorded, seed, options.per_item, corrupted) for seed in range(options.seeds)]
        )
        cells = " | ".join("" if np.isnan(value) else f"{value:.3f}" for value in runs.mean(axis=0))
        print(f"| {options.recorded.name} | {'a third' if corrupted else 'none'} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
