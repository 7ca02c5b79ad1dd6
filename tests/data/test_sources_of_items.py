"""Items from where they are: vectors in a column, categories, lines of text, data sets on disk, tables without ids."""

import base64
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from PIL import Image

from ordinate import Items, Study
from ordinate.data.cells import text_id
from ordinate.data.feature_columns import feature_matrix, one_hot_names
from ordinate.data.formats import FORMATS, read_columns
from ordinate.data.items import read_item_columns
from ordinate.data.makers import makers_of
from ordinate.data.projection import Projection
from ordinate.data.recipe import GIVEN, Recipe
from ordinate.data.tables import Columns
from ordinate.errors import InvalidInput

TABLE: dict[str, list[Any]] = {
    "id": ["a", "b", "c"],
    "size": [1, 2, 4],
    "material": ["wood", "steel", "wood"],
    "fits": [True, False, True],
}


def test_a_column_of_vectors_is_a_matrix():
    vectors = [[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]]
    for column in (vectors, [np.array(one) for one in vectors], [str(one) for one in vectors]):
        items = Items.from_columns({**TABLE, "embedding": column}, feature_columns=["embedding"])
        assert items.features.tolist() == vectors
        assert items.feature_names is None
    with pytest.raises(InvalidInput, match="row 2 of column 'v' is no vector of 2 numbers as in row 1"):
        feature_matrix({"v": [[1, 2], [1, 2, 3]]}, ["v"])
    with pytest.raises(InvalidInput, match="row 2 of column 'v' is no vector of 2"):
        feature_matrix({"v": [[1, 2], None]}, ["v"])
    with pytest.raises(InvalidInput, match="column 'v' holds vectors; name it alone"):
        feature_matrix({"v": [[1, 2]], "w": [1]}, ["v", "w"])


def test_categories_become_columns_and_new_items_need_known_values():
    items = Items.from_columns(TABLE, feature_columns=["size"], categorical=["material"])
    assert items.feature_names == ("size", "material=steel", "material=wood")
    assert items.features.tolist() == [[1, 0, 1], [2, 1, 0], [4, 0, 1]]
    assert items.unused(TABLE) == ["fits"]
    same = Items.from_columns(TABLE, feature_columns=items.feature_names)
    assert same.features.tolist() == items.features.tolist()
    with pytest.raises(InvalidInput, match="row 1 of column 'material' holds 'glass'; it is 'steel', 'wood'"):
        Items.from_columns({"id": ["d"], "size": [1], "material": ["glass"]}, feature_columns=items.feature_names)
    with pytest.raises(InvalidInput, match=r"no column 'material'; the table has 'id', 'size'$"):
        Items.from_columns({"id": ["d"], "size": [1]}, feature_columns=items.feature_names)
    with pytest.raises(InvalidInput, match="row 1 of column 'material' is empty"):
        one_hot_names({"material": [None]}, ["material"])
    with pytest.raises(InvalidInput, match=r"no column 'materal'; .*; 'material' is the nearest"):
        one_hot_names(TABLE, ["materal"])
    with pytest.raises(InvalidInput, match="has 60 different values, such as '0'; a category has 50 at most"):
        one_hot_names({"n": list(range(60))}, ["n"])


def test_names_of_categories_and_their_values_may_hold_the_sign():
    table: Columns = {"id": ["a", "b"], "a=b": ["x=y", "z"], "a": ["b=c", "d"], "n=1": [3, 4]}
    items = Items.from_columns(table, feature_columns=["n=1"], categorical=["a=b"])
    assert items.feature_names == ("n=1", "a=b=x=y", "a=b=z")
    assert items.features.tolist() == [[3, 1, 0], [4, 0, 1]]
    assert items.unused(table) == ["a"]
    assert Items.from_columns(table, feature_columns=items.feature_names).features.tolist() == items.features.tolist()
    short = {name: values for name, values in table.items() if name != "a=b"}
    assert Items.from_columns(short, categorical=["a"]).feature_names == ("a=b=c", "a=d")


def test_a_length_in_categories_is_no_measured_length():
    table = {"id": ["a", "b"], "length": ["short", "long"]}
    given = Items.from_columns(table, categorical=["length"])
    for items in (given, Items.from_columns(table, feature_columns=["length=long", "length=short"])):
        assert items.feature_names == ("length=long", "length=short")
        assert (items.labels, items.unused(table)) == ({}, [])
    assert Items.from_columns({**table, "length": [3, 4]}).labels == {"length": ("3", "4")}
    with pytest.raises(InvalidInput, match="row 1 of 'length' is 'short', not a number above 0"):
        Items.from_columns(table)


@pytest.mark.parametrize("kind", ["text", "image", "html"])
@pytest.mark.parametrize("empty", ["", None, float("nan"), pandas.NA])
def test_an_item_without_a_name_is_named_by_its_row(kind, empty):
    with pytest.raises(InvalidInput, match=f"^row 2 of '{kind}' is empty, so this item has no name, since the table"):
        Items.from_columns({kind: ["a", empty], "size": [1, 2]})
    with pytest.raises(InvalidInput, match=f"^row 2 of '{kind}' is empty"):
        Items.from_columns({"shown": ["a", empty]}, content={kind: "shown"})
    assert Items.from_columns({kind: ["a", empty], "nr": [1, 2]}, id_column="nr").ids == ("1", "2")


def test_numbers_can_be_what_items_are_called_by():
    assert Items.from_columns({"text": [7, "x", 2.0, 0.5]}).ids == ("7", "x", "2", "0.5")
    with pytest.raises(InvalidInput, match="no column 'id'"):
        Items.from_columns({"text": ["x", ["y"]]})


def test_a_column_of_words_is_no_number_and_the_error_says_what_it_may_be():
    with pytest.raises(InvalidInput, match=r"row 1 of column 'material' holds 'wood', which is no number$") as caught:
        Items.from_columns(TABLE, feature_columns=["material"])
    assert caught.value.option == "if the column holds categories, make the study with --categorical material"
    with pytest.raises(InvalidInput, match=r"no column 'sise'; .*; 'size' is the nearest"):
        Items.from_columns(TABLE, feature_columns=["sise"])


def test_a_column_of_makers_that_is_not_there_is_named_as_any_other_is():
    with pytest.raises(InvalidInput, match=r"^no column 'author'; the table has 'id', 'size', 'material', 'fits'$"):
        makers_of(TABLE, TABLE["id"], "author")


def test_a_table_without_ids_is_named_by_what_it_shows():
    long = "x" * 100
    assert Items.from_columns({"text": ["short", long]}).ids == ("short", text_id(long))
    assert Items.from_columns({"image": ["a.png", "b.png"]}).ids == ("a.png", "b.png")
    named = Items.from_columns({"url": ["https://e.org/1", "https://e.org/2"]}, content={"link": "url"})
    assert named.ids == named.content["link"] == ("https://e.org/1", "https://e.org/2")
    with pytest.raises(InvalidInput, match=r"no column 'id'.*; name the column of ids"):
        Items.from_columns({"review": ["good"]})
    for options in ({"id_column": "nam"}, {"feature_columns": ["nam"]}):
        with pytest.raises(InvalidInput, match=r"no column 'nam'; the table has 'review'$"):
            Items.from_columns({"review": ["good"]}, content={"text": "review"}, **options)
    with pytest.raises(InvalidInput, match="id 'same' stands in row 1 and in row 2"):
        Items.from_columns({"text": ["same", "same"]})
    with pytest.raises(InvalidInput, match="unknown content 'txt'"):
        Items.from_columns(TABLE, content={"txt": "id"})


def test_each_line_of_a_text_file_is_an_item(tmp_path):
    (tmp_path / "lines.txt").write_text("one\n\n  two \n")
    items = Items.read(tmp_path / "lines.txt")
    assert (items.ids, items.content) == (("one", "two"), {"text": ("one", "two")})


def png(grey):
    file = io.BytesIO()
    Image.new("L", (2, 2), grey).save(file, "PNG")
    return file.getvalue()


def test_pictures_within_a_table_become_addresses():
    data = png(7)
    pictures: list[Any] = [{"bytes": data, "path": None}, {"bytes": None, "path": "b.png"}]
    items = Items(["a", "b"], content={"image": pictures})
    address, path = items.content["image"]
    assert base64.b64decode(str(address).removeprefix("data:image/png;base64,")) == data
    assert path == "b.png"
    with pytest.raises(InvalidInput, match="row 1 of 'image' is text, which browsers do not show"):
        Items.from_columns({"id": ["a"], "image": [{"bytes": b"hello", "path": None}]})


def test_a_data_set_that_hugging_face_wrote(tmp_path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "vector": datasets.Sequence(datasets.Value("float32")),
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["no", "yes"]),
        }
    )
    rows = {"text": ["x", "y", "z"], "vector": np.eye(3).tolist(), "label": [0, 1, 1]}
    rows["image"] = [Image.new("L", (2, 2), grey) for grey in (1, 2, 3)]
    made = datasets.Dataset.from_dict(rows, features)
    made.shuffle(seed=3).save_to_disk(tmp_path / "shuffled", num_shards=2)
    datasets.DatasetDict({"train": made, "test": made}).save_to_disk(tmp_path / "splits")
    columns = read_item_columns(tmp_path / "splits" / "train")
    assert columns["label"] == ["no", "yes", "yes"]
    items = Items.from_columns({**columns, "id": columns["text"]}, feature_columns=["vector"])
    assert items.features.tolist() == np.eye(3).tolist()
    assert str(items.content["image"][1]).startswith("data:image/png;base64,")
    assert sorted(read_columns(tmp_path / "shuffled")["text"]) == ["x", "y", "z"]
    with pytest.raises(InvalidInput, match="holds several splits; give the folder of one: train, test"):
        read_columns(tmp_path / "splits")
    (arrow, *_) = sorted((tmp_path / "shuffled").glob("*.arrow"))
    arrow.write_bytes(arrow.read_bytes()[:100])
    with pytest.raises(InvalidInput, match=rf"{arrow.name}: this is no whole Arrow stream"):
        read_columns(tmp_path / "shuffled")


def test_parquet_needs_polars_or_pyarrow_alone(tmp_path: Path, monkeypatch):
    pytest.importorskip("pyarrow")
    pandas.DataFrame(TABLE).to_parquet(tmp_path / "t.parquet")
    by_polars = FORMATS[".parquet"].encode(TABLE)
    monkeypatch.setattr("ordinate.data.formats.parquet.find_spec", lambda name: None if name == "polars" else object())
    monkeypatch.setitem(sys.modules, "polars", None)
    assert read_columns(tmp_path / "t.parquet") == TABLE
    assert FORMATS[".parquet"].decode(by_polars) == TABLE
    assert FORMATS[".parquet"].decode(FORMATS[".parquet"].encode(TABLE)) == TABLE
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + bytes(99) + b"PAR1")
    with pytest.raises(InvalidInput, match="damaged"):
        read_columns(tmp_path / "t.parquet")
    with pytest.raises(InvalidInput, match="column 'm' holds values of different types"):
        FORMATS[".parquet"].encode({"m": [1, "a"]})


class TestGivenFeaturesReduced:
    def test_measurements_are_standardised_first(self):
        rng = np.random.default_rng(0)
        raw = rng.normal(size=(40, 3)) * [1.0, 1000.0, 1e-3] + [5.0, 0.0, 1.0]
        standard = (raw - raw.mean(axis=0)) / raw.std(axis=0)
        projection = Projection.of_measurements(raw, 2)
        expected = Projection.fit(standard, 2).apply(standard)
        np.testing.assert_allclose(projection.apply(raw), expected, atol=1e-10)

    def test_new_items_go_through_the_same_projection(self):
        rng = np.random.default_rng(1)
        raw = rng.normal(size=(30, 6))
        items, recipe = Recipe.of_given(Items([str(k) for k in range(30)], raw), 2)
        assert (items.features.shape, recipe.encoder) == ((30, 2), GIVEN)
        study = Study.create(items, recipe=recipe)
        new = recipe.projected(Items(["new"], raw[:1]))
        np.testing.assert_allclose(new.features[0], items.features[0])
        study.add_items(new)
        with pytest.raises(
            InvalidInput, match="have 5 feature columns; the study's principal components are those of 6"
        ):
            recipe.projected(Items(["new"], raw[:1, :5]))

    @pytest.mark.parametrize("names", [list("abcd"), None], ids=["named", "a matrix"])
    def test_columns_of_other_names_are_refused_as_where_nothing_is_reduced(self, names):
        raw = np.random.default_rng(2).normal(size=(9, 4))
        given = Items([str(k) for k in range(9)], raw, feature_names=names)
        items, recipe = Recipe.of_given(given, 2)
        like = recipe.projected(Items(["new"], raw[:1], feature_names=names))
        np.testing.assert_allclose(like.features[0], items.features[0])
        others = [
            Items(["new"], raw[:1, ::-1], feature_names=list("dcba")),
            Items(["new"], {"one": raw[:1, :2], "two": raw[:1, 2:]}),  # type: ignore[arg-type]
            Items(["new"], raw[:1], feature_names=None if names else list("abcd")),
        ]
        for other in others:
            with pytest.raises(InvalidInput) as without:
                Study.create(given).add_items(other)
            with pytest.raises(InvalidInput) as reduced:
                recipe.projected(other)
            assert str(reduced.value) == str(without.value)

    def test_features_that_are_partly_in_a_file_are_reduced(self, tmp_path):
        raw = np.random.default_rng(3).normal(size=(6, 3))
        np.save(tmp_path / "raw.npy", raw[:4])
        study = Study.create(Items(list("abcd"), tmp_path / "raw.npy"))
        study.add_items(Items(list("ef"), raw[4:]))
        reduced, recipe = Recipe.of_given(study.items, 2)
        np.testing.assert_array_equal(reduced.features, Recipe.of_given(Items(list("abcdef"), raw), 2)[0].features)
        np.testing.assert_array_equal(recipe.projected(study.items).features, reduced.features)
