import csv
import os

import numpy as np
import pytest
from PIL import Image

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StudyExists
from ordinate.simulation.demo import ALGORITHM, BASELINES, run_demo
from ordinate.study.study import Study

pytestmark = pytest.mark.xdist_group("demo")  # which is run once for all


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    seen = []
    folder = tmp_path_factory.mktemp("demo") / "deep" / "demo"
    summary = run_demo(folder, seeds=2, budget=20, photos=12, jobs=1, progress=lambda *made: seen.append(made))
    return summary, seen


def test_the_folder_holds_the_study_the_ordering_the_pictures_and_the_items(made):
    summary, _ = made
    names = ["contact_sheet.png", "error.png", "items.csv", "ordering.csv", "photos", "rows.csv", "study.db"]
    assert sorted(os.listdir(summary.folder)) == names
    assert os.listdir(summary.folder.parent) == [summary.folder.name]
    for picture in (summary.plot, summary.contact_sheet):
        with Image.open(picture) as image:
            assert image.width > 800
    assert len(list((summary.folder / "photos").iterdir())) == 12


def test_the_study_opens_and_agrees_with_the_ordering_left_beside_it(made):
    summary, _ = made
    with Study.open(f"sqlite:///{summary.study}") as study:
        assert len(study.comparisons()) == summary.answers == 20
        assert not study.open_queries()
        assert [row["id"] for row in table(summary.ordering)] == list(study.ordering().ids)
        stated = study.reliability().fields()
        assert (summary.expected_error, summary.withheld) == (stated["expected_error"], stated["withheld"])
        study.tell(study.ask("somebody").id, "left")
        study.undo("somebody")


def test_the_items_can_be_used_again_by_hand(made):
    summary, _ = made
    items = Items.read(summary.items, feature_columns=summary.feature_columns)
    with Study.open(f"sqlite:///{summary.study}") as study:
        assert items.ids == study.items.ids
        np.testing.assert_array_equal(items.features, study.items.features)
    for name in items.content["image"]:
        assert (summary.folder / name).is_file()


def test_the_summary_counts_what_happened(made):
    summary, seen = made
    assert 0 <= summary.wrong_answers < 10
    assert set(summary.final_error) == set(summary.questions_needed) == {ALGORITHM, *BASELINES}
    assert summary.target_error == summary.final_error[BASELINES[0]]
    assert summary.questions_needed[BASELINES[0]] <= 20
    assert 0 <= summary.study_error < 0.5
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)
    assert seen[-1] == (20 * 7, 20 * 7)


@pytest.mark.slow
def test_the_same_seed_makes_the_same_files(made, tmp_path):
    summary, _ = made
    again = run_demo(tmp_path / "again", seeds=2, budget=20, photos=12, jobs=2)
    for name in ("ordering.csv", "items.csv", "contact_sheet.png"):
        assert (again.folder / name).read_bytes() == (summary.folder / name).read_bytes()
    assert again.final_error == summary.final_error


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(StudyExists, match="already exists"):
        run_demo(tmp_path, seeds=1, budget=2, photos=3)
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_an_empty_folder_is_filled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    summary = run_demo(".", seeds=1, budget=2, photos=3, jobs=1)
    assert summary.study.is_file()
    assert (tmp_path / "photos").is_dir()


def test_an_interrupted_demo_leaves_nothing(tmp_path):
    def interrupt(made, total):
        if made > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_demo(tmp_path / "demo", seeds=1, budget=5, photos=3, progress=interrupt)
    assert os.listdir(tmp_path) == []


def test_sizes_are_checked(tmp_path):
    with pytest.raises(InvalidInput):
        run_demo(tmp_path / "demo", photos=2)
