import shutil

import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.formats import read_columns, write_columns
from ordinate.datasets import read_dataset
from ordinate.errors import InvalidInput


def test_tables_alone_are_read_whole(published):
    dataset = read_dataset("imdb-wiki-sbs", published("imdb-wiki-sbs"))
    assert dataset.items.ids[:2] == ("old.jpg", "middle.jpg")
    assert dataset.items.content["image"][0] == "https://example.org/IMDB-WIKI-SbS/old.jpg"
    assert dataset.truth is not None
    assert dataset.truth.tolist() == [80, 40, 10, 50, 51, 52]
    assert dataset.comparisons[1] == Comparison("middle.jpg", "young.jpg", "right", "bob")
    assert len(dataset.comparisons) == 4
    assert dataset.notes == (
        "answers that compare an image with itself, left out: 1",
        "there is no folder of images, so the paper's filter was not applied",
    )


def test_images_bring_the_filter_of_the_paper(faces):
    dataset = read_dataset("imdb-wiki-sbs", faces)
    assert dataset.items.ids == ("old.jpg", "middle.jpg", "young.jpg")
    assert dataset.items.content["image"] == ("images/old.jpg", "images/middle.jpg", "images/young.jpg")
    assert dataset.truth is not None
    assert dataset.truth.tolist() == [80, 40, 10]
    assert [made.left for made in dataset.comparisons] == ["old.jpg", "middle.jpg"]
    assert dataset.notes[-1] == "images left out: 2 grayscale, 1 under 160 x 160"


def test_an_image_that_is_not_there_is_left_out_and_counted(faces):
    (faces / "images" / "middle.jpg").unlink()
    dataset = read_dataset("imdb-wiki-sbs", faces)
    assert dataset.items.ids == ("old.jpg", "young.jpg")
    assert len(dataset.comparisons) == 1
    assert "1 not in the folder" in dataset.notes[-1]


def test_no_image_at_all_is_an_error(faces):
    shutil.rmtree(faces / "images")
    (faces / "images").mkdir()
    with pytest.raises(InvalidInput, match="no image is left; 6 not in the folder"):
        read_dataset("imdb-wiki-sbs", faces)


@pytest.mark.parametrize("keep", [0, 500])
def test_a_damaged_image_is_named(faces, keep):
    path = faces / "images" / "old.jpg"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InvalidInput, match=r"old\.jpg cannot be read as an image"):
        read_dataset("imdb-wiki-sbs", faces)


def test_the_repository_may_be_given_as_it_was_cloned(faces, tmp_path):
    clone = tmp_path / "clone"
    clone.mkdir()
    shutil.move(faces, clone / "data")
    assert read_dataset("imdb-wiki-sbs", clone).items.content["image"][0] == "data/images/old.jpg"


@pytest.mark.parametrize(
    ("file", "column", "value", "message"),
    [
        ("crowd_labels.csv", "right", "x.jpg", "crowd_labels.csv: row 1: 'x.jpg' is not in gt.csv"),
        ("crowd_labels.csv", "label", "middle.jpg", "row 1: the label 'middle.jpg' is neither"),
        ("gt.csv", "score", "old", "gt.csv: row 1 of column 'score' holds 'old'"),
        ("gt.csv", "label", "young.jpg", "gt.csv: id 'young.jpg' stands in row 1 and in row 3"),
    ],
)
def test_what_does_not_fit_is_named(published, file, column, value, message):
    folder = published("imdb-wiki-sbs")
    columns = read_columns(folder / file)
    columns[column][0] = value
    write_columns(folder / file, columns)
    with pytest.raises(InvalidInput, match=message):
        read_dataset("imdb-wiki-sbs", folder)


def test_the_published_sums_are_those_of_the_published_rows(shared_data):
    """gt.csv can be rebuilt from the copy of its rows."""
    import hashlib

    from ordinate.datasets.imdb_wiki_sbs import REMOTE

    rows = read_columns(shared_data / "imdb_wiki_sbs_partial" / "items.csv")
    lines = [f"{image},{truth}\n" for image, truth in zip(rows["image"], rows["truth"], strict=True)]
    assert hashlib.sha256("".join(["label,score\n", *lines]).encode()).hexdigest() == REMOTE[0].sha256
    assert len({image.rsplit("/", 1)[-1] for image in rows["image"]}) == len(lines) == 9150
