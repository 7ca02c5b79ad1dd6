"""What every format of comparisons keeps: what was written is recognised and read back; errors name the row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ordinate import Comparison, Items, Study
from ordinate.data.comparison_formats import (
    COMPARISON_FORMATS,
    FIELDS,
    Reading,
    read_comparison_file,
    read_comparisons,
    write_comparison_columns,
    write_comparisons,
)
from ordinate.errors import InvalidInput, UnknownItem

WRITTEN = [name for name, form in COMPARISON_FORMATS.items() if form.write is not None]
SIDED = ["plain", "crowd-kit", "arena", "pwcmp", "evalica", "label-studio"]
NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6).filter(
    lambda name: name not in ("left", "right", "tie")
)
ROWS = st.lists(
    st.tuples(NAMES, NAMES, st.sampled_from(["left", "right", "tie"]), st.none() | NAMES).filter(
        lambda row: row[0] != row[1]
    ),
    min_size=1,
    max_size=6,
)


def won(comparisons: list[Comparison]) -> list[tuple[str, str]]:
    """(winner, loser) of each."""
    return [(one.left, one.right) if one.outcome == "left" else (one.right, one.left) for one in comparisons]


def as_read(name: str, columns: dict[str, list[Any]], tmp_path: Path, suffix: str) -> list[Comparison]:
    path = tmp_path / f"table{suffix}"
    write_comparison_columns(path, columns)
    read = read_comparison_file(path)
    assert read.format == name, "recognised"
    return read.comparisons


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
@pytest.mark.parametrize("name", WRITTEN)
@given(rows=ROWS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_written_comes_back(tmp_path: Path, name: str, suffix: str, rows: list[Any]) -> None:
    if (name, suffix) == ("label-studio", ".csv"):
        suffix = ".json"  # a task is a nested object, which no cell of a CSV file can be
    form = COMPARISON_FORMATS[name]
    given = [Comparison(*row) for row in rows]
    if not form.ties:
        given = [one for one in given if one.outcome != "tie"]
    assume(len(given) > (1 if name == "win-matrix" else 0))
    back = as_read(name, write_comparisons(name, given), tmp_path, suffix)
    if name in SIDED:
        assert [one[:3] for one in back] == [one[:3] for one in given]
    elif name == "choix":
        number = {item: str(place) for place, item in enumerate(dict.fromkeys(i for one in given for i in one[:2]))}
        assert won(back) == [(number[winner], number[loser]) for winner, loser in won(given)]
    else:
        assert sorted(won(back)) == sorted(won(given))
    if form.people:
        assert [one.annotator for one in back] == [one.annotator for one in given]


@pytest.mark.parametrize("name", [name for name in WRITTEN if not COMPARISON_FORMATS[name].ties])
def test_a_tie_is_refused_where_the_form_has_none(name: str) -> None:
    with pytest.raises(InvalidInput, match=rf"comparison 2 \('a' and 'b'\) is a tie, which the format {name}"):
        write_comparisons(name, [Comparison("a", "b", "left"), Comparison("a", "b", "tie")])


@pytest.mark.parametrize("name", WRITTEN)
def test_groups_are_written_or_refused(name: str) -> None:
    items = Items(["a", "b", "c", "d"], group=["g", "g", "h", "h"])
    given = [Comparison("a", "b", "left"), Comparison("d", "c", "left")]
    if COMPARISON_FORMATS[name].group is None:
        with pytest.raises(InvalidInput, match=f"the format {name} has no place for groups"):
            write_comparisons(name, given, items)
        return
    read = read_comparisons(write_comparisons(name, given, items))
    assert (won(read.comparisons), read.group) == ([("a", "b"), ("d", "c")], ["g", "h"])


@pytest.mark.parametrize("name", sorted(set(COMPARISON_FORMATS) - set(WRITTEN)))
def test_a_form_that_is_only_read_says_which_are_written(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{name}' is not written; it is plain, crowd-kit"):
        write_comparisons(name, [])


EXAMPLES: dict[str, dict[str, list[Any]]] = {
    "plain": {"left": ["a"], "right": ["b"], "winner": ["a"]},
    "crowd-kit": {"worker": ["w"], "left": ["a"], "right": ["b"], "label": ["a"]},
    "arena": {"model_a": ["a"], "model_b": ["b"], "winner": ["model_a"]},
    "winner-loser": {"winner_id": ["a"], "loser_id": ["b"]},
    "pwcmp": {"observer": ["w"], "condition_A": ["a"], "condition_B": ["b"], "is_A_selected": [1]},
    "evalica": {"x": ["a"], "y": ["b"], "winner": ["X"]},
    "preference": {"chosen": ["a"], "rejected": ["b"]},
    "label-studio": {
        "data": [{"text1": "a", "text2": "b"}],
        "annotations": [[{"result": [{"type": "pairwise", "value": {"selected": "left"}}]}]],
    },
    "argilla": {
        "fields": [{"reply_1": "a", "reply_2": "b"}],
        "responses": [{"better": [{"value": "reply_1", "user_id": "w"}]}],
    },
    "mturk": {"HITId": ["h"], "WorkerId": ["w"], "Input.left": ["a"], "Input.right": ["b"], "Answer.winner": ["left"]},
    "best-worst": {"items": ["a|b"], "best": ["a"], "worst": ["b"]},
    "ranking": {"ranking": ["a > b"]},
    "choix": {"0": ["a"], "1": ["b"]},
    "win-matrix": {"id": ["a", "b"], "a": [0, 0], "b": [1, 0]},
}


def test_every_form_has_an_example() -> None:
    assert EXAMPLES.keys() == COMPARISON_FORMATS.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_form_is_recognised_and_can_be_named(name: str) -> None:
    for reading in (Reading(), Reading(name)):
        read = read_comparisons(EXAMPLES[name], reading)
        assert read.format == name
        assert won(read.comparisons) == [("a", "b")]
        assert read.columns_not_used == []


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_column_is_named_in_vain(name: str, field: str) -> None:
    """Whichever field a form does not take is refused, and so is a column that is not there for one that it takes."""
    read = {*COMPARISON_FORMATS[name].fields, "group", "count"}
    if name == "win-matrix":
        read.remove("count")  # it has counts of its own
    told = "nope|nothing for 'left'" if name == "label-studio" else "nope"
    message = told if field in read else f"of the form {name}, which takes .*'nope' cannot be named for '{field}'"
    with pytest.raises(InvalidInput, match=message) as raised:
        read_comparisons(EXAMPLES[name], Reading(names={field: "nope"}))
    assert "cannot be named" not in str(raised.value) or field not in read


def test_records_with_a_prompt_take_no_column_for_the_group() -> None:
    records = {**EXAMPLES["argilla"], "fields": [{"prompt": "Why?", "reply_1": "a", "reply_2": "b"}], "id": ["r"]}
    assert read_comparisons(records).group == ["Why?"]
    with pytest.raises(InvalidInput, match="form argilla, which takes winner, count, so 'id' cannot be named for 'gr"):
        read_comparisons(records, Reading(names={"group": "id"}))


PAIRS: dict[str, list[Any]] = {"A": ["a", "b"], "B": ["b", "c"], "Choice": ["left", "tie"]}


@pytest.mark.parametrize(
    "beside",
    [
        {"rank_1": ["p", "q"], "rank_2": ["q", "p"]},
        {"best": ["p", "p"], "worst": ["q", "q"], "item1": ["p", "p"], "item2": ["q", "q"]},
        {"chosen": ["p", "q"], "rejected": ["q", "p"]},
        {"winner_id": ["p", "q"], "loser_id": ["q", "p"]},
        {"data": [{}, {}], "annotations": [[], []]},
    ],
)
def test_whoever_names_a_pair_and_its_winner_has_a_table_of_pairs(beside: dict[str, list[Any]]) -> None:
    names = {"left": "A", "right": "B", "winner": "Choice"}
    read = read_comparisons({**PAIRS, **beside}, Reading(names=names))
    assert read.format == "plain"
    assert read.comparisons == [Comparison("a", "b", "left"), Comparison("b", "c", "tie")]
    assert read.columns_not_used == list(beside)
    with pytest.raises(InvalidInput, match="of the form"):
        read_comparisons({**PAIRS, **beside}, Reading(names={"winner": "Choice"}))


def test_a_form_that_takes_a_pair_and_its_winner_stays_recognised() -> None:
    table = {**EXAMPLES["mturk"], "Input.one": ["c"], "Input.two": ["d"], "AssignmentStatus": ["Rejected"]}
    names = {"left": "Input.one", "right": "Input.two", "winner": "Answer.winner"}
    read = read_comparisons(table, Reading(names=names))
    assert (read.format, read.comparisons) == ("mturk", []), "a rejected assignment is left out"


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ("win-matrix", "choix")])
def test_groups_and_counts_are_kept_whatever_the_form(name: str) -> None:
    table = {**EXAMPLES[name], "group": ["g"], "count": [3]}
    plain = read_comparisons(table)
    assert len(plain.comparisons) == 1
    assert plain.columns_not_used == ["count"]
    assert any("The column 'count' is not used" in note for note in plain.notes)
    read = read_comparisons(table, Reading(name, {"count": "count"}))
    assert read.group == ["g"] * 3
    assert won(read.comparisons) == [("a", "b")] * 3
    assert read.item_columns()["group"] == ["g", "g"]
    assert any("1 rows stand for 3 comparisons" in note for note in read.notes)
    with pytest.raises(InvalidInput, match="but the study has none, so"):
        read.require_groups_of(Items(["a", "b"]))


UNANSWERED: dict[str, dict[str, Any]] = {
    "crowd-kit": {"worker": "v", "left": "a", "right": "b", "label": None},
    "arena": {"model_a": "a", "model_b": "b", "winner": ""},
    "winner-loser": {"winner_id": None, "loser_id": None},
    "pwcmp": {"observer": "v", "condition_A": "a", "condition_B": "b", "is_A_selected": None},
    "evalica": {"x": "a", "y": "b", "winner": None},
    "preference": {"chosen": None, "rejected": None},
    "label-studio": {"data": {"text1": "a", "text2": "b"}, "annotations": [{"result": []}]},
    "argilla": {
        "fields": {"reply_1": "a", "reply_2": "b"},
        "responses": {"better": [{"value": "reply_2", "user_id": "v", "status": "discarded"}]},
    },
    "mturk": {"HITId": "h", "WorkerId": "v", "Input.left": "a", "Input.right": "b", "Answer.winner": ""},
    "best-worst": {"items": "a|b", "best": None, "worst": ""},
    "ranking": {"ranking": None},
}
"""A row without an answer. Our own form, pairs and matrices of counts have none."""


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"plain", "choix", "win-matrix"}))
def test_a_row_without_an_answer_is_left_out_and_counted(name: str) -> None:
    columns = {key: [*values, UNANSWERED[name][key]] for key, values in EXAMPLES[name].items()}
    read = read_comparisons(columns)
    assert (read.format, won(read.comparisons), read.rows) == (name, [("a", "b")], [1])
    assert "Left out, without an answer: 1." in read.notes
    read.item_columns()


def test_an_empty_winner_is_a_mistake_in_our_own_form_alone() -> None:
    table: dict[str, list[Any]] = {"left": ["a", "a"], "right": ["b", "b"], "winner": ["a", None]}
    with pytest.raises(InvalidInput, match="row 2"):
        read_comparisons(table)
    survey = {"left": table["left"], "right": table["right"], "choice": ["A", ""]}
    read = read_comparisons(survey, Reading(names={"winner": "choice"}, words={"A": "left", "B": "right"}))
    assert (len(read.comparisons), read.notes) == (1, ["Left out, without an answer: 1."])


NESTED: dict[str, dict[str, Any]] = {
    **{name: {"left": ["a"]} for name in ("plain", "crowd-kit")},
    "arena": {"model_a": ["a"]},
    "winner-loser": {"loser_id": ["b"]},
    "pwcmp": {"condition_B": {"q": 10}},
    "evalica": {"y": ["b"]},
    "preference": {"chosen": ["a"]},
    "label-studio": {"data": {"text1": ["a"], "text2": "b"}},
    "argilla": {"fields": {"reply_1": ["a"], "reply_2": "b"}},
    "mturk": {"Input.right": ["b"]},
    "best-worst": {"items": [["a"], "b"]},
    "ranking": {"ranking": ["a", [["b"]]]},
    "choix": {"0": [1]},
}


@pytest.mark.parametrize("name", NESTED)
def test_no_name_is_made_of_a_list(name: str) -> None:
    columns = {key: [*values, NESTED[name].get(key, values[0])] for key, values in EXAMPLES[name].items()}
    with pytest.raises(InvalidInput, match=r"(row|task) 2.*(a nested value|neither|of those shown)"):
        read_comparisons(columns, Reading(name))


@pytest.mark.parametrize("field", ["winner", "annotator", "group", "left_text"])
@pytest.mark.parametrize("nested", [["a"], {"name": "a"}, ("a",), np.array(["a"])])
def test_nothing_of_a_comparison_is_made_of_a_list(field: str, nested: Any) -> None:
    columns = {name: ["a", "a"] for name in ("left", "annotator", "group")} | {"right": ["b"] * 2, "winner": ["a"] * 2}
    with pytest.raises(InvalidInput, match=r"row 2.* a nested value; give one text or number"):
        read_comparisons({**columns, field: ["a", nested]})


def test_what_can_be_read_two_ways_is_named_by_the_rows_of_the_table() -> None:
    table: dict[str, list[Any]] = {
        "left": ["x", "x", "a", "right"],
        "right": ["y", "y", "b", "y"],
        "winner": [None, "", "a", "right"],
        "query": [None] * 4,
    }
    with pytest.raises(InvalidInput, match=r"row 4: the winner 'right' is a side .*, and row 3 names its winner by"):
        read_comparisons(table)


def test_a_frame_with_counts_is_refused_with_what_to_do() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**EXAMPLES["arena"], "count": [3]})
    study = Study.create(Items(["a", "b"]))
    with pytest.raises(InvalidInput, match=r"the frame has a column 'count'.*repeat the rows"):
        study.record(frame)
    assert study.record(frame.loc[frame.index.repeat(frame["count"])].drop(columns="count")) == 3
    matrix = pandas.DataFrame({"id": ["count", "b"], "count": [0, 1], "b": [2, 0]})
    assert Study.create(Items(["count", "b"])).record(matrix) == 3  # an item of this name


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_item_against_itself_is_refused_by_row(name: str) -> None:
    def same(value: Any) -> Any:
        if isinstance(value, str):
            return "a" if value == "b" else value.replace("> b", "> a").replace("|b", "|a")
        if isinstance(value, list):
            return [same(one) for one in value]
        return {key: same(one) for key, one in value.items()} if isinstance(value, dict) else value

    columns = {key: same(values) for key, values in EXAMPLES[name].items()}
    if name == "win-matrix":
        columns = {"id": ["a", "b"], "a": [1, 0], "b": [1, 0]}
    with pytest.raises(InvalidInput, match=r"row 1: |task 1: "):
        read_comparisons(columns, Reading(name))


def test_rows_of_a_frame_are_named_where_some_have_no_answer() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"winner_id": [None, "a", "a"], "loser_id": [None, "b", "z"]})
    with pytest.raises(UnknownItem, match="row 3: there is no item 'z'"):
        Study.create(Items(["a", "b"])).record(frame)
    named = pandas.DataFrame({"winner_id": [None, "a"], "loser_id": [None, "b"], "annotator": ["ann", "\t"]})
    with pytest.raises(InvalidInput, match="row 2: an annotator's name has 1 to 80 characters, not 0"):
        Study.create(Items(["a", "b"])).record(named)


@pytest.mark.parametrize(("library", "make"), [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")])
def test_frames_of_three_libraries_are_read(library: str, make: str) -> None:
    frame = getattr(pytest.importorskip(library), make)(EXAMPLES["arena"])
    study = Study.create(Items(["a", "b"]))
    assert study.record(frame) == 1
    assert study.comparisons() == [Comparison("a", "b", "left")]


@pytest.mark.parametrize(
    ("columns", "reading", "message"),
    [
        (
            {"lefty": ["a"], "b": ["b"]},
            Reading(),
            r"of no known form: 'lefty', 'b'; 'left' is the nearest.*Name the columns 'left', 'right'",
        ),
        ({"left": ["a"], "right": ["b"]}, Reading(), r"no column 'winner'; the table has 'left', 'right'"),
        (EXAMPLES["plain"], Reading("arean"), "unknown format 'arean'; it is plain, crowd-kit"),
        (
            EXAMPLES["plain"],
            Reading(names={"lft": "left"}),
            "there is no field 'lft' to name a column for; it is left, right",
        ),
        (
            EXAMPLES["plain"],
            Reading(names={"winner": "winer"}),
            "there is no column 'winer', which was named for 'winner'; 'winner' is the nearest",
        ),
        (
            {**EXAMPLES["plain"], "count": ["x"]},
            Reading(names={"count": "count"}),
            "row 1: the count 'x' is no whole number",
        ),
        (
            {**EXAMPLES["plain"], "count": [10**9]},
            Reading(names={"count": "count"}),
            "add up to 1,000,000,000 comparisons",
        ),
        ({**EXAMPLES["plain"], "group": [None]}, Reading(), "row 1 has an empty group"),
        ({**EXAMPLES["arena"], "winner": ["a"]}, Reading(), "row 1: column 'winner' holds 'a'; it is 'model_a'"),
        ({**EXAMPLES["crowd-kit"], "label": ["c"]}, Reading(), "row 1: the winner 'c' is neither of the two items"),
        ({**EXAMPLES["best-worst"], "best": ["c"]}, Reading(), "row 1: the best item 'c' is none of those shown: a, b"),
        ({"ranking": ["a"]}, Reading(), "row 1: a ranking has two or more items"),
        ({"ranking": ["a > b", "a >= b"]}, Reading(), "row 2: 'a >= b' must say either > or ="),
        ({"HITId": ["h"], "WorkerId": ["w"]}, Reading(), r"no column 'Input.left'; the table has 'HITId', 'WorkerId'"),
        ({"id": ["a", "b"], "a": [0, -1], "b": [0, 0]}, Reading(), "row 2, column 'a': -1 is no number of wins"),
    ],
)
def test_what_is_wrong_is_said(columns: dict[str, list[Any]], reading: Reading, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_comparisons(columns, reading)


def test_columns_and_words_can_be_named() -> None:
    results: dict[str, list[Any]] = {
        "participant": ["p1", "p2", "p3", "p4"],
        "Photo 1": ["a", "b", "a", "c"],
        "Photo 2": ["b", "c", "c", "b"],
        "Choice": ["A", "B", "same", "cannot say"],
        "duration": [1, 2, 3, 4],
    }
    names = {"left": "Photo 1", "right": "Photo 2", "winner": "Choice", "annotator": "participant"}
    words = {"A": "left", "B": "right", "same": "tie", "cannot say": "skip"}
    read = read_comparisons(results, Reading(names=names, words=words))
    assert read.comparisons == [
        Comparison("a", "b", "left", "p1"), Comparison("b", "c", "right", "p2"), Comparison("a", "c", "tie", "p3"),
    ]  # fmt: skip
    assert read.columns_not_used == ["duration"]
    assert read.notes == ["Left out, without an answer: 1."]
    with pytest.raises(
        InvalidInput, match="row 3: the winner 'same' is none of the words whose meaning was given, 'A', 'B'"
    ):
        read_comparisons(results, Reading(names=names, words={"A": "left", "B": "right"}))


@pytest.mark.parametrize(
    "table",
    [
        {"model_a": ["a"] * 4, "model_b": ["b"] * 4, "winner": ["A", "B", "C", "?"]},
        {"worker": ["w"] * 4, "left": ["a"] * 4, "right": ["b"] * 4, "label": ["A", "B", "C", "?"]},
        {
            "observer": ["w"] * 4,
            "condition_A": ["a"] * 4,
            "condition_B": ["b"] * 4,
            "is_A_selected": ["A", "B", "C", "?"],
        },
        {"condition_1": ["a"] * 4, "condition_2": ["b"] * 4, "selection": ["A", "B", "C", "?"]},
        {"x": ["a"] * 4, "y": ["b"] * 4, "winner": ["A", "B", "C", "?"]},
        {"left": ["a"] * 4, "right": ["b"] * 4, "winner": ["A", "B", "C", "?"]},
        {
            "HITId": ["h"] * 5,
            "WorkerId": ["w"] * 5,
            "Input.left": ["a"] * 5,
            "Input.right": ["b"] * 5,
            "Answer.winner": ["A", "B", "C", "?", "junk"],
            "AssignmentStatus": ["Approved"] * 4 + ["Rejected"],
        },
    ],
)
def test_words_can_be_given_to_every_form_with_a_column_of_winners(table: dict[str, list[Any]]) -> None:
    read = read_comparisons(table, Reading(words={"A": "left", "B": "right", "C": "tie", "?": "skip"}))
    assert [one.outcome for one in read.comparisons] == ["left", "right", "tie"]
    assert len(read.columns_not_used) == 0


def test_given_words_come_before_those_of_the_form_which_hold_beside_them() -> None:
    turned: dict[str, list[Any]] = {"x": ["a"] * 3, "y": ["b"] * 3, "winner": [1, 2, "Draw"]}
    read = read_comparisons(turned, Reading(words={"1": "right", "2": "left"}))
    assert [one.outcome for one in read.comparisons] == ["right", "left", "tie"]


@pytest.mark.parametrize(
    ("word", "advice"),
    [("Tie", "--answers Tie=tie"), ("both bad", "--answers 'both bad=tie' (or left, right, both-bad, skip)")],
)
def test_what_to_do_about_a_word_that_the_form_does_not_know(word: str, advice: str) -> None:
    table: dict[str, list[Any]] = {"model_a": ["a"], "model_b": ["b"], "winner": [word]}
    with pytest.raises(InvalidInput, match=f"row 1: column 'winner' holds '{word}'; it is 'model_a'") as refused:
        read_comparisons(table)
    assert refused.value.option == f"say what it means: {advice}"
    assert len(read_comparisons(table, Reading(words={word: "tie"})).comparisons) == 1


@pytest.mark.parametrize("name", ["winner-loser", "preference", "best-worst", "ranking", "choix", "win-matrix"])
def test_words_are_refused_where_there_are_none(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"of the form {name}, which has no column of words for who won"):
        read_comparisons(EXAMPLES[name], Reading(name, words={"A": "left"}))


def test_both_bad_is_a_tie_and_is_said() -> None:
    words = ["model_a", "model_b", "tie", "tie (bothbad)", "both_bad"]
    read = read_comparisons({"model_a": ["a"] * 5, "model_b": ["b"] * 5, "winner": words})
    assert [one.outcome for one in read.comparisons] == ["left", "right", "tie", "both-bad", "both-bad"]
    assert read.notes == ["Both items were called bad in 2; these count as ties."]


def test_an_item_in_two_groups_is_refused() -> None:
    read = read_comparisons({"left": ["a", "a"], "right": ["b", "c"], "winner": ["a", "a"], "group": ["g", "h"]})
    with pytest.raises(InvalidInput, match="row 2: item 'a' is compared in group 'g' and in 'h'"):
        read.item_columns()


def test_lists_and_matrices_without_names(tmp_path: Path) -> None:
    for suffix, text in ((".json", "[[2, 0], [1, 2]]"), (".json", "[ [2, 0],\n[1, 2] ]")):
        (tmp_path / f"pairs{suffix}").write_text(text)
        read = read_comparison_file(tmp_path / f"pairs{suffix}")
        assert (read.format, won(read.comparisons)) == ("choix", [("2", "0"), ("1", "2")])
    (tmp_path / "triples.json").write_text('[["a", "b", "left"], ["c", "b", "tie"]]')
    assert [one[:3] for one in read_comparison_file(tmp_path / "triples.json").comparisons] == [
        ("a", "b", "left"), ("c", "b", "tie"),
    ]  # fmt: skip
    (tmp_path / "ragged.json").write_text("[[1, 2], [3]]")
    with pytest.raises(InvalidInput, match=r"ragged\.json: row 2 is no list of 2 values"):
        read_comparison_file(tmp_path / "ragged.json")
    given = [Comparison("0", "1", "left"), Comparison("2", "1", "right"), Comparison("0", "1", "left")]
    for name in ("choix", "win-matrix"):
        columns = write_comparisons(name, given, Items(["0", "1", "2"]))
        write_comparison_columns(tmp_path / "pairs.npy", columns)
        read = read_comparison_file(tmp_path / "pairs.npy")
        assert read.format == name
        assert sorted(won(read.comparisons)) == [("0", "1"), ("0", "1"), ("1", "2")]
    with pytest.raises(InvalidInput, match="holds the formats choix and win-matrix alone"):
        write_comparison_columns(tmp_path / "pairs.npy", write_comparisons("arena", given))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats(allow_nan=True)
    | st.sampled_from(["", "a", "b", "left", "a > b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["result", "value", "selected", "type", "text1", "text2", "left", "right", "q", "content"]),
            inner,
        )
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", EXAMPLES)
@given(data=st.data())
@settings(max_examples=50)
def test_whatever_a_table_holds_only_bad_input_is_raised(name: str, data: st.DataObject) -> None:
    columns = {key: [data.draw(JSON), *values[1:]] for key, values in EXAMPLES[name].items()}
    kept = data.draw(st.sampled_from(list(columns)))
    columns[kept] = EXAMPLES[name][kept]
    for table in (columns, {**columns, "group": [data.draw(JSON)] * len(columns[kept])}):
        try:
            read = read_comparisons(table, Reading(name))
            read.item_columns()
        except InvalidInput:
            continue
