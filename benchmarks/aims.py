"""How many answers an aim takes, against asking for the whole order: simulated worlds and recorded answers.

python -m benchmarks.aims --rows aims.jsonl --seeds 20
python -m benchmarks.aims --rows aims.jsonl --seeds 3 --data ../shared/data   # recorded answers too
python -m benchmarks.aims --rows aims.jsonl --costs                           # what a question costs
python -m benchmarks.aims --rows aims.jsonl --seeds 0 --page docs/results.md  # what was measured, on this page

Each line of the file of rows is one study; a run that was interrupted goes on where it stopped. On recorded answers the
truth is the order by a fit of all of them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.items import Items
from ordinate.data.projection import principal_components
from ordinate.datasets.recorded import read_recorded_folder
from ordinate.errors import PoolExhausted
from ordinate.learning.forecast import Decline
from ordinate.learning.membership import Wanted
from ordinate.simulation.annotators import Annotators, LogisticAnnotators, RecordedAnnotators
from ordinate.simulation.metrics import ordering_error, share_right
from ordinate.simulation.tasks import group_codes
from ordinate.study.aim import aim_of
from ordinate.study.study import Study

START, END = "<!-- aims: start -->", "<!-- aims: end -->"
COLUMNS, MOST, STEP = 15, 5, 0.25
SHOWN = (3, 5)
"""Answers per item."""
COMPONENTS, RECORDED_STEP = 30, 0.5
COSTS = ((200, 2), (1000, 2), (6000, 2), (20_000, 2), (100_000, 2))
"""Items, and rounds: in each, each study in turn answers `BLOCK` questions, after 100."""
BLOCK = 50
ALGORITHMS = {"order": "guro-hybrid", "aim": "aim-hybrid"}
PLAIN = {"order": "guro-independent", "aim": "aim-independent"}


class World(NamedTuple):
    """Items, the variances of their scores by features and by own terms, and how the differences sway answers."""

    items: int
    by_features: float
    by_items: float
    sharpness: float = 1.0
    columns: int = COLUMNS


HALF = World(100, 1.5, 1.5)
WORLDS = {
    "half of it in the features": HALF,
    "all of it": World(100, 3.0, 0.0),
    "nothing": World(100, 0.0, 3.0),
    "differences 0.3 times as large": HALF._replace(sharpness=0.3),
    "3 times as large": HALF._replace(sharpness=3.0),
    "no features": World(100, 0.0, 3.0, columns=0),
    "500 items, half in the features": HALF._replace(items=500),
}
CASES: list[tuple[str, str]] = [
    *((world, f"top:{count}") for count in (10, 3, 50) for world in list(WORLDS)[:5]),
    ("no features", "top:10"),
    ("half of it in the features", "bottom:10"),
    *((world, "above:30") for world in ("half of it in the features", "all of it", "nothing")),
    ("half of it in the features", "above:10"),
    ("500 items, half in the features", "top:10"),
    ("500 items, half in the features", "above:150"),
]
"""A mark stands at this true rank; several make grades."""
DRAWN = {
    CASES[0]: {1: "Share that is right", 2: "Wrong pairs of the whole order"},
    ("half of it in the features", "above:30"): {1: "Share that is right"},
}
"""Columns of the curves of cases that the figure shows."""
RECORDED: dict[str, tuple[str, int]] = {
    "sentimentit_movie_reviews": ("top:10", MOST),
    "ukpconvarg1": ("top:5", MOST),
    "gppl_humour": ("top:50", 3),
    "imdb_wiki_sbs_partial": ("top:50", 3),
}
"""The aim, and answers per item. Fewer of the sets of thousands of items: a study of 5 per item takes several minutes,
and is of nearly all answers that the last set has."""


class Task(NamedTuple):
    items: Items
    group: Integers
    truth: Floats
    people: Annotators
    aim: tuple[str, ...]
    algorithms: dict[str, str]

    @property
    def wanted(self) -> Wanted:
        wanted = aim_of(self.aim).wanted({item: row for row, item in enumerate(self.items.ids)})
        assert wanted is not None
        return wanted


def simulated(world: World, aim: str, seed: int) -> Task:
    rng = np.random.default_rng([seed, 7])
    features = rng.normal(size=(world.items, world.columns))
    truth = features @ (np.sqrt(world.by_features / max(world.columns, 1)) * rng.normal(size=world.columns))
    truth += np.sqrt(world.by_items) * rng.normal(size=world.items)
    items = Items([str(row) for row in range(world.items)], features)
    rule: tuple[str, ...] = (aim,)
    if aim.startswith("above:"):
        order = np.argsort(-truth)
        rule = tuple(f"above:{order[int(rank) - 1]}" for rank in aim.removeprefix("above:").split(","))
    people = LogisticAnnotators(truth, noise=world.sharpness, seed=seed)
    group = np.zeros(world.items, dtype=np.int64)
    return Task(items, group, truth, people, rule, ALGORITHMS if world.columns else PLAIN)


def recorded(folder: Path, aim: str, seed: int, fits: dict[Path, tuple[Floats, float | None]]) -> Task:
    """The truth is by all answers; `fits` keeps it, and the recall that this fit expects of itself."""
    dataset = read_recorded_folder(folder)
    items = dataset.items
    if items.features.shape[1]:
        items = Items(items.ids, principal_components(items.features, COMPONENTS), group=items.group)
    if folder not in fits:
        study = Study.create(items, aim=aim)
        study.record(dataset.comparisons)
        selection = study.selection()
        assert selection is not None
        fits[folder] = study.scores(), None if selection.right is None else selection.right.estimate
    codes = group_codes(items)
    group = np.zeros(len(items), dtype=np.int64) if codes is None else codes
    people = RecordedAnnotators(dataset.comparisons, items, seed)
    return Task(items, group, fits[folder][0], people, (aim,), ALGORITHMS if items.features.shape[1] else PLAIN)


def run(task: Task, method: str, seed: int, step: float = STEP, most: int = MOST) -> dict[str, Any]:
    """One study: at each step the share that is right, and the error of the whole order.

    Of studies with the aim, from one answer per item on also what they expect of themselves, and a forecast.
    """
    items, aimed = len(task.items), method == "aim"
    row_of = {item: row for row, item in enumerate(task.items.ids)}
    study = Study.create(task.items, algorithm=task.algorithms[method], seed=seed, aim=task.aim if aimed else "order")
    steps = {round(items * step * number): step * number for number in range(1, round(most / step) + 1)}
    curve, told, seconds = [], [], 0.0
    for answers in range(1, max(steps) + 1):
        begun = time.process_time()
        try:
            query = study.ask(f"simulated-{answers}", among=task.people.pool())
        except PoolExhausted:
            break
        asked = time.process_time()
        answer = task.people.answer(row_of[query.left], row_of[query.right])
        begun += time.process_time() - asked
        study.tell(query.id, answer)
        seconds += time.process_time() - begun
        if answers not in steps:
            continue
        scores = study.scores()
        right = share_right(scores, task.truth, task.group, task.wanted)
        curve.append([steps[answers], right, ordering_error(scores, task.truth, task.group)])
        if aimed and steps[answers] >= 1.0 and steps[answers] == int(steps[answers]):
            told.append(expected(study, steps[answers], right))
    return {"curve": curve, "told": told, "seconds": seconds}


def expected(study: Study, per_item: float, right: float) -> dict[str, Any]:
    with study._ledger.reading() as state:
        found = study._ledger.results.found(state, len(state.effective))
    assert found is not None
    selection, forecast = study.selection(), study.forecast_of_aim()
    assert selection is not None
    assert forecast is not None
    return {
        "per_item": per_item,
        "right": right,
        **dict(zip(("expected", "low", "high"), found.right, strict=True)),
        "information": found.information,
        "withheld": selection.withheld,
        "decline": None if forecast.decline is None else asdict(forecast.decline),
    }


def costs() -> Iterator[dict[str, Any]]:
    """Milliseconds of processor time per question: the whole order, and aims, in turns in one process."""
    for items, rounds in COSTS:
        world = HALF._replace(items=items, columns=35)
        aims = ("order", "top:10", f"top:{items // 10}", "above:7")
        studies = {}
        for aim in aims:
            task = simulated(world, "top:10", 0)
            studies[aim] = Study.create(task.items, aim=aim), task.people, [0.0] * rounds
        for number in range(rounds + 1):
            for study, people, spent in studies.values():
                begun = time.process_time()
                for _ in range(BLOCK if number else 100):
                    query = study.ask("one")
                    study.tell(query.id, people.answer(int(query.left), int(query.right)))
                if number:
                    spent[number - 1] = 1000.0 * (time.process_time() - begun) / BLOCK
        yield {"cost": items, **{aim: float(np.median(spent)) for aim, (_, _, spent) in studies.items()}}


def cost_table(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["", "Milliseconds per question after 100 answers, and times those of the whole order, in one run:", ""]
    lines += ["| items | whole order | top:10 | the first tenth | above a mark |", "|--:" * 5 + "|"]
    for row in {row["cost"]: row for row in rows if "cost" in row}.values():
        whole, *others = [row[name] for name in ("order", "top:10", f"top:{row['cost'] // 10}", "above:7")]
        cells = [f"{row['cost']:,}", f"{whole:.1f}", *(f"{one:.1f} ({one / whole:.2f})" for one in others)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines if len(lines) > 5 else []


def needed(curve: Floats, target: float) -> float:
    """Answers per item until the mean share that is right has reached the target; inf: not within the run."""
    place, best = curve[:, 0], np.maximum.accumulate(curve[:, 1])
    reached = np.flatnonzero(best >= target - 1e-12)
    if not len(reached):
        return float("inf")
    first = int(reached[0])
    if first == 0:
        return float(place[0] * min(target / max(best[0], target, 1e-9), 1.0))
    share = (target - best[first - 1]) / (best[first] - best[first - 1])
    return float(place[first - 1] + share * (place[first] - place[first - 1]))


class Case(NamedTuple):
    """Means over the runs of a case: the share that is right and the error at each step, by asking for the order and
    for the aim; and how much of what is taken for true is expected to be so, where that is by recorded answers."""

    name: tuple[str, str]
    seeds: int
    order: Floats
    aim: Floats
    told: list[dict[str, Any]]
    own: float | None

    @property
    def measured(self) -> list[int]:
        """Answers per item that the table shows, as far as the runs go."""
        return [per_item for per_item in SHOWN if per_item <= self.order[-1, 0]]

    def at(self, curve: Floats, per_item: float) -> Floats:
        return np.asarray(curve[np.argmin(np.abs(curve[:, 0] - per_item))])

    def fraction(self, per_item: float) -> float:
        """Of the answers that the whole order takes to its share at so many per item."""
        return needed(self.aim, float(self.at(self.order, per_item)[1])) / per_item


def cases(rows: list[dict[str, Any]]) -> Iterator[Case]:
    found: dict[tuple[str, str], dict[str, dict[int, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if "cost" in row:
            continue
        found[row["world"], row["aim"]][row["method"]][row["seed"]] = row
    for name, methods in found.items():
        seeds = sorted(set(methods["order"]) & set(methods["aim"]))
        if not seeds:
            continue
        runs = {method: [methods[method][seed] for seed in seeds] for method in methods}
        steps = min(len(run["curve"]) for part in runs.values() for run in part)
        curves = {m: np.mean([run["curve"][:steps] for run in part], axis=0) for m, part in runs.items()}
        told = [one for run in runs["aim"] for one in run["told"]]
        yield Case(name, len(seeds), curves["order"], curves["aim"], told, runs["aim"][0].get("own"))


def tables(rows: list[dict[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "| scores, or data | aim | runs | itself | right by the whole order at 3 / 5 per item | by the aim "
        "| answers that the aim needs for the former | wrong pairs of the whole order then: order / aim "
        "| expected minus true at 3 / 5 (of so many runs, withheld in others) |",
        "|---" * 9 + "|",
    ]
    every = list(cases(rows))
    for case in every:
        order, aim = ([case.at(curve, per) for per in case.measured] for curve in (case.order, case.aim))
        gaps = []
        for per in case.measured:
            told = [
                one["expected"] - one["right"] for one in case.told if one["per_item"] == per and not one["withheld"]
            ]
            gaps.append(f"{np.mean(told):+.2f} ({len(told)})" if told else "withheld")
        cells = [
            *case.name,
            str(case.seeds),
            "" if case.own is None else f"{case.own:.2f}",
            " / ".join(f"{one[1]:.2f}" for one in order),
            " / ".join(f"{one[1]:.2f}" for one in aim),
            " / ".join(f"{case.fraction(per):.2f}" for per in case.measured),
            f"{order[-1][2]:.3f} / {aim[-1][2]:.3f}",
            " / ".join(gaps),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    sets = [case for case in every if not case.name[1].startswith("above")]
    marks = [case for case in every if case.name[1].startswith("above")]
    for what, part in (("Of sets", sets), ("With marks", marks)):
        fractions = [case.fraction(per) for case in part for per in case.measured]
        if fractions:
            lines += [
                "",
                f"{what}, the median share of answers is {np.median(fractions):.2f}, the largest {max(fractions):.2f}.",
            ]
    told = [one for case in every for one in case.told if one["withheld"] is None]
    if told:
        inside = np.mean([one["low"] - 1e-9 <= one["right"] <= one["high"] + 1e-9 for one in told])
        lines += ["", *forecasts(every)]
        lines += ["", f"The 90 % intervals hold the true share in {100 * inside:.0f} % of {len(told):,} cases."]
    return "\n".join(lines + cost_table(rows))


def forecasts(every: list[Case]) -> list[str]:
    """Of those made at 3 answers per item: does the interval for 5 per item hold what is expected then?"""
    hits = []
    for case in every:
        later = [one for one in case.told if one["per_item"] == 5]
        sooner = [one for one in case.told if one["per_item"] == 3]
        for before, after in zip(sooner, later, strict=False):
            if before["decline"] is not None:
                decline = Decline(**before["decline"])
                interval = decline.error_after(round(decline.answers * 5 / 3))
                hits.append(interval.low <= 1.0 - after["expected"] <= interval.high)
    if not hits:
        return []
    return [
        f"Of {len(hits)} forecasts made at 3 answers per item, the 80 % interval for 5 per item held the share that "
        f"was expected then in {100 * np.mean(hits):.0f} %."
    ]


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """The share that is right, and the error of the whole order."""
    from ordinate.simulation.names import look
    from ordinate.simulation.plot import Line, Panel
    from ordinate.simulation.plot import draw as draw_panels

    panels = []
    for case in cases(rows):
        for column, ylabel in DRAWN.get(case.name, {}).items():
            lines = []
            for number, (name, curve) in enumerate((("guro-hybrid", case.order), ("aim-hybrid", case.aim))):
                answers, none = np.round(curve[:, 0] * HALF.items).astype(np.int64), np.full(len(curve), np.nan)
                lines.append(Line(look(name, number), answers, curve[:, column], none, none))
            panels.append(Panel(lines, ylabel, f"100 items, {case.name[1]}", from_zero=column == 2))
    seeds = [case.seeds for case in cases(rows) if case.name == CASES[0]]
    draw_panels(panels, path, title="Questions for an aim", explanation=f"Mean over {seeds[0]} runs")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.aims", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, default=Path("aims.jsonl"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--data", type=Path, help="the folder of the recorded sets; without it worlds are simulated")
    parser.add_argument("--only", help="names of recorded sets: a,b")
    parser.add_argument("--costs", action="store_true", help="measure what a question costs instead")
    parser.add_argument("--page", type=Path, help="put the table and a figure between the markers of this page")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()] if options.rows.exists() else []
    done = {(row.get("world"), row.get("aim"), row.get("method"), row.get("seed")) for row in rows}
    fits: dict[Path, tuple[Floats, float | None]] = {}
    made: list[tuple[str, str, Callable[[int], Task], int]] = []
    if options.data is None:
        made += [(world, aim, lambda seed, w=world, a=aim: simulated(WORLDS[w], a, seed), MOST) for world, aim in CASES]  # type: ignore[misc]
    else:
        chosen = RECORDED if options.only is None else {name: RECORDED[name] for name in options.only.split(",")}
        for name, (aim, most) in chosen.items():
            folder = options.data / name
            made.append((name, aim, lambda seed, f=folder, a=aim: recorded(f, a, seed, fits), most))  # type: ignore[misc]
    with options.rows.open("a") as file:
        for made_row in costs() if options.costs else ():
            rows.append(made_row)
            file.write(json.dumps(made_row) + "\n")
            file.flush()
        for seed in range(0 if options.costs else options.seeds):
            for world, aim, build, most in made:
                for method in ALGORITHMS:
                    if (world, aim, method, seed) in done:
                        continue
                    row = {"world": world, "aim": aim, "method": method, "seed": seed}
                    row |= run(build(seed), method, seed, STEP if options.data is None else RECORDED_STEP, most)
                    if options.data is not None:
                        row["own"] = fits[options.data / world][1]
                    rows.append(row)
                    file.write(json.dumps(row) + "\n")
                    file.flush()
    shown = tables(rows)
    print(shown)
    if options.page is not None:
        figure = options.page.parent / "figures" / "aims.png"
        draw(rows, figure)
        head, rest = options.page.read_text(encoding="utf-8").split(START, 1)
        tail = rest.split(END, 1)[1]
        picture = f"![Share that is right, and wrong pairs, by answers](figures/{figure.name})"
        options.page.write_text(f"{head}{START}\n\n{shown}\n\n{picture}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
