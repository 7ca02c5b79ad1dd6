"""What of the items annotators are shown: refused, converted, or taken from a folder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

from ordinate import Study
from ordinate.data.formats import write_columns


@pytest.fixture
def photos(folder):
    """One picture that browsers show, two that they do not show rightly, and files that are no items."""
    place = folder / "photos"
    (place / "sub").mkdir(parents=True)
    Image.new("RGB", (4, 4), "red").save(place / "a.png")
    Image.new("RGB", (4, 4), "blue").save(place / "sub" / "b.tif")
    Image.fromarray(np.arange(64, dtype=np.uint16).reshape(8, 8) * 60).save(place / "c.png")
    (place / ".DS_Store").write_bytes(b"x")
    (place / "notes.docx").write_bytes(b"PK\3\4")
    return place


def made(name="study.db"):
    with Study.open(f"sqlite:///{name}") as study:
        return study.items


def test_a_picture_that_browsers_do_not_show_is_refused_with_what_to_do(run, photos, folder):
    result = run("create", "study.db", "--items", "photos")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "Error: photos: 1 file or address cannot be shown to annotators: row 3, item 'sub/b.tif': image 'sub/b.tif' is "
        "a TIFF picture, which browsers do not show. To go on: convert it; --convert writes versions that browsers "
        "show\n"
    )
    assert not (folder / "study.db").exists()


def test_a_folder_becomes_a_study_with_web_versions_beside_it(run, photos, folder):
    before = {path: path.read_bytes() for path in photos.rglob("*") if path.is_file()}
    result = run("create", "study.db", "--items", "photos", "--convert")
    assert result.code == 0
    assert "Made study.db: 3 items" in result.out
    assert "Ignored, hidden or left behind by a system: .DS_Store." in result.err
    assert "Left out, because browsers cannot show this kind of file: notes.docx." in result.err
    assert "Converted for browsers: 2 pictures" in result.err
    assert "Of these, 1 had more than 8 bits of grey: each was scaled to 8 bits" in result.err
    items = made()
    assert items.ids == ("a.png", "c.png", "sub/b.tif")
    a, c, b = items.content["image"]
    assert a == "photos/a.png"
    assert c.startswith("study-pictures/c-")
    assert b.startswith("study-pictures/b-")
    assert b.endswith(".jpg")
    assert all((folder / place).is_file() for place in (a, b, c))
    assert {path: path.read_bytes() for path in before} == before


def test_new_files_of_the_folder_are_added(run, photos, folder):
    assert run("create", "study.db", "--items", "photos", "--convert").code == 0
    Image.new("RGB", (4, 4), "green").save(photos / "d.tif")
    added = run("add-items", "study.db", "--items", "photos", "--convert", "--json").json
    assert (added["added"], added["items"]) == (1, 4)
    assert made().content["image"][3].startswith("study-pictures/d-")
    assert run("add-items", "study.db", "--items", "photos", "--json").json["added"] == 0


def test_nothing_is_left_of_a_study_that_could_not_be_made(run, photos, folder):
    assert run("create", "study.db", "--items", "items.csv").code == 0
    before = (folder / "study.db").read_bytes()
    result = run("create", "study.db", "--items", "photos", "--convert")
    assert (result.code, result.out) == (2, "")
    assert "exists" in result.err
    assert not (folder / "study-pictures").exists()
    assert (folder / "study.db").read_bytes() == before


def test_pictures_that_come_out_wrong_are_mentioned(run, photos, folder):
    (folder / "some.csv").write_text("id,image\na,photos/a.png\nc,photos/c.png\n")
    result = run("create", "study.db", "--items", "some.csv")
    assert result.code == 0
    assert "1 picture of more than 8 bits of grey, or in CMYK colours" in result.err
    notes = run("create", "other.db", "--items", "some.csv", "--json").json["notes"]
    assert len(notes) == 1


def test_many_at_once(run, folder):
    images = ["file:///x.png", *(f"{number}.png" for number in range(7))]
    columns: dict[str, list[Any]] = {"id": list(range(8)), "image": images}
    write_columns(folder / "bad.csv", columns)
    result = run("create", "study.db", "--items", "bad.csv")
    assert (
        "bad.csv: 8 files or addresses cannot be shown to annotators: row 1, item '0': image 'file:///x.png' is an"
        in (result.err)
    )
    assert "row 5, item '4'" in result.err
    assert result.err.endswith("; and 3 more. To go on: correct them, or leave these items out\n")


@pytest.mark.parametrize(
    ("place", "words"),
    [("A.png", "'a.png' looks alike"), ("sub\\b.png", "write the path with / as in sub/b.png")],
)
def test_a_missing_file_is_answered_with_the_nearest(run, photos, folder, place, words):
    Image.new("RGB", (4, 4)).save(photos / "sub" / "b.png")
    write_columns(photos / "t.csv", {"id": ["a", "b"], "image": ["a.png", place]})
    assert words in run("create", "study.db", "--items", "photos/t.csv").err


class TestLookAlikes:
    def test_are_different_items_and_mentioned(self, run, folder):
        ids = ["7", "007", "a", "A", "caf\u00e9", "cafe\u0301", "x"]
        write_columns(folder / "t.csv", {"id": ids})
        result = run("create", "study.db", "--items", "t.csv")
        assert result.code == 0
        assert result.err == (
            "Ids that look alike but differ, since the exact text decides: '7' and '007', 'a' and 'A', "
            "'caf\\xe9' and 'cafe\\u0301'.\n"
        )
        assert made().ids == tuple(ids)
        write_columns(folder / "more.csv", {"id": ["X", "new"]})
        assert "'x' and 'X'." in run("add-items", "study.db", "--items", "more.csv").err

    def test_groups_too(self, run, folder):
        write_columns(folder / "t.csv", {"id": list("abcd"), "group": ["g", "g", "G", "G"]})
        (told,) = run("create", "study.db", "--items", "t.csv", "--json").json["notes"]
        assert told == "Groups that look alike but differ, since the exact text decides: 'g' and 'G'."

    def test_an_unknown_item_is_answered_with_the_nearest(self, run, study, folder):
        assert "the study has no item 'A'; 'a' looks alike" in run("exclude", "study.db", "--item", "A").err
        (folder / "made.csv").write_text("left,right,winner\na,b,a\nc,D ,c\n")
        refused = run("import", "study.db", "made.csv")
        assert refused.err == "Error: made.csv: row 2: there is no item 'D '; 'd' looks alike\n"

    def test_an_unknown_query_too(self, run, study):
        query = run("ask", "study.db", "--json").json["queries"][0]["id"]
        token, _, number = query.rpartition("-")
        for given in (f"{token}-0{number}", f" {query}", f"{token[:-1]}-{number}"):
            refused = run("tell", "study.db", given, "left")
            assert refused.code == 2
            assert repr(query) in refused.err
        assert "nearest" not in run("tell", "study.db", f"{token}-99", "left").err

    def test_an_unknown_annotator_too(self, run, study, folder):
        (folder / "made.csv").write_text("left,right,winner,annotator\na,b,a,Mallory\n")
        run("import", "study.db", "made.csv")
        assert "Mallory" in run("exclude", "study.db", "--annotator", "Malory").err
        assert "Excluded annotators: Mallory." in run("exclude", "study.db", "--annotator", "mallory").out


def test_an_excluded_item_is_not_added_again_but_included(run, study, folder):
    run("exclude", "study.db", "--item", "b")
    (folder / "more.csv").write_text("id,sharpness,contrast\nb,1,1\n")
    refused = run("add-items", "study.db", "--items", "more.csv")
    assert refused.code == 2
    assert "take it back in with: ordinate include study.db --item b" in refused.err


def test_columns_that_are_not_used_are_named_when_items_are_added(run, study, folder):
    (folder / "more.csv").write_text("id,sharpness,contrast,colour\ne,1,1,red\n")
    assert "Columns not used: colour." in run("add-items", "study.db", "--items", "more.csv").out
