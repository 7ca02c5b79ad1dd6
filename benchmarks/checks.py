"""Do the checks of a study find what is wrong, and are they silent where nothing is? Simulated studies in many worlds.

python -m benchmarks.checks --rows checks.jsonl --seeds 20 --page docs/statistics.md

Each line of the file of rows is one study; a run that was interrupted goes on where it stopped. With one core it makes
about 30 studies a minute.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.items import Items
from ordinate.learning.checks.table import CHECKS
from ordinate.study.study import Study

START, END = "<!-- checks: start -->", "<!-- checks: end -->"
ITEMS, COLUMNS, ANSWERS, ANNOTATORS = 40, 3, 400, 4


class Question(NamedTuple):
    """left, right  rows     annotator  a number     time  from 0 to 1"""

    left: int
    right: int
    annotator: int
    time: float


class World(NamedTuple):
    """A variance of the scores by the features and by items' own terms, and how far people depart from the scores.

    margin   the margin of an answer, from that by the scores; None: just that
    wrong    the check that ought to fail
    options  of `Study.create`
    """

    by_features: float = 2.0
    by_items: float = 2.0
    margin: Callable[[float, Question, Floats, Floats], float] | None = None
    wrong: str | None = None
    options: dict[str, Any] = {}  # noqa: RUF012  # never changed
    shares: tuple[float, ...] = (0.25, 0.25, 0.25, 0.25)


def coin(margin: float, question: Question, features: Floats, truth: Floats) -> float:
    return 0.0


def one_at_random(margin: float, question: Question, features: Floats, truth: Floats) -> float:
    return 0.0 if question.annotator == 0 else margin


def broken_item(margin: float, question: Question, features: Floats, truth: Floats) -> float:
    """The item with the highest score loads half of the time only."""
    best = int(np.argmax(truth))
    hidden = best in (question.left, question.right) and int(1e6 * question.time) % 2 == 0
    return margin if not hidden else (-6.0 if question.left == best else 6.0)


def moved(margin: float, question: Question, features: Floats, truth: Floats) -> float:
    """From the middle on, every other item is judged by another score."""
    if question.time < 0.5:
        return margin
    late = np.where(np.arange(ITEMS) % 2 == 0, -truth, truth)
    return float(late[question.left] - late[question.right])


def tired(margin: float, question: Question, features: Floats, truth: Floats) -> float:
    return margin if question.time < 0.6 else 0.0


def in_turn(margin: float, question: Question, features: Floats, truth: Floats) -> float:
    """By the column in which the two differ most, so that there are circles; sharply."""
    difference = features[question.left] - features[question.right]
    return 4.0 * float(difference[np.argmax(np.abs(difference))])


def one_of_another_mind(margin: float, question: Question, features: Floats, truth: Floats) -> float:
    """Annotator 0, who gives most answers, judges the other way round."""
    return -margin if question.annotator == 0 else margin


CONTEXTUAL = {"algorithm": "guro-contextual"}
WORLDS: dict[str, World] = {
    "nothing is wrong; features say half": World(),
    "features say everything": World(4.0, 0.0),
    "features say nothing": World(0.0, 4.0),
    "differences are half as large": World(0.5, 0.5),
    "contextual, features say everything": World(4.0, 0.0, options=CONTEXTUAL),
    "independent": World(options={"algorithm": "guro-independent"}),
    "contextual, features say half": World(wrong="features suffice", options=CONTEXTUAL),
    "coin tosses": World(margin=coin, wrong="better than coins"),
    "one of four annotators tosses coins": World(margin=one_at_random, wrong="annotators fit"),
    "an item is broken half of the time": World(margin=broken_item, wrong="items fit"),
    "half of the items are judged otherwise from the middle on": World(margin=moved, wrong="no drift"),
    "coins from three fifths on": World(margin=tired, wrong="steady sharpness"),
    "by the column that differs most": World(margin=in_turn, wrong="no circles"),
    "two thirds of the answers by one who judges the other way": World(
        margin=one_of_another_mind, wrong="no dominant annotator", shares=(0.67, 0.11, 0.11, 0.11)
    ),
}


def run(name: str, seed: int) -> dict[str, Any]:
    """One study: the checks that failed, and those that ran."""
    world, rng = WORLDS[name], np.random.default_rng([seed, 11])
    features = rng.normal(size=(ITEMS, COLUMNS))
    theta = np.sqrt(world.by_features / COLUMNS) * rng.normal(size=COLUMNS)
    truth = features @ theta + np.sqrt(world.by_items) * rng.normal(size=ITEMS)
    study = Study.create(Items([str(row) for row in range(ITEMS)], features), seed=seed, refit_every=5, **world.options)
    for number in range(ANSWERS):
        annotator = int(rng.choice(ANNOTATORS, p=world.shares))
        query = study.ask(f"annotator {annotator}")
        question = Question(int(query.left), int(query.right), annotator, number / ANSWERS)
        margin = float(truth[question.left] - truth[question.right])
        if world.margin is not None:
            margin = world.margin(margin, question, features, truth)
        study.tell(query.id, "left" if rng.random() < 1.0 / (1.0 + np.exp(-margin)) else "right")
    states = {row.check: row.state for row in study.check().rows}
    return {"world": name, "seed": seed, "states": states}


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: of the studies of each world, the share in which each check failed."""
    found = defaultdict(list)
    for row in rows:
        found[row["world"]].append(row["states"])
    least = min(len(states) for states in found.values())
    lines = [f"{least} studies or more in each world; {ITEMS} items, {COLUMNS} columns, {ANSWERS} answers.", ""]
    lines += ["| world | ought to fail | did | other checks that failed |", "|---|---|--:|---|"]
    for name, world in WORLDS.items():
        if not (states := found[name]):
            continue
        share = {check: sum(one[check] == "failed" for one in states) / len(states) for check in CHECKS}
        others = sorted(
            (check for check in CHECKS if share[check] and check != world.wrong), key=lambda one: -share[one]
        )
        said = ", ".join(f"{check} {share[check]:.0%}" for check in others) or "none"
        wrong = "" if world.wrong is None else f"{share[world.wrong]:.0%}"
        lines.append(f"| {name} | {world.wrong or 'none'} | {wrong} | {said} |")
    return "\n".join(lines).replace("%", " %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True, help="the file of rows; it is added to")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--page", type=Path, help="the page whose table between the markers is written")
    given = parser.parse_args()
    rows = []
    if given.rows.exists():
        rows = [json.loads(line) for line in given.rows.read_text(encoding="utf-8").splitlines()]
    done = {(row["world"], row["seed"]) for row in rows}
    with given.rows.open("a", encoding="utf-8") as file:
        for seed in range(given.seeds):
            for name in WORLDS:
                if (name, seed) not in done:
                    rows.append(run(name, seed))
                    file.write(json.dumps(rows[-1]) + "\n")
                    file.flush()
    made = table(rows)
    print(made)
    if given.page is not None:
        head, _, rest = given.page.read_text(encoding="utf-8").partition(START)
        given.page.write_text(f"{head}{START}\n\n{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
