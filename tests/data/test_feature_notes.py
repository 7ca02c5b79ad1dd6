"""What the owner of a study is told of its features: as warnings, as notes, and by the commands."""

from pathlib import Path

import numpy as np
import pytest

from ordinate.data.feature_notes import feature_notes
from ordinate.data.items import Items
from ordinate.errors import FeatureWarning
from ordinate.study.study import Study

RNG = np.random.default_rng(0)
IDS = [f"item-{k}" for k in range(200)]


def named(**columns: np.ndarray) -> Items:
    return Items(IDS, np.column_stack(list(columns.values())), feature_names=list(columns))


def normal() -> np.ndarray:
    return RNG.normal(size=200)


def test_ordinary_features_give_no_notes() -> None:
    assert feature_notes(named(a=normal(), b=np.exp(0.5 * normal()), half=RNG.integers(0, 2, 200)), "robust") == []
    assert feature_notes(Items(IDS, RNG.normal(size=(200, 12))), "robust") == []
    assert feature_notes(Items(IDS), "robust") == []
    assert feature_notes(Items(["a"], np.ones((1, 2))), "robust") == []


def test_columns_without_effect_or_of_equal_values_are_named() -> None:
    a = normal()
    notes = feature_notes(named(a=a, still=np.full(200, 0.1), b=normal(), again=a, also=np.zeros(200)), "robust")
    assert notes == [
        "Features without effect, because all items have the same value: still, also.",
        "Features with the same values, which therefore count twice: a and again.",
    ]
    matrix = np.column_stack([normal(), np.ones(200)])
    assert feature_notes(Items(IDS, matrix), "robust") == [
        "Features without effect, because all items have the same value: column 2."
    ]


def test_columns_that_are_equal_but_for_one_item_are_not_called_equal() -> None:
    a = RNG.normal(size=5_000)
    b = a.copy()
    b[4_321] += 1.0
    items = Items([str(k) for k in range(5_000)], np.column_stack([a, b]), feature_names=["a", "b"])
    assert feature_notes(items, "robust") == []


def test_rare_flags_are_named_with_how_many_items_have_them() -> None:
    flag, pair, many = np.zeros(200), np.zeros(200), np.zeros(200)
    flag[7], pair[[3, 8]], many[:15] = 1.0, 1.0, 1.0
    assert feature_notes(named(a=normal(), flag=flag, pair=pair, many=many), "robust") == [
        "Features in which few items differ, so they say little: flag (1 of 200), pair (2 of 200)."
    ]


@pytest.mark.parametrize(
    ("scaling", "effect"), [("robust", "they are clipped"), ("standard", "they may hide all other differences")]
)
def test_outlying_values_and_rows_are_named(scaling: str, effect: str) -> None:
    price = normal()
    price[[5, 9]] = 1e4, -1e4
    assert feature_notes(named(a=normal(), price=price), scaling) == [
        f"Values that are far from those of all other items ({effect}): price of item-5, item-9."
    ]
    matrix = RNG.normal(size=(200, 8))
    matrix[10:17] *= 1e4
    assert feature_notes(Items(IDS, matrix), scaling) == [
        f"Items whose features are far from those of all others ({effect}): "
        "item-10, item-11, item-12, item-13, item-14 and 2 more."
    ]


def test_a_library_user_is_warned_and_can_ask_again(tmp_path: Path) -> None:
    items = named(a=normal(), still=np.ones(200))
    with pytest.warns(FeatureWarning, match="without effect.*: still") as warned:
        study = Study.create(items, storage=f"sqlite:///{tmp_path / 'study.db'}")
    assert warned[0].filename == __file__
    assert study.feature_notes() == [str(warned[0].message)]
    study.exclude_item("item-3")
    far = items.features[:1] * np.array([[1e5, 1.0]])
    study.add_items(Items(["far"], far, feature_names=["a", "still"]))
    assert "a of far" in study.feature_notes()[-1]
    study.exclude_item("far")
    assert study.feature_notes() == [str(warned[0].message)]
