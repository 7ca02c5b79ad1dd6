import datetime
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.data.cells import all_valid_ids, id_text, plain_text
from ordinate.data.comparison_formats import Reading, comparisons_of, read_comparison_file, read_comparisons
from ordinate.data.comparisons import Comparison, check_comparison
from ordinate.data.formats import FORMATS, read_columns
from ordinate.data.items import Items
from ordinate.data.ordering import Ordering
from ordinate.data.tables import columns_to_frame, frame_columns
from ordinate.errors import InvalidInput, MissingExtra

NAN = float("nan")


def plain(columns: dict[str, list[Any]]) -> list[Comparison]:
    return read_comparisons(columns, Reading("plain")).comparisons


class TestItems:
    def test_ids_alone(self) -> None:
        items = Items(["a", "b"])
        assert items.ids == ("a", "b")
        assert items.features.shape == (2, 0)
        assert (items.feature_names, items.group, items.content) == (None, None, {})
        assert len(items) == 2
        assert len(Items([])) == 0

    def test_everything(self) -> None:
        items = Items(
            ids=np.array(["a", "b"]),  # type: ignore[arg-type]  # taken, too
            features=np.array([[1, 2], [3, 4]], dtype=np.int8),
            feature_names=["x", "y"],
            group=pandas.Series([1.0, 2.0]),
            content={"text": ["p", None], "link": ["", "https://example.org"]},
        )
        assert items.features.dtype == np.float64
        assert items.feature_names == ("x", "y")
        assert items.group == ("1", "2")
        assert items.content == {"text": ("p", None), "link": (None, "https://example.org")}
        assert repr(items) == "Items(2 items, 2 features, 2 groups, text and link)"

    def test_features_are_a_copy(self) -> None:
        features = np.ones((2, 1))
        items = Items(["a", "b"], features)
        features[0] = 7
        assert items.features[0] == 1

    @pytest.mark.parametrize(
        ("given_id", "text"),
        [("001", "001"), (7, "7"), (7.0, "7"), (np.int64(7), "7"), (np.float32(7), "7"), (7.5, "7.5"), (" a ", " a ")],
    )
    def test_ids_are_text(self, given_id: object, text: str) -> None:
        assert Items([given_id]).ids == (text,)  # type: ignore[list-item]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"ids": ["a", ""]}, "row 2 has an empty id"),
            ({"ids": ["a", " "]}, "row 2 has an empty id"),
            ({"ids": ["a", None]}, "row 2 has an empty id"),
            ({"ids": [1.0, NAN]}, "row 2 has an empty id"),
            ({"ids": [1, pandas.NA]}, "row 2 has an empty id"),
            ({"ids": [1, pandas.NaT]}, "row 2 has an empty id"),
            ({"ids": ["a", "b", "a"]}, "id 'a' stands in row 1 and in row 3"),
            ({"ids": [7, "7"]}, "id '7' stands in row 1 and in row 2"),
            ({"ids": ["a\0"]}, "the id in row 1 holds a character that is no text"),
            ({"ids": ["a\ud800"]}, "the id in row 1 holds a character that is no text"),
            ({"ids": "ab"}, "ids must be a list"),
            ({"ids": None}, "ids must be a list"),
            ({"features": [[1], [2], [3]]}, "features have 3 rows for 2 items"),
            ({"features": [1, 2]}, r"two axes.*shape \(2,\)"),
            ({"features": [[[1]], [[2]]]}, r"shape \(2, 1, 1\)"),
            ({"features": [[1, 2], [3]]}, "rectangular"),
            ({"features": [["1"], ["x"]]}, "matrix of numbers"),
            ({"features": [[1j], [2j]]}, "matrix of numbers"),
            ({"features": [[1, 2], [3, NAN]]}, r"item 'b' \(row 2, column 2\) hold nan"),
            ({"features": [[1, float("inf")], [3, 4]]}, r"item 'a' \(row 1, column 2\) hold inf"),
            ({"features": [[1], [2]], "feature_names": ["x", "y"]}, "2 feature names for 1 feature columns"),
            ({"features": [[1, 2], [2, 3]], "feature_names": ["x", "x"]}, "feature column 'x' is given twice"),
            ({"feature_names": ["x"]}, "1 feature names for 0"),
            ({"group": ["g"]}, "group has 1 rows for 2 items"),
            ({"group": ["g", ""]}, "row 2 has an empty group"),
            ({"group": ["g", None]}, "row 2 has an empty group"),
            ({"group": "gg"}, "group must be a list"),
            ({"group": ["g", "\0"]}, "the group in row 2 holds"),
            (
                {"content": {"smell": ["x", "y"]}},
                "unknown content 'smell'; content is one of text, image, audio, video, link",
            ),
            ({"content": {"text": ["x"]}}, "text has 1 rows for 2 items"),
            ({"content": {"text": "xy"}}, "text must be a list"),
            ({"content": {"text": ["x", "y\ud800"]}}, "row 2 of 'text' holds"),
        ],
    )
    def test_refused(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            Items(**({"ids": ["a", "b"]} | arguments))

    def test_take(self) -> None:
        items = Items(["a", "b", "c"], [[1], [2], [3]], ["x"], ["g", "g", "h"], {"text": ["p", "q", None]})  # type: ignore[arg-type]
        taken = items.take(np.array([2, 0]))
        assert (taken.ids, taken.group, taken.content) == (("c", "a"), ("h", "g"), {"text": (None, "p")})
        assert taken.features.tolist() == [[3], [1]]
        assert taken.feature_names == ("x",)
        assert items.take([]).features.shape == (0, 1)


class TestItemsFromTables:
    COLUMNS: ClassVar[dict[str, list[Any]]] = {
        "id": ["001", "2"],
        "x": ["1.5", "-2e3"],
        "y": [True, 4],
        "group": ["g", "h"],
        "text": ["p", ""],
    }

    def test_columns(self) -> None:
        items = Items.from_columns(self.COLUMNS, feature_columns=["x", "y"])
        assert items.ids == ("001", "2")
        assert items.features.tolist() == [[1.5, 1], [-2000, 4]]
        assert items.feature_names == ("x", "y")
        assert items.group == ("g", "h")
        assert items.content == {"text": ("p", None)}
        assert Items.from_columns(self.COLUMNS).features.shape == (2, 0)
        assert Items.from_columns(self.COLUMNS, features=[[1], [2]]).feature_names is None
        assert Items.from_columns(self.COLUMNS, id_column="x").ids == ("1.5", "-2e3")

    @pytest.mark.parametrize(
        ("columns", "options", "message"),
        [
            ({}, {}, "no column 'id'; the table has no columns"),
            ({"name": ["a"]}, {}, "no column 'id'; the table has 'name'"),
            ({"id": ["a"]}, {"feature_columns": ["x", "y"]}, "no column 'x', 'y'; the table has 'id'"),
            ({"id": ["a"], "n": [1]}, {"content": {"text": "name"}}, "no column 'name'; the table has 'id', 'n'$"),
            ({"id": ["a"], "n": [1]}, {"categorical": ["material"]}, "no column 'material'; the table has 'id', 'n'$"),
            ({"id": ["a"], "group": [["g"]]}, {}, r"the group in row 1 holds .* a nested value"),
            (
                {"id": ["a", "b"], "n": ["x", {}]},
                {"categorical": ["n"]},
                r"row 2 of column 'n' holds .* a nested value",
            ),
            ({"id": ["a"], "x": []}, {}, r"different lengths: \{'id': 1, 'x': 0\}"),
            ({"id": ["a"], "x": [1]}, {"feature_columns": ["x", "x"]}, "feature column 'x' is given twice"),
            ({"id": ["a", "b"], "x": ["1", "tall"]}, {"feature_columns": ["x"]}, "row 2 of column 'x' holds 'tall'"),
            ({"id": ["a", "b"], "x": ["1", "0,5"]}, {"feature_columns": ["x"]}, "row 2 of column 'x' holds '0,5'"),
            ({"id": ["a", "b"], "x": ["1", ""]}, {"feature_columns": ["x"]}, "row 2 of column 'x' is empty"),
            ({"id": ["a", "b"], "x": [1, None]}, {"feature_columns": ["x"]}, "row 2 of column 'x' is empty"),
            ({"id": ["a", "b"], "x": [1, NAN]}, {"feature_columns": ["x"]}, "row 2 of column 'x' is empty"),
            ({"id": ["a", "b"], "x": [1, pandas.NA]}, {"feature_columns": ["x"]}, "row 2 of column 'x' is empty"),
            ({"id": ["a", "b"], "x": ["1", "nan"]}, {"feature_columns": ["x"]}, "row 2 of column 'x' is nan"),
            ({"id": ["a", "b"], "x": ["-inf", "1"]}, {"feature_columns": ["x"]}, "row 1 of column 'x' is -inf"),
            ({"id": ["a"], "x": [[1, 2]], "y": [1]}, {"feature_columns": ["x", "y"]}, "column 'x' holds vectors"),
            ({"id": ["a"], "x": [10**400]}, {"feature_columns": ["x"]}, "row 1 of column 'x' holds 1000"),
        ],
    )
    def test_refused(self, columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            Items.from_columns(columns, **options)

    @pytest.mark.parametrize("library", [pandas, polars])
    def test_frames(self, library: Any) -> None:
        frame = library.DataFrame({"id": [7, 8], "x": [0.5, 1.5], "text": ["p", None]})
        items = Items.from_frame(frame, feature_columns=["x"])
        assert items.ids == ("7", "8")
        assert items.features.tolist() == [[0.5], [1.5]]
        assert items.content == {"text": ("p", None)}

    @pytest.mark.parametrize("library", [pandas, polars])
    def test_a_frame_of_integers_with_a_gap(self, library: Any) -> None:
        frame = library.DataFrame({"id": [7, 8, 9], "group": [1, None, 2]})
        with pytest.raises(InvalidInput, match="row 2 has an empty group"):
            Items.from_frame(frame)
        assert Items.from_frame(frame[:1]).group == ("1",)
        with pytest.raises(InvalidInput, match="row 3 has an empty id"):
            Items.from_frame(library.DataFrame({"id": [7, 8, None]}))

    def test_pandas_nullable_integers(self) -> None:
        frame = pandas.DataFrame({"id": pandas.array([7, None], dtype="Int64")})
        with pytest.raises(InvalidInput, match="row 2 has an empty id"):
            Items.from_frame(frame)
        assert Items.from_frame(frame[:1]).ids == ("7",)

    def test_frames_refused(self) -> None:
        for frame in (polars.LazyFrame({"id": ["a"]}), {"id": ["a"]}, None):
            with pytest.raises(InvalidInput, match="expected a pandas or polars frame, got"):
                Items.from_frame(frame)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="two columns of the frame have one name"):
            Items.from_frame(pandas.DataFrame([[1, 2]], columns=["id", "id"]))
        with pytest.raises(InvalidInput, match="no column 'id'; the table has '0', '1'"):
            Items.from_frame(pandas.DataFrame([[1, 2]]))

    @pytest.mark.parametrize("suffix", sorted(FORMATS))
    def test_files(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"items{suffix}"
        path.write_bytes(FORMATS[suffix].encode({"id": ["001", "2"], "x": ["0.5", "1"], "text": ["p", "q"]}))
        np.save(tmp_path / "features.npy", np.ones((2, 3), dtype=np.float32))
        items = Items.read(path, feature_columns=["x"])
        assert (items.ids, items.features.tolist()) == (("001", "2"), [[0.5], [1.0]])
        items = Items.read(path, features=tmp_path / "features.npy")
        assert items.features.shape == (2, 3)
        assert items.content == {"text": ("p", "q")}

    def test_errors_name_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "items.csv"
        path.write_text("id,x\na,1\na,2\n")
        with pytest.raises(InvalidInput, match=r"items\.csv: id 'a' stands in row 1 and in row 2"):
            Items.read(path)
        with pytest.raises(InvalidInput, match=r"items\.csv: no column 'name'"):
            Items.read(path, id_column="name")
        path.write_text("id,x\na,1\nb,2\n")
        np.save(tmp_path / "features.npy", np.ones((3, 2)))
        with pytest.raises(InvalidInput, match=r"items\.csv with .*features\.npy: features have 3 rows for 2 items"):
            Items.read(path, features=tmp_path / "features.npy")
        with pytest.raises(InvalidInput, match=r"there is no file .*absent\.npy"):
            Items.read(path, features=tmp_path / "absent.npy")

    def test_header_only_is_no_items(self, tmp_path: Path) -> None:
        (tmp_path / "items.csv").write_text("id,x\n")
        items = Items.read(tmp_path / "items.csv", feature_columns=["x"])
        assert items.features.shape == (0, 1)


class TestComparisons:
    def test_columns(self) -> None:
        columns: dict[str, list[Any]] = {
            "left": ["a", 1, "c"],
            "right": ["b", 2.0, "d"],
            "winner": ["left", "2", "tie"],
            "other": [0, 0, 0],
        }
        expected = [Comparison("a", "b", "left"), Comparison("1", "2", "right"), Comparison("c", "d", "tie")]
        assert plain(columns) == expected
        annotators = plain({**columns, "annotator": ["ann", 7.0, None]})
        assert [comparison.annotator for comparison in annotators] == ["ann", "7", None]

    def test_a_side_goes_before_an_id(self) -> None:
        # What an export writes is a side, so this is what makes the way out and back exact.
        assert check_comparison(Comparison("right", "x", "right")).outcome == "right"

    def test_items_called_like_sides(self) -> None:
        """Sides and names of items in one table: a side goes first where all winners are sides, else it is refused."""
        names = {"left": ["right", "tie", "a"], "right": ["x", "left", "b"]}
        sides = plain({**names, "winner": ["right", "left", "tie"]})
        assert [one.outcome for one in sides] == ["right", "left", "tie"]
        for winner, row in ((["right", "tie", "b"], 1), (["x", "left", "b"], 2), (["x", "tie", "b"], 2)):
            with pytest.raises(InvalidInput, match=f"row {row}: the winner .* can be read two ways; name all"):
                plain({**names, "winner": winner})
        by_id = plain({"left": ["left", "a", "skip"], "right": ["x", "right", "y"], "winner": ["left", "a", "skip"]})
        assert [one.outcome for one in by_id] == ["left", "left", "left"], "where both readings agree"

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (("", "b", "left"), "row 2: the id of the left item is empty"),
            (("a", NAN, "left"), "row 2: the id of the right item is empty"),
            (("a", "a", "left"), "row 2: item 'a' is compared with itself"),
            ((7, "7", "left"), "row 2: item '7' is compared with itself"),
            (("a", "b", "c"), "row 2: unknown winner 'c'; it is left, right, tie"),
            (("a", "b", "skip"), "row 2: unknown winner 'skip'"),
            (("a", "b", "Left"), "row 2: unknown winner 'Left'; .*: write 'left'$"),
            (("A", "b", "a "), "row 2: unknown winner 'a '; .*: write 'A'$"),
            (("a", "b", None), "row 2: unknown winner ''"),
            (("a", "b", "left", "x\0"), "row 2: annotator holds"),
        ],
    )
    def test_refused_by_row(self, row: tuple[object, ...], message: str) -> None:
        left, right, winner, annotator = (*row, "ann")[:4]
        columns = {"left": ["a", left], "right": ["b", right], "winner": ["a", winner], "annotator": ["x", annotator]}
        with pytest.raises(InvalidInput, match=message):
            plain(columns)

    def test_columns_refused(self) -> None:
        with pytest.raises(InvalidInput, match="no column 'winner'; the table has 'left', 'right'"):
            plain({"left": ["a"], "right": ["b"]})
        with pytest.raises(InvalidInput, match="different lengths"):
            plain({"left": ["a"], "right": ["b"], "winner": []})
        with pytest.raises(InvalidInput, match="column 'Annotator' looks like 'annotator'"):
            plain({"left": ["a"], "right": ["b"], "winner": ["a"], "Annotator": ["x"]})

    def test_file(self, tmp_path: Path) -> None:
        path = tmp_path / "comparisons.csv"
        path.write_text("left,right,winner,annotator\n01,2,01,\n")
        assert read_comparison_file(path).comparisons == [Comparison("01", "2", "left", None)]
        path.write_text("left,right,winner\na,b,a\na,b,c\n")
        with pytest.raises(InvalidInput, match=r"comparisons\.csv: row 2: unknown winner 'c'"):
            read_comparison_file(path)

    @given(st.text(min_size=1), st.text(min_size=1), st.sampled_from(["left", "right", "tie"]), st.none() | st.text())
    def test_checking_twice_changes_nothing(self, left: str, right: str, outcome: Any, annotator: str | None) -> None:
        try:
            once = check_comparison(Comparison(left, right, outcome, annotator))
        except InvalidInput:
            return
        assert check_comparison(once) == once
        assert once[:3] == (left, right, outcome)

    @pytest.mark.parametrize("library", [pandas, polars])
    def test_groups_of_a_frame_are_checked(self, library: Any) -> None:
        frame = library.DataFrame({"left": ["a"], "right": ["b"], "winner": ["a"], "group": ["g"]})
        with pytest.raises(InvalidInput, match="but the study has none, so"):
            comparisons_of(frame, Items(["a", "b"]))
        with pytest.raises(InvalidInput, match="row 1: item 'b' is in group 'h' of the study, not in 'g'"):
            comparisons_of(frame, Items(["a", "b"], group=["g", "h"]))
        assert comparisons_of(frame, Items(["a", "b"], group=["g", "g"])) == [Comparison("a", "b", "left")]


class TestOrdering:
    PLAIN = Ordering(("b", "a"), np.array([1.0, -1.0]), np.array([0.1, 0.2]))
    GROUPED = Ordering(("a", "b", "c", "d"), np.arange(4, dtype=np.float64), np.ones(4), ("g", "g", "h", "g"))

    def test_ranks_start_again_in_each_group(self) -> None:
        assert self.PLAIN.ranks.tolist() == [1, 2]
        assert self.GROUPED.ranks.tolist() == [1, 2, 1, 3]
        assert len(self.GROUPED) == 4

    def test_columns(self) -> None:
        expected = {"rank": [1, 2], "id": ["b", "a"], "score": [1.0, -1.0], "standard_error": [0.1, 0.2]}
        assert self.PLAIN.to_columns() == expected
        assert list(self.GROUPED.to_columns()) == ["rank", "id", "group", "score", "standard_error"]

    def test_repr(self) -> None:
        assert repr(self.PLAIN) == "Ordering(2 items: b +1.00, a -1.00)"
        assert repr(self.GROUPED) == "Ordering(4 items: a +0.00, b +1.00, c +2.00, ...)"

    @pytest.mark.parametrize("suffix", sorted(FORMATS))
    def test_save(self, tmp_path: Path, suffix: str) -> None:
        self.GROUPED.save(tmp_path / f"ordering{suffix}")
        back = read_columns(tmp_path / f"ordering{suffix}")
        assert list(back) == ["rank", "id", "group", "score", "standard_error"]
        assert back["id"] == ["a", "b", "c", "d"]
        assert [float(score) for score in back["score"]] == [0, 1, 2, 3]

    def test_frames(self) -> None:
        expected = self.GROUPED.to_columns()
        assert self.GROUPED.to_frame().to_dict(as_series=False) == expected
        assert self.GROUPED.to_frame("pandas").to_dict("list") == expected

    @pytest.mark.parametrize(("backend", "wanted"), [("polars", r"'ordinate\[parquet\]'"), ("pandas", "pandas")])
    def test_without_the_library(self, monkeypatch: pytest.MonkeyPatch, backend: Any, wanted: str) -> None:
        monkeypatch.setitem(sys.modules, backend, None)
        with pytest.raises(MissingExtra, match=f"needs the package {backend}.*pip install {wanted}"):
            columns_to_frame({"id": ["a"]}, backend)


@pytest.mark.parametrize("library", [pandas, polars])
def test_frame_columns_keeps_values(library: Any) -> None:
    day = datetime.date(2026, 1, 31)
    assert frame_columns(library.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [day, day]})) == {
        "a": [1, 2],
        "b": ["x", "y"],
        "c": [day, day],
    }


def test_a_number_and_a_text_are_one_name() -> None:
    with pytest.raises(InvalidInput, match="two columns of the frame are called '0'"):
        frame_columns(pandas.DataFrame({0: [1], "0": [2]}))


@pytest.mark.parametrize("name", [" group", "Group", "TEXT", "image "])
def test_columns_that_nearly_mean_something_are_refused(name):
    with pytest.raises(InvalidInput, match="looks like"):
        Items.from_columns({"id": ["a", "b"], name: ["g", "h"]})
    assert len(Items.from_columns({"id": ["a"], "Group": ["x"], "group": ["g"]})) == 1


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("1,5", "no number; write the decimals with a point$"),
        ("0,125", "no number; write the decimals with a point$"),
        ("1,500", "no number; leave out the separators of thousands"),
        ("1.234,56", "no number; leave out the separators of thousands"),
        ("1_000", "no number; leave out the separators of thousands"),
        ("1 000", "no number; leave out the separators of thousands"),
        ("1'000", "no number; leave out the separators of thousands"),
        ("٣", "no number$"),
        ("0x10", "no number$"),
        ("50%", "no number$"),
        ("a,b", "no number$"),
    ],
)
def test_numbers_written_in_another_way_are_refused_with_a_hint(value, hint):
    with pytest.raises(InvalidInput, match=hint):
        Items.from_columns({"id": ["a"], "x": [value]}, feature_columns=["x"])


@given(st.lists(st.one_of(st.text("a \0é\ud800\t", max_size=3), st.sampled_from([None, 7, 7.0, float("nan"), "x"]))))
def test_values_seen_at_once_are_those_that_each_pass_alone(values):
    """The plain version looks at each one, and has nothing to change or to refuse."""

    def passes(value: object) -> bool:
        try:
            return plain_text(id_text(value), "it") == value and str(value).strip() != ""
        except InvalidInput:
            return False

    passed = all(map(passes, values))
    assert passed or not all_valid_ids(values)
    if all(isinstance(value, str) and value.isascii() for value in values):
        assert all_valid_ids(values) == passed


def test_the_columns_of_a_frame_may_be_called_by_numbers(tmp_path):
    frame = pandas.DataFrame([[1.0, 10.0, "x"], [2.0, 30.0, "y"]])
    frame[7] = ["a", "b"]
    for names in ([0, 1], frame.columns[:2], np.array([0, 1]), (name for name in (0, 1))):
        items = Items.from_frame(frame, id_column=7, feature_columns=names, categorical=[2], content={"text": 2})
        assert (items.ids, items.content) == (("a", "b"), {"text": ("x", "y")})
        assert items.feature_names == ("0", "1", "2=x", "2=y")
        assert items.features.tolist() == [[1, 10, 1, 0], [2, 30, 0, 1]]
    options: Any = {"id_column": 7, "feature_columns": [0]}
    columns: Any = {7: ["a", "b"], 0: [1, 2]}
    assert Items.from_columns(columns, **options).features.tolist() == [[1], [2]]
    frame.rename(columns=str).to_csv(tmp_path / "items.csv", index=False)
    np.save(tmp_path / "more.npy", np.zeros((2, 1)))
    read = Items.read(
        tmp_path / "items.csv", features=tmp_path / "more.npy", id_column="7", feature_columns=frame.columns[:2]
    )
    assert [block.names for block in read.blocks or ()] == [None, ("0", "1")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_columns": "len"}, "feature columns must be a list with one entry each, not 'len'"),
        ({"feature_columns": 3}, "feature columns must be a list with one entry each, not 3"),
        ({"categorical": "len"}, "columns of categories must be a list with one entry each, not 'len'"),
        ({"content": "len"}, "content names the column of each kind, such as {'text': 'review'}, not 'len'"),
        ({"content": ["len"]}, "content names the column of each kind, such as {'text': 'review'}, not ['len']"),
    ],
)
def test_the_name_of_a_column_is_no_list_of_its_letters(options, message):
    columns: Any = {"id": ["a", "b"], **{name: [1.0, 2.0] for name in ("len", *"len")}}
    with pytest.raises(InvalidInput) as refused:
        Items.from_columns(columns, **options)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": {}}, "features by name hold no matrix; give one, such as {'text': matrix}, or leave them out"),
        (
            {"content": ["x", "y"]},
            "content is given as columns by name, such as {'text': [...]}, not as ['x', 'y']",
        ),
        ({"labels": "m"}, "label is given as columns by name, such as {'model': [...]}, not as 'm'"),
    ],
)
def test_what_is_given_by_name_is(options, message):
    with pytest.raises(InvalidInput) as refused:
        Items(["a", "b"], **options)
    assert str(refused.value) == message


def test_masked_cells_are_refused():
    """numpy goes on with the numbers behind a mask, often -999 or 1e20."""
    matrix = np.ma.masked_equal([[1.0, 2.0], [3.0, -999.0]], -999.0)
    columns: Any = {"id": ["a", "b"], "x": [1.0, 2.0], "v": list(matrix)}
    where = r"the features of item 'b' \(row 2, column 2%s\) are masked; fill them in or leave the item out"
    for make, message in (
        (lambda: Items(["a", "b"], matrix), where % ""),
        (lambda: Items(["a", "b"], {"m": np.eye(2), "n": matrix}), where % " in the block 'n'"),  # type: ignore[arg-type]
        (lambda: Items.from_columns(columns, features=matrix), where % ""),
        (
            lambda: Items.from_columns(columns, features=matrix, feature_columns=["x"]),
            where % " in the block 'features'",
        ),
        (lambda: Items.from_columns(columns, feature_columns=["v"]), "row 2 of column 'v' holds a masked number"),
    ):
        with pytest.raises(InvalidInput, match=message):
            make()
    assert Items(["a", "b"], np.ma.array(np.eye(2))).features.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(InvalidInput, match="2 rows for 1 items"):
        Items(["a"], matrix)
