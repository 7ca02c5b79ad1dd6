"""Rows survive a kill, are the same whatever the jobs, and do not mix with those of another plan."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ordinate.data.formats import read_columns, write_columns
from ordinate.datasets import draw_synthetic
from ordinate.errors import InvalidInput
from ordinate.experiments import Setting
from ordinate.experiments.rows import PLAN, ROWS, make_rows, part_of, read_rows
from ordinate.simulation.run import Plan
from ordinate.simulation.tasks import SimulatedTask

TIMES = ("seconds", "core_seconds", "megabytes")  # and memory: what differs from run to run


@pytest.fixture
def setting():
    task = SimulatedTask(draw_synthetic(12, 2, np.random.default_rng(0)))
    return Setting("tiny", task, Plan(20, 10), ("guro-contextual", "colstim-contextual:7"), seeds=2)


def timeless(rows):
    return {name: values for name, values in rows.items() if name not in TIMES}


def test_rows_are_made_once(setting, tmp_path):
    assert make_rows(setting, tmp_path) == 4
    rows = read_rows(setting, tmp_path)
    assert rows["algorithm"] == ["guro-contextual"] * 6 + ["colstim-contextual:7"] * 6
    assert rows["seed"] == [0, 0, 0, 1, 1, 1] * 2
    assert rows["step"] == [0, 10, 20] * 4
    assert make_rows(setting, tmp_path) == 0
    assert read_rows(setting, tmp_path) == rows
    assert make_rows(replace(setting, seeds=3), tmp_path) == 2
    assert read_rows(setting, tmp_path) == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == [PLAN, ROWS]


def test_runs_that_stand_alone_and_those_of_the_table_are_one(setting, tmp_path):
    more = replace(setting, seeds=3)
    make_rows(setting, tmp_path)
    two = (tmp_path / ROWS).read_bytes()
    make_rows(more, tmp_path)
    rows = read_rows(more, tmp_path)
    # As after a kill when four of six runs had been made, and one was written twice.
    (tmp_path / ROWS).write_bytes(two)
    for algorithm, seed in (("guro-contextual", 2), ("guro-contextual", 1)):
        chosen = [
            place
            for place, run in enumerate(zip(rows["algorithm"], rows["seed"], strict=True))
            if run == (algorithm, seed)
        ]
        run = {name: [values[place] for place in chosen] for name, values in rows.items()}
        write_columns(tmp_path / f"{algorithm}.seed-{seed}.parquet", run)
    assert len(read_rows(more, tmp_path)["step"]) == 5 * 3
    assert make_rows(more, tmp_path) == 1
    assert timeless(read_rows(more, tmp_path)) == timeless(rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == [PLAN, ROWS]


@pytest.mark.slow
def test_the_same_rows_whatever_the_number_of_jobs(setting, tmp_path):
    for jobs in (1, 2):
        make_rows(setting, tmp_path / str(jobs), jobs)
    one, two = (timeless(read_rows(setting, tmp_path / str(jobs))) for jobs in (1, 2))
    assert one == two


def test_another_plan_is_refused_and_says_what_differs(setting, tmp_path):
    make_rows(setting, tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InvalidInput, match="budget is 20 there and 30 now"):
        make_rows(replace(setting, plan=Plan(30, 10)), tmp_path)
    other = SimulatedTask(draw_synthetic(12, 2, np.random.default_rng(1)))
    with pytest.raises(InvalidInput, match="task is"):
        make_rows(replace(setting, task=other), tmp_path)
    (tmp_path / PLAN).write_text("{")
    with pytest.raises(InvalidInput, match="is not a plan"):
        make_rows(setting, tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_part_is_chosen():
    rows: dict[str, list[Any]] = {"algorithm": ["a", "a", "b"], "part": ["x", "y", "x"], "error": [1.0, 2.0, 3.0]}
    assert part_of(rows, "x") == {"algorithm": ["a", "b"], "part": ["x", "x"], "error": [1.0, 3.0]}
    assert part_of(rows, "x", ["b"])["error"] == [3.0]


SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from ordinate.datasets import draw_synthetic
from ordinate.experiments import Setting
from ordinate.experiments.rows import make_rows
from ordinate.data.formats import write_columns
from ordinate.simulation.run import Plan
from ordinate.simulation.tasks import SimulatedTask

if __name__ == "__main__":
    task = SimulatedTask(draw_synthetic(12, 2, np.random.default_rng(0)))
    setting = Setting("tiny", task, Plan(20, 10), ("guro-contextual", "colstim-contextual:7"), seeds=24)
    make_rows(setting, Path(sys.argv[1]), int(sys.argv[2]))
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process group")
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_in_the_middle_it_goes_on_where_it_was(setting, tmp_path, jobs):
    script, folder = tmp_path / "script.py", tmp_path / "rows"
    script.write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, str(script), str(folder), str(jobs)], start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while len(list(folder.glob("[!.]*.parquet"))) < 6:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    many = replace(setting, seeds=24)
    kept = [read_columns(path) for path in sorted(folder.glob("[!.]*.parquet"))]
    assert 6 <= len(kept) < 48
    assert json.loads((folder / PLAN).read_text())["budget"] == 20
    assert make_rows(many, folder) == 48 - len(kept)
    rows = read_rows(many, folder)
    measured = set(zip(*rows.values(), strict=True))
    assert all(set(zip(*(run[name] for name in rows), strict=True)) <= measured for run in kept)
    make_rows(many, tmp_path / "whole")
    assert timeless(read_rows(many, folder)) == timeless(read_rows(many, tmp_path / "whole"))


def test_a_file_of_another_layout_is_named(setting, tmp_path):
    make_rows(setting, tmp_path)
    more, place = replace(setting, seeds=3), tmp_path / "guro-contextual.seed-2.parquet"
    place.write_bytes((tmp_path / ROWS).read_bytes()[:40])
    with pytest.raises(InvalidInput, match=r"seed-2\.parquet: this Parquet file is cut short"):
        read_rows(more, tmp_path)
    write_columns(place, {"algorithm": ["guro-contextual"]})
    with pytest.raises(InvalidInput, match=r"seed-2\.parquet has no column 'seed'"):
        make_rows(more, tmp_path)
