"""`ordinate demo`, with fewer photos and questions than a newcomer sees; its numbers are tested beside its code."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ordinate.cli.demo import report
from ordinate.simulation.demo import DemoSummary, run_demo


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DemoSummary]:
    """Where a demo was made, in the folder "mine", and what it measured."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("demo"))
        return Path.cwd(), run_demo("mine", seeds=2, budget=20, photos=8, jobs=1)


@pytest.fixture
def small(made: tuple[Path, DemoSummary], folder: Path) -> DemoSummary:
    """A demo in the working folder."""
    shutil.copytree(made[0] / "mine", "mine")
    return made[1]


def test_says_what_happened_and_what_comes_next(small, folder, capsys):
    report(small, as_json=False)
    out = capsys.readouterr().out
    for phrase in (
        "8 versions of one photo",
        'Which photo is clearer?" 20 times',
        "of all pairs of photos in the right order",
        "pairs chosen by ordinate",
        "random pairs, same model",
        "contact_sheet.png",
        "ordinate annotate mine/study.db",
        "ordinate create study.db --items items.csv",
        "ordinate order study.db --out ordering.csv",
    ):
        assert phrase in out
    left = {path.name for path in (folder / "mine").iterdir()}
    named = {"contact_sheet.png", "error.png", "ordering.csv", "study.db", "items.csv", "photos", "rows.csv"}
    assert left == named
    assert all(name in out for name in named)


def test_what_it_says_to_type_next_works(run, small):
    assert run("annotate", "mine/study.db", keys="1q").code == 0
    assert run("order", "mine/study.db").out.count("photo-") >= 8


def test_json(small, capsys):
    report(small, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert shown["photos"] == 8
    assert shown["folder"] == "mine"
    assert set(shown["questions_needed"]) == {"guro-hybrid", "uniform-hybrid", "uniform-independent"}


def test_a_folder_in_use_is_left_alone(run, folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").touch()
    result = run("demo", "--folder", "mine")
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("Error: mine already exists")
    assert [path.name for path in (folder / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.slow
def test_the_command_as_a_newcomer_types_it(run, folder):
    result = run("demo")
    assert result.code == 0
    assert "100 versions of one photo" in result.out
    (stated,) = re.findall(r"its own estimate is (\d+\.\d) %", result.out)
    error = run("status", "ordinate-demo/study.db", "--json").json["expected_error"]
    assert float(stated) == pytest.approx(100 * (1 - error), abs=0.05)
    assert (folder / "ordinate-demo" / "contact_sheet.png").exists()
