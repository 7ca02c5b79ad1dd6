"""`ordinate reproduce`: each experiment at a tiny size, from the command to the figures."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from ordinate.experiments import EXPERIMENTS


@pytest.mark.slow
def test_synthetic(run, folder):
    rng = np.random.default_rng(0)
    np.savez(folder / "task.npz", features=rng.standard_normal((12, 2)), theta=np.array([1.0, -2.0]))
    curve = {"step": [0, 10, 20], "mean": [0.5, 0.2, 0.1], "se": [0.0, 0.01, 0.01]}
    (folder / "reference.json").write_text(json.dumps({"algorithms": {"GURO": curve}}))
    arguments = ["reproduce", "synthetic", "--task", "task.npz", "--reference", "reference.json"]
    done = run(*arguments, "--seeds", "2", "--budget", "20", "--out", "here")
    assert done.code == 0, done.err
    assert "GURO contextual" in done.out
    rows = pl.read_parquet("here/synthetic/synthetic/loss-and-bounds/rows.parquet")
    assert {"algorithm", "seed", "step", "error", "part"} <= set(rows.columns)
    assert rows["seed"].unique().sort().to_list() == [0, 1]
    assert rows["step"].max() == 20
    for name in ("synthetic-loss", "synthetic-bounds"):
        for suffix in (".png", ".svg", ".pdf"):
            assert (folder / "here" / "figures" / f"{name}{suffix}").stat().st_size > 1000
    (folder / "page.md").write_text("<!-- begin synthetic/synthetic -->\n<!-- end synthetic/synthetic -->\n")
    arguments += ["--page", "page.md"]
    again = run(*arguments, "--seeds", "2", "--budget", "20", "--out", "here")
    assert "The reference at these steps:" in (folder / "page.md").read_text()
    assert "| GURO contextual | 0.500 ± 0.000 |" in (folder / "page.md").read_text()
    assert "0 runs made" in again.out


@pytest.mark.slow
def test_a_report_runs_nothing_and_shows_what_is_there(run, folder):
    assert run("reproduce", "synthetic", "--seeds", "1", "--budget", "5", "--out", "here").code == 0
    for path in (folder / "here").rglob("rows.parquet"):
        pl.read_parquet(path).filter(~pl.col("algorithm").str.starts_with("bald")).write_parquet(path)
    kept = {path: path.read_bytes() for path in (folder / "here").rglob("*.parquet")}
    for path in (folder / "here" / "figures").iterdir():
        path.unlink()
    done = run("reproduce", "report", "--budget", "5", "--out", "here")
    assert done.code == 0, done.err
    assert "GURO contextual" in done.out
    assert "BALD" not in done.out
    assert "Left out: wisc-ads runs on wisc-ads" in done.err
    assert (folder / "here" / "figures" / "synthetic-loss.svg").is_file()
    assert {path: path.read_bytes() for path in (folder / "here").rglob("*.parquet")} == kept


def test_an_unknown_experiment_lists_those_there_are(run):
    done = run("reproduce", "nonsense")
    assert done.code == 2
    assert all(name in done.err for name in EXPERIMENTS)


@pytest.mark.parametrize(("option", "what"), [("--task", "a task"), ("--reference", "a reference")])
def test_what_belongs_to_the_synthetic_experiment_is_refused_elsewhere(run, folder, option, what):
    (folder / "file").write_text(json.dumps({"algorithms": {"GURO": {"step": [0], "mean": [0.5], "se": [0.0]}}}))
    done = run("reproduce", "wisc-ads", option, "file", "--folder", ".")
    assert done.code == 2
    assert f"{what} is only for the synthetic experiment; leave file out for wisc-ads" in done.err


def test_tables_without_a_truth_are_refused_by_the_synthetic_experiment(run, folder):
    (folder / "comparisons.csv").write_text("left,right,winner\na,b,a\n")
    done = run("reproduce", "synthetic", "--data", ".", "--seeds", "1", "--budget", "10", "--out", "here")
    assert done.code == 2
    assert "this experiment needs items with features and a column truth" in done.err
    missing = run("reproduce", "synthetic", "--reference", "nowhere.json", "--seeds", "1", "--budget", "2")
    assert "there is no file nowhere.json" in missing.err
    assert "reference curves" not in missing.err


@pytest.mark.parametrize("wrong", ["{", "{}", '{"algorithms": {"GURO": {"step": [0]}}}'])
def test_a_reference_of_another_layout_is_refused(run, folder, wrong):
    (folder / "reference.json").write_text(wrong)
    done = run(
        "reproduce", "synthetic", "--reference", "reference.json", "--seeds", "1", "--budget", "2", "--out", "here"
    )
    assert done.code == 2
    assert "reference.json holds no reference curves" in done.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a process group")
def test_interrupted_it_ends_with_130_and_keeps_the_runs_that_ended(tmp_path):
    command = [sys.executable, "-m", "ordinate", "reproduce", "synthetic", "--jobs", "2", "--budget", "100"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    rows = tmp_path / "synthetic" / "synthetic" / "loss-and-bounds"
    try:
        deadline = time.monotonic() + 120
        while len(list(rows.glob("[!.]*.parquet"))) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in said
        kept = list(rows.glob("[!.]*.parquet"))
        assert 3 <= len(kept) < 400
        assert all(pl.read_parquet(path)["step"].max() == 100 for path in kept)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
