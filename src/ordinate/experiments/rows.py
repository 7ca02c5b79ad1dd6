"""The rows of a setting on disk, and the plan of all runs.

    FOLDER/plan.json                        the plan, with a digest of the data; rows of another plan are refused
    FOLDER/guro-contextual.seed-0.parquet   the rows of one finished run, while others are still to be made
    FOLDER/rows.parquet                     the rows of all runs, once all are made

If a process is killed, only the runs in progress are lost; the next process makes the missing ones.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from ordinate import __version__
from ordinate.data.formats import read_columns, write_columns
from ordinate.data.formats.files import failures, read_bytes, write_bytes
from ordinate.errors import InvalidInput
from ordinate.experiments.digest import digest
from ordinate.experiments.experiment import Setting
from ordinate.simulation.parallel import Jobs, Progress, Report, finished
from ordinate.simulation.run import Plan, Row, check_names, run_once
from ordinate.simulation.tasks import Task

PLAN = "plan.json"
ROWS = "rows.parquet"
COLUMNS = (*Row._fields, "core_seconds", "megabytes")

Run = tuple[str, int]  # algorithm, seed
Rows = dict[str, list[Any]]  # column -> values


def make_rows(setting: Setting, folder: Path, jobs: Jobs = 1, progress: Progress | None = None) -> int:
    """Make the runs that are missing in the folder; returns their number.

    Raises InvalidInput if the folder holds rows of another plan.
    """
    check_names(setting.algorithms, range(setting.seeds))
    _keep_plan(setting, folder)
    done = _finished(setting, folder)
    missing = [run for run in _runs(setting) if run not in done]
    # Seed by seed, so that an interrupted experiment has some seeds of every algorithm.
    missing.sort(key=lambda run: run[1])
    runs = [partial(_timed, setting.task, setting.plan_of(algorithm), algorithm, seed) for algorithm, seed in missing]
    for place, columns in finished(runs, setting.plan.budget, jobs, progress):
        write_columns(_file(folder, *missing[place]), columns)
    _gather(setting, folder)
    return len(missing)


def read_rows(setting: Setting, folder: Path) -> Rows:
    """The rows of the setting's finished runs, in the order of its algorithms and seeds."""
    done = _finished(setting, folder)
    return _joined(done[run] for run in _runs(setting) if run in done)


def _runs(setting: Setting) -> list[Run]:
    return [(algorithm, seed) for algorithm in setting.algorithms for seed in range(setting.seeds)]


def _finished(setting: Setting, folder: Path) -> dict[Run, Rows]:
    """The rows of each finished run: all of the table of all runs, and those of the setting's that stand alone."""
    done: dict[Run, Rows] = {}
    if (table := folder / ROWS).exists():
        rows = _read(table)
        places: dict[Run, list[int]] = {}
        for place, run in enumerate(zip(rows["algorithm"], rows["seed"], strict=True)):
            places.setdefault(run, []).append(place)
        done = {run: {name: [rows[name][place] for place in at] for name in COLUMNS} for run, at in places.items()}
    for run in _runs(setting):
        if run not in done and (path := _file(folder, *run)).exists():
            done[run] = _read(path)
    return done


def _gather(setting: Setting, folder: Path) -> None:
    """Move the rows of runs that stand alone into the table of all runs, which may hold runs that are not asked for."""
    alone = [path for run in _runs(setting) if (path := _file(folder, *run)).exists()]
    if alone:
        write_columns(folder / ROWS, _joined(_finished(setting, folder).values()))
        for path in alone:
            path.unlink()


def _read(path: Path) -> Rows:
    rows = read_columns(path)
    if missing := [name for name in COLUMNS if name not in rows]:
        raise InvalidInput(f"{path} has no column {missing[0]!r}; delete it, and run the command again")
    return rows


def _joined(runs: Iterable[Rows]) -> Rows:
    columns: Rows = {name: [] for name in COLUMNS}
    for run in runs:
        for name, values in columns.items():
            values.extend(run[name])
    return columns


def part_of(rows: Mapping[str, Sequence[Any]], part: str, algorithms: Sequence[str] = ()) -> Rows:
    """The rows of one measure; only those of `algorithms`, if any are given."""
    chosen = [
        place
        for place, (name, algorithm) in enumerate(zip(rows["part"], rows["algorithm"], strict=True))
        if name == part and (not algorithms or algorithm in algorithms)
    ]
    return {name: [values[place] for place in chosen] for name, values in rows.items()}


def _timed(task: Task, plan: Plan, algorithm: str, seed: int, report: Report) -> Rows:
    # Processor time: elapsed time depends on what else the machine does.
    begun = time.process_time()
    rows = run_once(task, plan, algorithm, seed, report)
    columns: Rows = {name: [row[k] for row in rows] for k, name in enumerate(Row._fields)}
    cost = {"core_seconds": time.process_time() - begun, "megabytes": _peak_megabytes()}
    return columns | {name: [value] * len(rows) for name, value in cost.items()}


def _peak_megabytes() -> float:
    """The most memory that this process has had so far, earlier runs included; NaN where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return math.nan
    unit = 1e6 if sys.platform == "darwin" else 1e3  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _file(folder: Path, algorithm: str, seed: int) -> Path:
    return folder / f"{algorithm.replace(':', '=')}.seed-{seed}.parquet"


def _keep_plan(setting: Setting, folder: Path) -> None:
    """Write the plan, or compare it with the one in the folder."""
    plan = asdict(setting.plan) | {
        "hybrid_candidates": setting.hybrid_candidates,
        "task": digest(setting.task),
        "ordinate": __version__,
    }
    plan = json.loads(json.dumps(plan))  # as it is read
    path = folder / PLAN
    with failures("written", folder):
        folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write_bytes(path, json.dumps(plan, indent=2).encode())
        return
    try:
        kept = json.loads(read_bytes(path))
    except ValueError:
        raise InvalidInput(f"{path} is not a plan; delete the folder {folder}, or choose another one").with_option(
            "the option is --out FOLDER"
        ) from None
    if isinstance(kept, dict) and kept.get("task") == digest(setting.task, computed=True):
        kept["task"] = plan["task"]  # as plans had it before: they could be continued on this kind of machine alone
    differing = [name for name in plan if not isinstance(kept, dict) or kept.get(name) != plan[name]]
    if differing:
        changes = ", ".join(f"{name} is {kept.get(name)} there and {plan[name]} now" for name in differing)
        raise InvalidInput(
            f"{folder} holds rows of another plan: {changes}; delete it, or choose another folder"
        ).with_option("the option is --out FOLDER")
