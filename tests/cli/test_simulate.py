"""`ordinate simulate`: the table, the rows as JSON and as files, the plot."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ordinate.data.formats import read_columns

RUNS = ("--budget", "6", "--every", "3", "--seeds", "2")
SYNTHETIC = ("simulate", "synthetic", "--n", "8", "--d", "2", *RUNS)
COLUMNS = {"algorithm", "seed", "step", "part", "error", "seconds"}


@pytest.fixture
def recorded(folder):
    """A recorded task of four items: the line that runs it."""
    pairs = itertools.permutations("abcd", 2)
    lines = [f"{left},{right},{max(left, right)},anna" for left, right in pairs]
    (folder / "made.csv").write_text("\n".join(["left,right,winner,annotator", *lines]) + "\n")
    return (
        "simulate",
        "recorded",
        "--items",
        "items.csv",
        "--comparisons",
        "made.csv",
        "--budget",
        "5",
        "--seeds",
        "2",
    )


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


class TestSynthetic:
    def test_table(self, run):
        result = run(*SYNTHETIC)
        assert result.code == 0
        assert "Ordering error by number of comparisons, mean of 2 runs" in result.out
        assert "guro-contextual" in result.out
        assert "uniform-contextual" in result.out
        assert "± is one standard error" in result.out
        assert result.out.startswith("8 items, 2 feature columns, noise 0.5\n")
        assert result.err == ""

    def test_json_and_files_hold_the_same_rows(self, run, folder):
        result = run(*SYNTHETIC, "--json", "--out", "rows.csv", "--plot", "error.png")
        rows = result.json
        assert set(rows[0]) == COLUMNS
        assert [row["step"] for row in rows[:3]] == [0, 3, 6]
        assert len(rows) == 2 * 2 * 3
        written = read_columns(folder / "rows.csv")
        assert [float(value) for value in written["error"]] == [row["error"] for row in rows]
        assert (folder / "error.png").read_bytes().startswith(b"\x89PNG")

    def test_the_files_are_named(self, run):
        out = run(*SYNTHETIC, "--out", "rows.parquet", "--plot", "error.svg").out
        assert out.endswith("Wrote rows.parquet.\nWrote error.svg.\n")

    def test_options_reach_the_run(self, run, folder):
        features = np.random.default_rng(1).standard_normal((7, 3))
        np.savez(folder / "task.npz", features=features, theta=np.array([2.0, -1.0, 0.5]))
        line = (
            "simulate",
            "synthetic",
            *RUNS,
            "--task",
            "task.npz",
            "--refit-every",
            "2",
            "--scaling",
            "none",
            "--noise",
            "4",
            "--algorithms",
        )
        assert {row["algorithm"] for row in run(*line, "uniform-independent", "--json").json} == {"uniform-independent"}
        assert run(*line, "uniform-independent").out.startswith("7 items, 3 feature columns, noise 4\n")

    @pytest.mark.slow
    def test_jobs_change_nothing(self, run):
        one, two = (run(*SYNTHETIC, "--json", "--jobs", jobs).json for jobs in ("1", "2"))
        assert without_seconds(one) == without_seconds(two)


class TestRecorded:
    @pytest.mark.parametrize("holdout", ["answers", "pairs"])
    def test_table(self, run, recorded, holdout):
        result = run(*recorded, "--holdout", holdout, "--share", "0.25", "--every", "1")
        assert result.code == 0
        assert "Held-out error" in result.out
        assert "guro-hybrid" in result.out
        assert result.out.startswith(
            f"4 items, 0 feature columns, 12 answers on 6 pairs; 25 % of the {holdout} held out\n"
        )

    def test_principal_components(self, run, recorded, folder):
        np.save(folder / "features.npy", np.random.default_rng(2).standard_normal((4, 6)))
        line = ("--features", "features.npy", "--pca", "0.5", "--share", "0.2")
        assert "1 feature column," in run(*recorded, *line).out
        assert "2 feature columns," in run(*recorded, *line, "--pca", "2").out

    def test_what_is_left_out_and_not_used_is_said(self, run, recorded, folder):
        made = (folder / "made.csv").read_text().replace("winner,", "choice,").replace("\nb,a,b", "\nb,a,")
        (folder / "made.csv").write_text(made)
        result = run(*recorded, "--map", "winner=choice", "--share", "0.25", "--json")
        assert result.err == ("Columns not used: sharpness, contrast.\nLeft out, without an answer: 1.\n")
        assert result.json[0]["step"] == 0

    def test_models_cannot_be_told_apart(self, run, recorded):
        assert run(*recorded, "--models", "nobody").err == (
            "Error: --models has no effect here: a simulation takes all answers alike; leave it out\n"
        )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("--backend", "dask"), "--backend dask and --scheduler ADDRESS go together"),
        (("--scheduler", "tcp://127.0.0.1:1"), "--backend dask and --scheduler ADDRESS go together"),
        (("--backend", "ray"), "Invalid value for '--backend': 'ray' is not one of 'processes', 'dask'"),
        (("--backend", "dask", "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"), "leave it out with --backend dask"),
    ],
)
def test_who_does_the_work_is_said_in_one_way(run, line, message):
    for command in (SYNTHETIC, ("reproduce", "synthetic")):
        result = run(*command, *line)
        assert (result.code, result.out) == (2, "")
        assert message in result.err


def test_an_aim_is_measured_besides_the_error(run, recorded):
    names = ("--algorithms", "guro-independent,aim-independent", "--aim", "top:1")
    result = run(*SYNTHETIC, *names, "--plot", "aim.png")
    assert (result.code, result.err) == (0, "")
    assert "Ordering error by number of comparisons" in result.out
    assert "Share found by number of comparisons" in result.out
    rows = run(*recorded, "--algorithms", "guro-independent,aim-independent", "--aim", "top:1", "--json").json
    assert {row["part"] for row in rows} == {"held-out error", "share found"}
    assert {row["error"] for row in rows if row["part"] == "share found"} <= {0.0, 1.0}


def test_an_aim_that_cannot_be_is_refused(run):
    result = run(*SYNTHETIC, "--aim", "top:8")
    assert (result.code, result.out) == (2, "")
    assert "top:8 leaves nothing to find out" in result.err


def test_a_task_of_a_file_is_not_drawn(run, folder):
    np.savez(folder / "task.npz", X=np.eye(4, 2), theta=np.ones(2))
    for option in ("--n", "--d", "--task-seed"):
        result = run("simulate", "synthetic", "--task", "task.npz", option, "3")
        assert result.code == 2
        assert "--n, --d and --task-seed are about a task that is drawn; task.npz says how large it is" in result.err
