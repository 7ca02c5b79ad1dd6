"""Features in blocks: what is put side by side, how it is scaled, and that new items bring every block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ordinate.data.feature_blocks import BlockMap, FeatureBlock
from ordinate.data.feature_notes import feature_notes
from ordinate.data.items import Items
from ordinate.data.joining import joined
from ordinate.data.scaling import FeatureMap
from ordinate.errors import InvalidInput

RNG = np.random.default_rng(0)
TEXT = RNG.normal(size=(30, 4)) * [1.0, 2.0, 0.5, 1.0] + 3.0
TABLE: dict[str, Any] = {
    "id": [f"i{k}" for k in range(30)],
    "age": RNG.normal(50, 20, 30),
    "length": RNG.gamma(2.0, 300.0, 30),
}


def items() -> Items:
    return Items.from_columns(TABLE, features={"text": TEXT}, feature_columns=["age", "length"])


def test_a_matrix_and_columns_of_the_table_are_blocks() -> None:
    made = items()
    assert made.blocks == (FeatureBlock("text", 4), FeatureBlock("columns", 2, ("age", "length")))
    assert made.feature_names is None
    assert made.column_names == ("age", "length")
    assert made.unused({**TABLE, "other": [1] * 30}) == ["other"]
    np.testing.assert_array_equal(made.features, np.column_stack([TEXT, TABLE["age"], TABLE["length"]]))
    assert made.take([3, 1]).blocks == made.blocks
    unnamed = Items.from_columns(TABLE, features=TEXT, feature_columns=["age"])
    assert unnamed.blocks == (FeatureBlock("features", 4), FeatureBlock("columns", 1, ("age",)))
    both = Items(TABLE["id"], {"text": TEXT, "image": TEXT[:, :2]})  # type: ignore[arg-type]
    assert both.blocks == (FeatureBlock("text", 4), FeatureBlock("image", 2))


def test_each_block_is_scaled_as_it_would_be_alone_and_all_share_the_norm_of_one() -> None:
    made, every = items(), np.ones(30, dtype=np.bool_)
    assert made.blocks is not None
    found = BlockMap.fit(made.features, made.blocks, "robust", every)
    scaled = found.transform(made.features)
    alone = FeatureMap.fit(TEXT, False, "robust", every).transform(TEXT)
    np.testing.assert_allclose(scaled[:, :4], alone / np.sqrt(2))
    assert np.square(scaled).sum(axis=1).mean() == pytest.approx(1.0, rel=0.1)
    assert found.widths == (4, 2)
    np.testing.assert_allclose(found.transform(made.features[:3]), scaled[:3])
    plain = BlockMap.fit(made.features, made.blocks, "none", every).transform(made.features)
    np.testing.assert_allclose(plain, made.features - made.features.mean(axis=0), atol=1e-9)


def test_a_block_with_more_columns_than_items_is_rotated_alone() -> None:
    wide = RNG.normal(size=(6, 9))
    made = Items([f"i{k}" for k in range(6)], {"wide": wide, "narrow": wide[:, :2]})  # type: ignore[arg-type]
    assert made.blocks is not None
    found = BlockMap.fit(made.features, made.blocks, "standard", np.ones(6, dtype=np.bool_))
    scaled = found.transform(made.features)
    assert found.widths == (7, 2)
    alone = FeatureMap.fit(wide, False, "standard", np.ones(6, dtype=np.bool_)).transform(wide)
    np.testing.assert_allclose(scaled[:, :7] @ scaled[:, :7].T, alone @ alone.T / 2, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"features": {"text": TEXT[:5]}, "feature_columns": ["age"]}, "'columns' of the features has 30 rows"),
        ({"features": {"text": TEXT, "image": TEXT[:, 0]}}, "'image' of the features must be"),
        ({"features": {"text": TEXT, "empty": TEXT[:, :0]}}, "'empty' has no feature columns"),
        ({"features": {"columns": TEXT}, "feature_columns": ["age"]}, "two blocks of features are called 'columns'"),
        ({"features": {"text": np.full((30, 2), np.nan)}}, "hold nan"),
        ({"features": {"text": [["a"]] * 30}}, "must be an"),
    ],
)
def test_bad_blocks_are_named(options: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Items.from_columns(TABLE, **options)


def test_blocks_have_the_columns_that_there_are() -> None:
    with pytest.raises(InvalidInput, match="the blocks have 3 columns; the features 4"):
        Items(TABLE["id"], TEXT, blocks=[FeatureBlock("text", 3)])
    with pytest.raises(InvalidInput, match="'text' has 4 columns and 1 names"):
        Items(TABLE["id"], TEXT, blocks=[FeatureBlock("text", 4, ("age",))])
    with pytest.raises(InvalidInput, match="give the names of the columns in the blocks"):
        Items(TABLE["id"], TEXT, ["a", "b", "c", "d"], blocks=[FeatureBlock("text", 4)])


def test_new_items_bring_every_block() -> None:
    made = items()
    new: dict[str, Any] = {"id": ["new"], "age": [40.0], "length": [10.0]}
    more = Items.from_columns(new, features={"text": TEXT[:1]}, feature_columns=["age", "length"])
    assert joined(made, more).blocks == made.blocks
    without = Items.from_columns(new, feature_columns=["age", "length"])
    with pytest.raises(InvalidInput, match=r"those of the study have .*text \(4 columns\), columns \(age, length\)"):
        joined(made, without)
    other = Items.from_columns(new, features={"image": TEXT[:1]}, feature_columns=["age", "length"])
    with pytest.raises(InvalidInput, match=r"these items have the blocks of features image \(4 columns\)"):
        joined(made, other)


def test_notes_name_the_block() -> None:
    made = Items.from_columns({**TABLE, "age": [7.0] * 30}, features={"text": TEXT}, feature_columns=["age"])
    assert feature_notes(made, "robust") == [
        "columns: Features without effect, because all items have the same value: age."
    ]
