"""Are the figures of a study true? Simulated worlds, and what a study says of them against what is the case.

python -m benchmarks.calibration --rows calibration.jsonl --seeds 100 --jobs 2 --page docs/statistics.md

Each line of the file of rows is one study at one number of answers; a run that was interrupted goes on where it
stopped.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.learning.forecast import Decline
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.metrics import ordering_error
from ordinate.study.stopping import CHECK_EVERY
from ordinate.study.study import Study

START, END = "<!-- calibration: start -->", "<!-- calibration: end -->"
ITEMS, COLUMNS = 100, 15
PER_ITEM = (1, 2, 3, 5, 10)
WORLDS = {
    "as the fixed scales expect": (2.0, 1.0, 1.0),
    "features say everything": (3.0, 0.0, 1.0),
    "half of it": (1.5, 1.5, 1.0),
    "nothing": (0.0, 3.0, 1.0),
    "differences are 0.3 times as large": (0.18, 0.09, 1.0),
    "3 times as large": (18.0, 9.0, 1.0),
    "coin tosses": (2.0, 1.0, 0.0),
}
"""Variance of the scores by the features, and by items' own terms; how the differences sway the answers."""
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "fixed scales": {"coefficient_variance": 2.0, "item_variance": 1.0, "random": 0.0},
    "contextual with a fixed scale": {"algorithm": "guro-contextual", "coefficient_variance": 2.0, "random": 0.0},
    "independent with a fixed scale": {"algorithm": "guro-independent", "item_variance": 1.0, "random": 0.0},
}
BINS = 10
UNSEEN = 30
"""Items that are placed by their features alone."""
TARGETS = (0.2, 0.15, 0.1, 0.07)
GRADES = {"first ten": (10,), "four grades": (25, 50, 75)}
MISPLACED = (0.0, 0.02, 0.05, 0.1, 0.2)
"""What the rules that finish a study are tried with."""
CHECKED = 30
"""In studies with seeds below this the rules are looked at, which takes most of the time."""


class Simulated(NamedTuple):
    """A study without answers, people to ask, the true scores, and items that nobody will compare with theirs."""

    study: Study
    people: LogisticAnnotators
    truth: Floats
    unseen: Items
    new_truth: Floats


def simulated(world: str, method: str, seed: int) -> Simulated:
    by_features, by_items, sharpness = WORLDS[world]
    rng = np.random.default_rng([seed, 7])
    features = rng.normal(size=(ITEMS, COLUMNS))
    theta = np.sqrt(by_features / COLUMNS) * rng.normal(size=COLUMNS)
    truth = features @ theta + np.sqrt(by_items) * rng.normal(size=ITEMS)
    new_features = rng.normal(size=(UNSEEN, COLUMNS))
    new_truth = new_features @ theta + np.sqrt(by_items) * rng.normal(size=UNSEEN)
    unseen = Items([f"new {row}" for row in range(UNSEEN)], new_features)
    study = Study.create(Items([str(row) for row in range(ITEMS)], features), seed=seed, **METHODS[method])
    return Simulated(study, LogisticAnnotators(truth, noise=sharpness, seed=seed), truth, unseen, new_truth)


def run(world: str, method: str, seed: int, per_item: Iterable[int]) -> Iterator[dict[str, Any]]:
    """One study; a row each time that it has so many answers per item, the last one with what its rules would do."""
    study, people, truth, unseen, new_truth = simulated(world, method, seed)
    sharpness = WORLDS[world][2]
    counts = [ITEMS * per for per in per_item]
    checks: list[list[float]] = []
    for answers in range(1, max(counts) + 1):
        query = study.ask(f"simulated-{answers}")
        study.tell(query.id, people.answer(int(query.left), int(query.right)))
        if method == "default" and seed < CHECKED and answers % CHECK_EVERY == 0:
            checks.append([answers, *checked(study, None if sharpness == 0.0 else truth)])
        if answers in counts:
            # Of coins, no order is the right one.
            row = measured(study, truth, np.full(ITEMS, 0.5) if sharpness == 0.0 else None)
            row |= placed(study, unseen, new_truth, truth)
            if answers == max(counts):
                row["checks"] = checks
            yield {"world": world, "method": method, "seed": seed, "per_item": answers // ITEMS, **row}


def whole(task: tuple[str, str, int, list[int]]) -> list[dict[str, Any]]:
    """All rows of one study."""
    return list(run(*task))


def checked(study: Study, truth: Floats | None) -> list[float]:
    """What the rules that finish a study look at, and what is the case.

    Whether the answers are better than coins, the expected error, the upper end of its interval, the true error; and
    for each of `GRADES` the upper end of the share of misplaced items, and the true one. Truth None: no order is right.
    """
    reliability = study.reliability()
    found = [float(bool(reliability.better_than_coins)), reliability.expected_error, reliability.error_high]
    found.append(0.5 if truth is None else ordering_error(study.scores(), truth))
    for cuts in GRADES.values():
        ordering = study.ordering(cuts=cuts)
        assert ordering.grades is not None
        wrong = 1.0
        if truth is not None:
            ranks = true_ranks(truth)[[int(item) for item in ordering.ids]]
            wrong = float((np.searchsorted(cuts, ranks - 1, "right") + 1 != ordering.grades.grade).mean())
        found += [ordering.grades.misplaced.high, wrong]
    return found


def true_ranks(truth: Floats) -> Integers:
    ranks = np.empty(len(truth), dtype=np.int64)
    ranks[np.argsort(-truth)] = np.arange(1, len(truth) + 1)
    return ranks


def placed(study: Study, unseen: Items, new_truth: Floats, truth: Floats) -> dict[str, Any]:
    """Of items that nobody compared: the share whose score, and whose rank, is in its 90 % interval."""
    ordering = study.ordering(unseen)
    assert ordering.study_ranks is not None
    rows = [int(item.removeprefix("new ")) for item in ordering.ids]
    score = new_truth[rows] - truth.mean()
    rank = 1 + (truth[None, :] > new_truth[rows, None]).sum(axis=1)
    columns = ordering.to_columns()
    return {
        "score_cover": float(((score >= columns["score_low"]) & (score <= columns["score_high"])).mean()),
        "rank_cover": float(((rank >= ordering.study_ranks.low) & (rank <= ordering.study_ranks.high)).mean()),
        "rank_width": float((ordering.study_ranks.high - ordering.study_ranks.low + 1).mean()),
    }


def measured(study: Study, truth: Floats, chance: Floats | None) -> dict[str, Any]:
    posterior = study.posterior()
    left, right = np.triu_indices(ITEMS, 1)
    margin, variance = posterior.belief.differences(left, right)
    sure = norm.cdf(np.abs(margin) / np.sqrt(variance))
    as_it_is = np.sign(margin) == np.sign(truth[left] - truth[right])
    is_right = np.full(len(left), 0.5) if chance is not None else as_it_is.astype(float)
    place = np.minimum(((sure - 0.5) * 2 * BINS).astype(int), BINS - 1)
    ordering, reliability, forecast = study.ordering(), study.reliability(), study.forecast()
    assert ordering.intervals is not None
    ranks = true_ranks(truth)[[int(item) for item in ordering.ids]]
    inside = (ranks >= ordering.intervals.low) & (ranks <= ordering.intervals.high)
    return {
        "expected": reliability.expected_error,
        "low": reliability.error_low,
        "high": reliability.error_high,
        "error": 0.5 if chance is not None else ordering_error(study.scores(), truth),
        "passed": reliability.better_than_coins,
        "decline": None if forecast.decline is None else asdict(forecast.decline),
        "cover": float(inside.mean()),
        "width": float((ordering.intervals.high - ordering.intervals.low + 1).mean()),
        "bins": [
            [float(part[place == one].sum()) for part in (np.ones(len(left)), sure, is_right)] for one in range(BINS)
        ],
    }


def tables(rows: list[dict[str, Any]]) -> str:
    """Markdown: the default in each world, and the errors of all methods."""
    cells = defaultdict(list)
    for row in rows:
        cells[row["world"], row["method"], row["per_item"]].append(row)
    counts = sorted({row["per_item"] for row in rows})
    runs = [min([len(found) for (_, one, _), found in cells.items() if one == method], default=0) for method in METHODS]
    lines = [f"{ITEMS} items, {COLUMNS} columns. Runs of each world, at least: {runs[0]} of the default"]
    lines[-1] += f", {min(runs[1:])} of the other methods." if min(runs[1:]) else "."
    lines.append("")
    lines += [
        "| world | " + " | ".join(f"{count} per item" for count in counts) + " |",
        "|---" * (len(counts) + 1) + "|",
    ]
    for title, value in (
        ("expected / true error", ratio),
        ("largest gap of a bin", gap),
        ("90 % intervals of ranks cover", cover),
        ("90 % intervals of the error cover", error_cover),
        ("90 % intervals of unseen items' scores cover", unseen_cover),
        ("better than coins", passed),
    ):
        lines.append(f"| **{title}** |" + " |" * len(counts))
        # Of coins, no order is the right one.
        for world in WORLDS if value in (ratio, gap, error_cover, passed) else list(WORLDS)[:-1]:
            found = [cells.get((world, "default", count)) for count in counts]
            lines.append(f"| {world} | " + " | ".join("" if one is None else value(one) for one in found) + " |")
    lines += ["", "Ordering error, mean and standard error:", ""]
    lines += [
        "| world | method | " + " | ".join(f"{count} per item" for count in counts) + " |",
        "|---" * (len(counts) + 2) + "|",
    ]
    for world in list(WORLDS)[:-1]:
        for method in METHODS:
            found = [cells.get((world, method, count)) for count in counts]
            if any(found):
                lines.append(
                    f"| {world} | {method} | " + " | ".join("" if one is None else error(one) for one in found) + " |"
                )
    return "\n".join([*lines, "", *behind(cells, counts), "", *forecasts(cells, counts), "", *endings(rows)])


Row = dict[str, Any]


def behind(cells: Mapping[tuple[str, str, int], list[Row]], counts: list[int]) -> list[str]:
    """The default's ordering error less that of the best other method, mean and standard error over the same runs.

    Which one is best is chosen by these runs too, which makes it look a little better than it is.
    """
    lines = [
        "The default's ordering error less that of the best other method of each cell:",
        "",
        "| world | " + " | ".join(f"{count} per item" for count in counts) + " |",
        "|---" * (len(counts) + 1) + "|",
    ]
    for world in list(WORLDS)[:-1]:
        shown = []
        for count in counts:
            others = [found for method in list(METHODS)[1:] if (found := cells.get((world, method, count)))]
            if not others:
                return []
            best = {row["seed"]: row["error"] for row in min(others, key=lambda found: mean(found, "error"))}
            paired = [row for row in cells[world, "default", count] if row["seed"] in best]
            less = [{"error": row["error"] - best[row["seed"]]} for row in paired]
            shown.append(error(less))
        lines.append(f"| {world} | " + " | ".join(shown) + " |")
    return lines


def forecasts(cells: Mapping[tuple[str, str, int], list[Row]], counts: list[int]) -> list[str]:
    """Of the errors after more answers, by the default in all worlds but the coins, where there was a forecast."""
    lines = [
        "Forecasts, in all worlds but the last:",
        "",
        "| answers per item, then | forecasts | 80 % intervals cover the true error | median miss of the expected |",
        "|---|--:|--:|--:|",
    ]
    for now, then in [*pairwise(counts), *([(counts[1], counts[-1])] if len(counts) > 3 else [])]:
        covered, missed = [], []
        for world in list(WORLDS)[:-1]:
            later = {row["seed"]: row for row in cells.get((world, "default", then), [])}
            for row in cells.get((world, "default", now), []):
                if row["decline"] is not None and (found := later.get(row["seed"])) is not None:
                    forecast = Decline(**row["decline"]).error_after(ITEMS * then)
                    covered.append(forecast.low <= found["error"] <= forecast.high)
                    missed.append(abs(forecast.estimate / found["expected"] - 1.0))
        if covered:
            lines.append(
                f"| {now}, {then} | {len(covered)} | {100 * np.mean(covered):.0f} % | {100 * np.median(missed):.0f} % |"
            )
    return lines


def endings(rows: list[Row]) -> list[str]:
    """How often the rules that finish a study were met too early, looked at after every tenth answer of a study."""
    checks = [np.array(row["checks"]) for row in rows if row.get("checks")]
    lines = [
        "Rules that finish a study, in all worlds:",
        "",
        "| rule | met | of these too early | answers |",
        "|---|--:|--:|--:|",
    ]
    rules = [(f"target {target:g}", 3, 4, target) for target in TARGETS]
    for place, name in enumerate(GRADES):
        rules += [(f"{name}, misplaced {most:g}", 5 + 2 * place, 6 + 2 * place, most) for most in MISPLACED]
    for name, said, true, most in rules:
        ends = [one[np.flatnonzero((one[:, 1] == 1.0) & (one[:, said] <= most))[:1]] for one in checks]
        met = np.concatenate([one for one in ends if len(one)] or [np.empty((0, 9))])
        early = f"{100 * np.mean(met[:, true] > most):.0f} % | {met[:, 0].mean():.0f}" if len(met) else "|"
        lines.append(f"| {name} | {len(met)} of {len(checks)} | {early} |")
    return lines


def ratio(rows: list[dict[str, Any]]) -> str:
    return f"{mean(rows, 'expected') / mean(rows, 'error'):.2f}"


def gap(rows: list[dict[str, Any]]) -> str:
    """The largest difference between the stated and the true share of right pairs, over bins with 1 pair in 200."""
    total = np.sum([row["bins"] for row in rows], axis=0)
    full = total[:, 0] >= total[:, 0].sum() / 200
    return f"{(np.abs(total[full, 1] - total[full, 2]) / total[full, 0]).max():.3f}"


def cover(rows: list[dict[str, Any]]) -> str:
    return f"{100 * mean(rows, 'cover'):.0f} % ({mean(rows, 'width'):.0f} wide)"


def error_cover(rows: list[dict[str, Any]]) -> str:
    return f"{100 * np.mean([row['low'] <= row['error'] <= row['high'] for row in rows]):.0f} %"


def unseen_cover(rows: list[dict[str, Any]]) -> str:
    return f"{100 * mean(rows, 'score_cover'):.0f} %"


def passed(rows: list[dict[str, Any]]) -> str:
    return f"{100 * mean(rows, 'passed'):.0f} %"


def error(rows: list[dict[str, Any]]) -> str:
    return f"{mean(rows, 'error'):.3f} ± {np.std([row['error'] for row in rows], ddof=1) / np.sqrt(len(rows)):.3f}"


def mean(rows: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([row[name] for row in rows]))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=Path, default=Path("calibration.jsonl"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--most", type=int, default=max(PER_ITEM), help="answers per item")
    parser.add_argument("--methods", default=",".join(METHODS), help="names of methods: a,b")
    parser.add_argument("--jobs", type=int, default=1, help="processes that simulate at once")
    parser.add_argument("--page", type=Path, help="put the tables between the markers of this page")
    options = parser.parse_args()
    per_item = [count for count in PER_ITEM if count <= options.most]
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()] if options.rows.exists() else []
    done = {(row["world"], row["method"], row["seed"]) for row in rows if row["per_item"] == max(per_item)}
    tasks = [
        (world, method, seed, per_item)
        for seed in range(options.seeds)
        for world in WORLDS
        for method in options.methods.split(",")
        if (world, method, seed) not in done and not (world == "coin tosses" and method != "default")
    ]
    with options.rows.open("a") as file, get_context("spawn").Pool(options.jobs) as pool:
        for made in pool.imap_unordered(whole, tasks):
            rows += made
            file.writelines(json.dumps(row) + "\n" for row in made)
            file.flush()
    shown = tables(rows)
    print(shown)
    if options.page is not None:
        head, rest = options.page.read_text(encoding="utf-8").split(START, 1)
        tail = rest.split(END, 1)[1]
        options.page.write_text(f"{head}{START}\n\n{shown}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
