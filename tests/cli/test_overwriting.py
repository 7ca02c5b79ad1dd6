"""No command writes over a file that it reads: least of all over a study."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from ordinate import Items, Study

BATTLES = "left,right,winner\na,b,left\nb,c,left\na,c,left\n"
SPELLINGS = ("study.html", "./study.html", "sub/../study.html", "link.html", "hard.html")


@pytest.fixture
def answered(folder):
    """study.html, which is a study whatever its name says, and other paths to it."""
    (folder / "sub").mkdir()
    with Study.create(Items(["a", "b", "c"]), storage="sqlite:///study.html") as made:
        made.record([("a", "b", "left"), ("b", "c", "left")])
    (folder / "link.html").symlink_to("study.html")
    os.link("study.html", "hard.html")
    return folder / "study.html"


@pytest.mark.parametrize("out", [*SPELLINGS, "absolute"])
@pytest.mark.parametrize("study", ["study.html", "sqlite:///study.html", "link.html"])
def test_a_report_does_not_replace_its_study(run, answered, study, out):
    before = answered.read_bytes()
    refused = run("report", study, "--out", str(answered) if out == "absolute" else out)
    assert (refused.code, refused.out) == (2, "")
    assert "is a file that this command reads; give another name to write to" in refused.err
    assert answered.read_bytes() == before


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_nor_what_sqlite_keeps_beside_it(run, answered, folder, suffix):
    (folder / f"study.html{suffix}").touch()
    (folder / "beside.html").symlink_to(f"study.html{suffix}")
    assert "this command reads" in run("report", "study.html", "--out", "beside.html").err


@pytest.mark.parametrize("name", ["study.db", "report.pdf", "report", "answers.csv"])
def test_a_report_is_an_html_page_by_its_name(run, study, folder, name):
    with Study.open("sqlite:///study.db") as opened:
        opened.record([("a", "b", "left")])
    before = study.read_bytes()
    refused = run("report", "study.db", "--out", name)
    assert refused.code == 2
    assert study.read_bytes() == before
    if name != "study.db":
        assert "a report is an HTML page; its name ends with .html or .htm" in refused.err
        assert not (folder / name).exists()


@pytest.mark.parametrize(
    "line",
    [
        "order battles.csv --out ./battles.csv",
        "order battles.csv --items items.csv --out items.csv",
        "order study.db --items items.csv --feature-columns sharpness,contrast --out items.csv",
        "plan --items items.csv --out items.csv",
        "simulate recorded --items items.csv --comparisons battles.csv --out battles.csv",
    ],
)
def test_a_table_does_not_replace_one_that_is_read(run, study, folder, line):
    (folder / "battles.csv").write_text(BATTLES)
    items = (folder / "items.csv").read_text()
    refused = run(*line.split())
    assert (refused.code, refused.out) == (2, "")
    assert "is a file that this command reads" in refused.err
    assert ((folder / "battles.csv").read_text(), (folder / "items.csv").read_text()) == (BATTLES, items)


def test_an_export_does_not_replace_the_features_that_a_study_refers_to(run, folder, monkeypatch):
    stored: Any = "features.npy"
    np.save(stored, np.random.default_rng(0).normal(size=(3, 2)))
    monkeypatch.setattr("ordinate.data.items.LARGEST_IN_MEMORY", 0)
    with Study.create(Items(["a", "b", "c"], stored), storage="sqlite:///big.db") as made:
        made.record([("a", "b", "left")])
    before = (folder / "features.npy").read_bytes()
    refused = run("export", "big.db", "--format", "win-matrix", "--out", "features.npy")
    assert "is a file that this command reads" in refused.err
    assert (folder / "features.npy").read_bytes() == before
    assert run("export", "big.db", "--format", "win-matrix", "--out", "wins.npy").code == 0


def test_an_embedding_does_not_replace_the_lines_that_it_is_of(run, folder):
    (folder / "names.ids.txt").write_text("one\ntwo\n")
    assert "this command reads" in run("embed", "--items", "names.ids.txt", "--out", "names.npy").err
    assert (folder / "names.ids.txt").read_text() == "one\ntwo\n"


def test_an_earlier_result_is_replaced(run, folder):
    (folder / "battles.csv").write_text(BATTLES)
    for _ in range(2):
        assert run("order", "battles.csv", "--out", "order.csv").code == 0
