"""After how many answers the bets against coin tosses are won, in the worlds of the calibration, at several levels.

python -m benchmarks.coins --rows coins.jsonl --seeds 100

Each line of the file of rows is one study; a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration import ITEMS, PER_ITEM, WORLDS, simulated
from ordinate.data.scaling import FeatureMap
from ordinate.learning.coin_gate import CoinGate
from ordinate.learning.models import Answers

LEVELS = (0.05, 0.02, 0.01)
LOOK_EVERY = 10


def opened(world: str, seed: int, most: int) -> dict[str, int]:
    """After how many answers the gate of each level is seen to be open; a study ends when all are."""
    study, people, *_ = simulated(world, "default", seed)
    items = study.items
    everyone = np.ones(len(items), dtype=np.bool_)
    features = FeatureMap.fit(items.features, False, study.settings.scaling, everyone).transform(items.features)
    gates = {str(level): CoinGate(level) for level in LEVELS}
    found: dict[str, int] = {}
    asked: list[tuple[int, int, float]] = []
    for number in range(1, most + 1):
        query = study.ask(f"simulated-{number}")
        left, right = int(query.left), int(query.right)
        outcome = people.answer(left, right)
        study.tell(query.id, outcome)
        asked.append((left, right, 1.0 if outcome == "left" else 0.0))
        if number % LOOK_EVERY == 0:
            columns = np.array(asked).T
            answers = Answers(columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2])
            for level, gate in gates.items():
                gate.read(features, answers)
                if gate.is_open:
                    found.setdefault(level, number)
            if len(found) == len(gates):
                break
    return found


def table(rows: list[dict[str, Any]], most: int) -> str:
    counts = [count for count in PER_ITEM if count <= most]
    lines = ["| world | level | " + " | ".join(f"{count} per item" for count in counts) + " |"]
    lines.append("|---" * (len(counts) + 2) + "|")
    for world in WORLDS:
        found = [row["opened"] for row in rows if row["world"] == world and row["most"] >= most]
        for level in LEVELS if found else ():
            ends = np.array([row.get(str(level), np.inf) for row in found])
            shares = " | ".join(f"{100 * np.mean(ends <= ITEMS * count):.0f} %" for count in counts)
            lines.append(f"| {world} | {level:g} | {shares} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coins", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, default=Path("coins.jsonl"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--most", type=int, default=max(PER_ITEM), help="answers per item")
    parser.add_argument("--worlds", default=",".join(WORLDS), help="names of worlds: a,b")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()] if options.rows.exists() else []
    done = {(row["world"], row["seed"]) for row in rows if row["most"] >= options.most}
    with options.rows.open("a") as file:
        for world in options.worlds.split(","):
            for seed in range(options.seeds):
                if (world, seed) in done:
                    continue
                row = {"world": world, "seed": seed, "most": options.most}
                rows.append({**row, "opened": opened(world, seed, ITEMS * options.most)})
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
    print(table(rows, options.most))


if __name__ == "__main__":
    main()
