import numpy as np
import pytest
from sklearn.decomposition import PCA

from ordinate.data.comparisons import Comparison
from ordinate.datasets import principal_components, read_recorded
from ordinate.datasets.recorded import read_recorded_folder
from ordinate.errors import InvalidInput


@pytest.fixture
def features():
    rng = np.random.default_rng(0)
    return 5.0 + rng.standard_normal((60, 12)) @ np.diag(np.linspace(3, 0.1, 12)) @ rng.standard_normal((12, 12))


def aligned(ours, theirs):
    return ours * np.sign(np.sum(ours * theirs, axis=0))


@pytest.mark.parametrize("keep", [1, 4, 12, 0.5, 0.9, 0.999])
def test_components_are_those_of_scikit_learn_and_not_whitened(features, keep):
    theirs = PCA(keep, svd_solver="full").fit_transform(features)
    ours = principal_components(features, keep)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(aligned(ours, theirs), theirs, atol=1e-9)


def test_a_share_keeps_the_fewest_components_that_reach_it(features):
    variance = np.sort(np.linalg.eigvalsh(np.cov(features.T)))[::-1]
    reached = np.cumsum(variance) / variance.sum()
    assert principal_components(features, 0.9).shape[1] == 1 + int(np.sum(reached < 0.9))
    assert principal_components(features, reached[2]).shape[1] == 3


def test_all_components_keep_all_distances_between_items(features):
    reduced = principal_components(features, 12)
    for matrix in (features, reduced):
        matrix -= matrix.mean(axis=0)
    np.testing.assert_allclose(reduced @ reduced.T, features @ features.T, atol=1e-9)


def test_more_columns_than_rows_and_identical_rows():
    wide = np.random.default_rng(1).standard_normal((5, 40))
    assert principal_components(wide, 0.99).shape[1] <= 5
    assert principal_components(np.ones((4, 3)), 0.9).tolist() == [[0.0]] * 4


@pytest.mark.parametrize("keep", [0, 1.5, -1, 100, True, float("nan"), float("inf"), "0.9", None])
def test_other_amounts_are_refused(features, keep):
    with pytest.raises(InvalidInput):
        principal_components(features, keep)


def test_no_features_cannot_be_reduced():
    with pytest.raises(InvalidInput, match="no features to reduce"):
        principal_components(np.empty((4, 0)), 0.9)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "items.csv").write_text("id,text\n001,one\n002,two\n003,three\n004,four\n")
    (tmp_path / "comparisons.csv").write_text(
        "left,right,winner,annotator,group\n001,002,left,ann,g\n004,003,003,bob,h\n003,004,tie,,h\n"
    )
    np.save(tmp_path / "features.npy", np.arange(12.0).reshape(4, 3) ** 2)
    return tmp_path


def test_items_answers_features_and_groups_are_read(folder):
    dataset = read_recorded(folder / "items.csv", folder / "comparisons.csv", features=folder / "features.npy", pca=2)
    assert dataset.items.ids == ("001", "002", "003", "004")
    assert dataset.items.group == ("g", "g", "h", "h")
    assert dataset.items.content["text"][2] == "three"
    assert dataset.items.features.shape == (4, 2)
    assert dataset.comparisons[1] == Comparison("004", "003", "right", "bob")
    assert dataset.describe() == {"items": 4, "features": 2, "groups": 2, "answers": 3, "pairs": 2}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("left,right,winner,query\n001,002,,\n001,009,left,\n", r"comparisons.csv: row 2: there is no item '009'"),
        ("left,right,winner,group\n001,002,left,g\n002,003,left,h\n", "row 2: item '002' is compared in group 'g' and"),
        ("left,right,winner,group\n001,002,left,g\n", "item '003' is in no comparison"),
        ("left,right,winner\n001,001,left\n", "compared with itself"),
    ],
)
def test_answers_that_do_not_fit_the_items_are_refused(folder, lines, message):
    (folder / "comparisons.csv").write_text(lines)
    with pytest.raises(InvalidInput, match=message):
        read_recorded(folder / "items.csv", folder / "comparisons.csv")


def test_what_is_left_out_and_not_used_is_in_the_notes(folder):
    (folder / "items.csv").write_text("id,text,weight,truth,note\n001,one,1,4,x\n002,two,2,3,\n003,,3,2,\n004,,4,1,\n")
    (folder / "comparisons.csv").write_text("left,right,winner,query,coder\n001,002,left,,c\n001,002,,q,c\n")
    files = (folder / "items.csv", folder / "comparisons.csv")
    left_out = "Left out, without an answer: 1"
    assert read_recorded(*files).notes == ("Columns not used: weight, truth, note, coder", left_out)
    named = read_recorded(*files, feature_columns=["weight"], categorical=["truth"], content={"text": "note"})
    assert named.notes == ("Columns not used: coder", left_out)
    assert read_recorded_folder(folder).notes == ("Columns not used: weight, note, coder", left_out)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("sentimentit_movie_reviews", {"items": 497, "groups": 1, "answers": 9927}),
        ("ukpconvarg1", {"items": 1052, "groups": 32, "answers": 65340, "pairs": 16800}),
    ],
)
def test_the_real_data_sets_are_read_whole(shared_data, name, sizes):
    here = shared_data / name
    if not here.is_dir():
        pytest.skip(f"the real data ({name}) is not on this machine")
    dataset = read_recorded(here / "items.csv", here / "comparisons.csv", features=here / "features.npy", pca=0.9)
    assert {key: dataset.describe()[key] for key in sizes} == sizes
    assert 20 < dataset.describe()["features"] < 200
