import numpy as np
import pytest

from ordinate.data.formats import read_columns
from ordinate.datasets import DATASETS, export_dataset, read_dataset, read_recorded
from ordinate.errors import InvalidInput


@pytest.mark.parametrize("name", [name for name, row in DATASETS.items() if row.expects])
def test_tables_are_read_back_as_they_were(name, published, tmp_path):
    folder, out = published(name), tmp_path / "deep" / "out"
    if name == "recorded":
        np.save(folder / "features.npy", np.eye(3))
    dataset = read_dataset(name, folder)
    written = export_dataset(dataset, folder, out)
    assert [path.name for path in written[:1]] == ["items.csv"]
    table = read_columns(out / "items.csv")
    assert tuple(table["id"]) == dataset.items.ids
    if dataset.truth is not None:
        assert [float(value) for value in table["truth"]] == dataset.truth.tolist()
    for place in dataset.items.content.get("image", ()):
        assert place is not None
        assert "://" in place or (out / table["image"][0]).is_file()
    assert (out / "comparisons.csv").exists() == bool(dataset.comparisons)
    if dataset.comparisons:
        features = out / "features.npy" if name == "recorded" else None
        again = read_recorded(out / "items.csv", out / "comparisons.csv", features=features)
        assert again.comparisons == dataset.comparisons
        np.testing.assert_array_equal(again.items.features, dataset.items.features)


def test_groups_and_absolute_paths_stay(tmp_path):
    (tmp_path / "items.csv").write_text("id,group,image\na,g,/a.png\nb,g,\n")
    (tmp_path / "comparisons.csv").write_text("left,right,winner\na,b,a\n")
    export_dataset(read_dataset("recorded", tmp_path), tmp_path, tmp_path / "out")
    assert read_columns(tmp_path / "out" / "items.csv") == {
        "id": ["a", "b"],
        "group": ["g", "g"],
        "image": ["/a.png", ""],
    }


def test_what_items_belong_to_stays(tmp_path):
    (tmp_path / "items.csv").write_text("id,model,length,note\na,one,3,x\nb,,40,y\n")
    (tmp_path / "comparisons.csv").write_text("left,right,winner\na,b,a\n")
    export_dataset(read_dataset("recorded", tmp_path), tmp_path, tmp_path / "out")
    assert read_columns(tmp_path / "out" / "items.csv") == {
        "id": ["a", "b"],
        "model": ["one", ""],
        "length": ["3", "40"],
    }


@pytest.mark.parametrize("there", ["items.csv", "comparisons.csv"])
def test_nothing_is_written_over(there, published, tmp_path):
    folder, out = published("wisc-ads"), tmp_path / "out"
    out.mkdir()
    (out / there).write_text("mine")
    with pytest.raises(InvalidInput, match=rf"{there} exists and was not changed"):
        export_dataset(read_dataset("wisc-ads", folder), folder, out)
    assert [path.name for path in out.iterdir()] == [there]
    assert (out / there).read_text() == "mine"
