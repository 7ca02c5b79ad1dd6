"""The other data sets of the paper, and what all readers have in common."""

from pathlib import Path

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.formats import read_columns, write_columns
from ordinate.datasets import DATASETS, read_dataset
from ordinate.errors import InvalidInput

ROOT = Path(__file__).parents[2]
READABLE = [name for name, row in DATASETS.items() if row.expects]
REQUIRED = [(name, file) for name in READABLE for file in DATASETS[name].expects if not file.optional]


@pytest.mark.parametrize("name", READABLE)
def test_each_is_read_from_its_folder(name, published):
    dataset = read_dataset(name, str(published(name)))
    assert len(dataset.items) >= 3
    assert dataset.truth is not None or dataset.comparisons


@pytest.mark.parametrize(("name", "file"), REQUIRED, ids=lambda value: getattr(value, "name", value))
def test_a_missing_file_is_an_error_that_lists_found_and_expected(name, file, published):
    folder = published(name)
    (folder / file.name).rename(folder / "other.csv")
    with pytest.raises(InvalidInput) as caught:
        read_dataset(name, folder)
    message = str(caught.value)
    assert f"has no {file.name} (columns {', '.join(file.columns)})" in message
    assert "found: " in message
    assert "other.csv" in message


@pytest.mark.parametrize(
    ("name", "file", "column"), [(name, file, column) for name, file in REQUIRED for column in file.columns]
)
def test_a_missing_column_is_an_error_that_lists_found_and_expected(name, file, column, published):
    path = published(name) / file.name
    columns = read_columns(path)
    columns = {"other" if found == column else found: values for found, values in columns.items()}
    write_columns(path, columns)
    expected = ", ".join(file.columns)
    with pytest.raises(InvalidInput) as caught:
        read_dataset(name, path.parent)
    assert str(caught.value) == f"{path}: expected the columns {expected}; found {', '.join(columns)}"


@pytest.mark.parametrize("name", READABLE)
def test_an_empty_folder_a_file_and_nothing(name, tmp_path):
    with pytest.raises(InvalidInput, match="found: nothing"):
        read_dataset(name, tmp_path)
    for place in (tmp_path / "absent", Path(__file__)):
        with pytest.raises(InvalidInput, match="is not a folder"):
            read_dataset(name, place)


def test_a_long_listing_is_cut(tmp_path):
    for number in range(20):
        (tmp_path / f"{number:02}.txt").touch()
    with pytest.raises(InvalidInput, match=r"found: 00\.txt, .* 11\.txt and 8 more"):
        read_dataset("x-ray-age", tmp_path)


def test_unknown_names_and_data_sets_without_a_folder(tmp_path):
    with pytest.raises(InvalidInput, match="unknown data set 'faces'; choose one of imdb-wiki-sbs, "):
        read_dataset("faces", tmp_path)
    with pytest.raises(InvalidInput, match="synthetic is not read from a folder"):
        read_dataset("synthetic", tmp_path)


@pytest.mark.parametrize("name", DATASETS)
def test_the_document_has_a_section_with_source_licence_files_and_columns(name):
    document = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    row = DATASETS[name]
    (section,) = (part for part in document.split("\n## ") if part.startswith(f"{name}\n"))
    words = " ".join(section.split())
    for text in (row.origin.removeprefix("made by: ").removeprefix("your own: "), row.licence):
        assert text in words
    for file in row.expects:
        assert f"`{file.name}`" in words
        assert all(f"`{column}`" in words for column in file.columns)


class TestWiscAds:
    def test_two_rows_make_a_comparison_and_repeated_rows_are_read_once(self, published):
        dataset = read_dataset("wisc-ads", published("wisc-ads"))
        assert dataset.items.ids == ("7732", "6957", "7083")
        assert dataset.comparisons == (
            Comparison("7732", "6957", "right", "W1"),
            Comparison("7083", "7732", "left", "W2"),
        )
        assert dataset.truth is None
        assert dataset.notes == ("duplicate rows, read once: 2",)

    def test_texts_are_shown_where_they_are_given(self, published):
        folder = published("wisc-ads")
        (folder / "texts.csv").write_text("text,ids\nfirst,6957\nsecond,7732\nthird,7083\nagain,7083\n")
        assert read_dataset("wisc-ads", folder).items.content["text"] == ("second", "first", "third")
        (folder / "texts.csv").write_text("text,ids\nfirst,6957\n")
        with pytest.raises(InvalidInput, match=r"texts\.csv: 2 compared ads have no text here, among them '7732'"):
            read_dataset("wisc-ads", folder)

    def test_the_archive_may_be_given_as_it_was_unpacked(self, published, tmp_path):
        inner = tmp_path / "APSRReplication" / "DataFiles" / "WiscAds2008"
        inner.parent.mkdir(parents=True)
        published("wisc-ads").rename(inner)
        for folder in (tmp_path, tmp_path / "APSRReplication", inner.parent, inner):
            assert len(read_dataset("wisc-ads", folder).items) == 3

    def test_the_error_says_how_to_make_the_table(self, tmp_path):
        (tmp_path / "all_batches.Rdata").touch()
        with pytest.raises(InvalidInput, match=r"found: all_batches\.Rdata\. Make it .* in R: write\.csv"):
            read_dataset("wisc-ads", tmp_path)

    @pytest.mark.parametrize("rows", [["1,a,1,w"], ["1,a,1,w", "1,b,1,w"], ["1,a,1,w", "1,b,0,w", "1,c,0,w"]])
    def test_a_comparison_needs_a_picked_and_another_ad(self, tmp_path, rows):
        (tmp_path / "all_batches.csv").write_text(
            "\n".join(["comparison_id,document_id,result,worker_id", *rows]) + "\n"
        )
        with pytest.raises(InvalidInput, match="comparison_id '1' must have two rows"):
            read_dataset("wisc-ads", tmp_path)


class TestXRayAge:
    def test_ages_are_the_truth(self, published):
        dataset = read_dataset("x-ray-age", published("x-ray-age"))
        assert dataset.items.ids == ("0", "1", "2")
        assert dataset.truth is not None
        assert dataset.truth.tolist() == [89.0, 72.0, 25.0]
        assert dataset.comparisons == ()

    @pytest.mark.parametrize("below", ["train", "kaggle/train", "kaggle/kaggle/train"])
    def test_images_have_six_digits(self, published, below):
        folder = published("x-ray-age")
        (folder / below).mkdir(parents=True)
        for number in range(3):
            (folder / below / f"00000{number}.png").touch()
        assert read_dataset("x-ray-age", folder).items.content["image"][2] == f"{below}/000002.png"
        (folder / below / "000001.png").unlink()
        with pytest.raises(InvalidInput, match=r"lacks 1 of the 3 images in train_age\.csv, for example 000001\.png"):
            read_dataset("x-ray-age", folder)


class TestImageClarity:
    def test_everything_is_read(self, published):
        dataset = read_dataset("image-clarity", published("image-clarity"))
        assert dataset.items.content["image"] == ("images/a.png", "images/b.png", "images/c.png")
        assert dataset.truth is not None
        assert dataset.truth.tolist() == [-1, -2, -3]
        assert [made.outcome for made in dataset.comparisons] == ["left", "right", "tie"]

    def test_an_image_that_is_not_there_is_named(self, published):
        folder = published("image-clarity")
        (folder / "images" / "b.png").unlink()
        with pytest.raises(InvalidInput, match=r"items\.csv: row 2: there is no file 'images/b\.png' in"):
            read_dataset("image-clarity", folder)


def test_recorded_answers_come_with_features_and_truth(published):
    folder = published("recorded")
    np.save(folder / "features.npy", np.eye(3))
    dataset = read_dataset("recorded", folder)
    assert dataset.items.features.tolist() == np.eye(3).tolist()
    assert dataset.truth is not None
    assert dataset.truth.tolist() == [-1, -2, -3]
    write_columns(folder / "items.csv", {"id": ["a", "b", "c"]})
    assert read_dataset("recorded", folder).truth is None
