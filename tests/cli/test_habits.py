"""Habits of command lines: completion, pipes, progress in logs, hints, results that survive an interrupt."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from ordinate import Items, Study
from ordinate.cli import doctor as module
from ordinate.cli import screen
from ordinate.data.formats import read_columns


def complete(line: str) -> list[str]:
    words = line.split(" ")
    asked = {"_ORDINATE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "ordinate"], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


def test_commands_and_options_are_completed():
    assert complete("ordinate sta") == ["status"]
    assert complete("ordinate simulate s") == ["synthetic"]
    assert complete("ordinate order --cu") == ["--cuts"]
    assert "--install-completion" in complete("ordinate --")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("ordr study.db", "No such command 'ordr'. Did you mean 'order'? See: ordinate --help"),
        ("order study.db --cuts", "Option '--cuts' requires an argument. See: ordinate order --help"),
        ("aim study.db top:3", "an aim is given by its option: --aim top:3"),
        ("order study.db --outt x", "No such option: --outt (Possible options: .*--out). See: ordinate order"),
        (
            "create s.db --items items.csv --id-column idd",
            "no column 'idd'; the table has 'id', .*; 'id' is the nearest",
        ),
        ("create s.db --items items.csv --feature-columns sharpnes", "'sharpness' is the nearest"),
    ],
)
def test_a_slip_is_answered_with_what_is_near(run, line, hint):
    result = run(*line.split())
    assert result.code == 2
    assert all(part in result.err for part in hint.split(".*"))


def test_status_fits_a_pipe(run, folder):
    names = [f"item-{number:03}" for number in range(150)]
    with Study.create(Items(names), storage="sqlite:///many.db") as made:
        for name in names[:120]:
            made.exclude_item(name)
        for number in range(40):
            made.record([(names[-1], names[-2], "left", f"somebody-{number}")])
    lines = run("status", "many.db").out.splitlines()
    assert max(map(len, lines)) < 300
    assert all(line == line.rstrip() for line in lines)
    assert any(line.startswith("excluded items") and "and 110 more (all of them: --json)" in line for line in lines)
    assert any(line.startswith("annotators") and "and 30 more" in line for line in lines)


def test_no_colour_where_it_is_not_wanted(made_study, tmp_path):
    """In a terminal, which `script` makes."""
    command = f"{sys.executable} -m ordinate order --help"
    seen = {}
    for wanted in ({}, {"NO_COLOR": "1"}):
        environment = (
            {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | wanted
        )
        done = subprocess.run(
            ["script", "-qec", command, "/dev/null"], env=environment, capture_output=True, text=True, check=True
        )
        seen[bool(wanted)] = [
            code for code in ("\x1b[36m", "\x1b[1;36m", "\x1b[33m", "\x1b[1;33m") if code in done.stdout
        ]
    assert seen[False]
    assert not seen[True]


@pytest.mark.parametrize("header", [True, False])
def test_a_table_in_a_pipe_is_that_of_rich_without_its_lines(header):
    table = Table(title="Which is clearer?", title_justify="left", show_header=header, box=None, padding=(0, 2, 0, 0))
    table.pad_edge = False
    table.add_column("id", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("said", no_wrap=True, overflow="ellipsis", max_width=9)
    table.add_row("写真 12", "-0.10", "a long text that is cut")
    table.add_row("émile", "12.00", "昨日の写真です")
    table.add_section()
    table.add_row("two\nlines", "", "nine char")
    table.add_row("[bold]", "1,000")
    drawn = io.StringIO()
    console = Console(file=drawn, width=200, markup=False, highlight=False, emoji=False)
    console.print(table)
    assert list(screen.plain_lines(table)) == [line.rstrip() for line in drawn.getvalue().splitlines()]


def test_a_table_without_rows_is_its_header():
    assert list(screen.plain_lines(Table("rank", "id"))) == ["rank  id"]


def test_progress_is_said_in_a_log(run, monkeypatch):
    line = ["simulate", "synthetic", "--n", "6", "--d", "2", "--budget", "20", "--seeds", "2"]
    monkeypatch.setattr(screen, "FIRST_LINE", 3600.0)
    assert "Comparisons:" not in run(*line).err, "short work says nothing"
    monkeypatch.setattr(screen, "FIRST_LINE", 0.0)
    monkeypatch.setattr(screen, "NEXT_LINE", 0.0)
    result = run(*line)
    assert "Comparisons: 80 of 80 (100 %)\n" in result.err
    assert "Comparisons" not in result.out.replace("comparisons", "")


def steps(*pauses: tuple[float, int, float]) -> list[tuple[float, int]]:
    """When each step is done: (seconds before the first, number of steps, seconds between them), and so on."""
    at, done = 0.0, 0
    taken = []
    for pause, number, between in pauses:
        at += pause
        for _ in range(number):
            done += 1
            taken.append((at, done))
            at += between
    return taken


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(steps((12.0, 1000, 0.02)), id="compiles before the first step"),
        pytest.param(steps((1.0, 1, 0.0), (11.0, 1000, 0.02)), id="compiles after the first step"),
        pytest.param(steps((1.0, 3, 0.1), (4.0, 2, 0.1), (6.0, 1000, 0.02)), id="compiles again and again"),
        pytest.param(steps((0.5, 100, 0.02), (9.0, 900, 0.02)), id="compiles after quick steps"),
        pytest.param(steps((0.0, 400, 0.002), (0.0, 5, 2.0), (0.0, 2000, 0.01)), id="steps that compile alike"),
        pytest.param(steps((0.0, 50, 0.7), (0.0, 2500, 0.02)), id="many steps that compile alike"),
        pytest.param(steps((0.0, 40, 30.0)), id="a step every half minute"),
    ],
)
def test_no_time_left_is_said_that_is_far_off(monkeypatch, work):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    pace, (end, total) = screen.Pace(), work[-1]
    said = []
    for at, done in work:
        clock[0] = at
        said.append((at, pace.seconds_left(done, total)))
    known = [(seconds, end - at) for at, seconds in said if seconds is not None]
    assert len(known) > len(work) // 3, "of steady work it is said in time"
    # To a factor of 2, or half a minute: which rounds to the same minute.
    assert all(seconds < 2.0 * left + 30.0 and left < 2.0 * seconds + 30.0 for seconds, left in known)


def test_the_time_left_is_said_once_it_is_known(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    lines = screen._Lines()
    task = lines.add_task("Work", total=None)
    # Twelve seconds of compiling, of which the first step saw most, then 10 steps a second.
    for at, done in steps((1.0, 1, 0.0), (11.0, 10_000, 0.1)):
        clock[0] = at
        lines.update(task, completed=done, total=10_001)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Work: 2 of 10,001 (0 %)"
    assert [line.rpartition(" (")[2] for line in said[1:4]] == ["3 %)"] + [
        f"{of} %), about {minutes} minutes left" for of, minutes in ((6, 16), (9, 15))
    ]
    assert said[-1].endswith(", less than a minute left")


def test_a_table_is_not_taken_for_a_damaged_study(run, folder):
    (folder / "names.txt").write_text("a\nb\n")
    result = run("order", "names.txt")
    assert result.code == 2
    assert "names.txt is a table, not a study. Make one: ordinate create study.db --items " in result.err


@pytest.mark.slow
def test_runs_made_so_far_are_kept_when_a_simulation_is_interrupted(folder):
    line = ["simulate", "synthetic", "--n", "12", "--d", "2", "--budget", "60", "--every", "20", "--seeds", "100000"]
    started = subprocess.Popen(
        [sys.executable, "-m", "ordinate", *line, "--algorithms", "uniform-contextual", "--out", "rows.csv"],
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 90
    while not (folder / "rows.csv").exists() and time.monotonic() < until:
        time.sleep(0.2)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)
    assert started.returncode == 130
    rows = read_columns(folder / "rows.csv")
    assert rows["step"][:4] == ["0", "20", "40", "60"]
    assert len(rows["step"]) % 4 == 0, "finished runs alone"


def test_doctor_says_what_works(run, folder):
    result = run("doctor", "--json")
    assert result.code == 0
    found = {one["what"]: one for one in result.json}
    assert {"Python", "numba", "compiling", "storing", "cache", "output", "extra dicom"} <= found.keys()
    assert all(one["well"] is not False for one in result.json)
    assert sorted(path.name for path in folder.iterdir()) == ["items.csv"], "nothing is left behind"


def test_doctor_knows_every_extra():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for_people = project["optional-dependencies"].keys() - {"all", "benchmark", "test"}
    assert module.EXTRAS.keys() == for_people - {"face"}, "which is installed in two steps, by docs/embedding.md"
    needed = {one.partition(">")[0] for one in project["dependencies"]}
    assert set(module.NEEDED) == needed


def test_doctor_fails_with_what_to_do(run, folder, monkeypatch):
    def fails() -> str:
        raise PermissionError("/nowhere cannot be written to; set ORDINATE_CACHE to another folder")

    monkeypatch.setitem(module.CHECKS, "cache", fails)
    monkeypatch.setattr(module, "NEEDED", ("numpy", "no-such-package"))
    monkeypatch.setitem(module.EXTRAS, "none", ("no_such_module", "nothing"))
    result = run("doctor")
    assert result.code == 1
    assert "FAILED  no-such-package       missing  (python -m pip install no-such-package)" in result.out
    assert "PermissionError: /nowhere cannot be written to; set ORDINATE_CACHE to another folder" in result.out
    assert "-       extra none            missing; for nothing  (python -m pip install 'ordinate[none]')" in result.out
