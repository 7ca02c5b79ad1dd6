"""`ordinate demo`, with fewer photos and questions than a newcomer sees; its numbers are tested beside its code."""

from __future__ import annotations

import functools

import pytest

from ordinate.simulation import demo


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(demo, "run_demo", functools.partial(demo.run_demo, seeds=2, budget=20, photos=8, jobs=1))


def test_says_what_happened_and_what_comes_next(run, folder, small):
    result = run("demo", "--folder", "mine")
    assert result.code == 0
    for phrase in (
        "8 versions of one photo",
        'Which photo is clearer?" 20 times',
        "of all pairs of photos in the right order",
        "pairs chosen by ordinate",
        "pairs at random",
        "contact_sheet.png",
        "ordinate annotate mine/study.db",
        "ordinate create study.db --items items.csv",
        "ordinate order study.db --out ordering.csv",
    ):
        assert phrase in result.out
    left = {path.name for path in (folder / "mine").iterdir()}
    named = {"contact_sheet.png", "error.png", "ordering.csv", "study.db", "items.csv", "photos", "rows.csv"}
    assert left == named
    assert all(name in result.out for name in named)


def test_what_it_says_to_type_next_works(run, folder, small):
    run("demo")
    assert run("annotate", "ordinate-demo/study.db", keys="1q").code == 0
    assert run("order", "ordinate-demo/study.db").out.count("photo-") >= 8


def test_json(run, folder, small):
    result = run("demo", "--json")
    assert result.json["photos"] == 8
    assert result.json["folder"] == "ordinate-demo"
    assert set(result.json["questions_needed"]) == {"guro-hybrid", "uniform-hybrid", "uniform-independent"}


def test_a_folder_in_use_is_left_alone(run, folder, small):
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").touch()
    result = run("demo", "--folder", "mine")
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("Error: mine exists already")
    assert [path.name for path in (folder / "mine").iterdir()] == ["thesis.txt"]
