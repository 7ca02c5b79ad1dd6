"""What single formats hold beyond the contract."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ordinate import Comparison, Items, Query
from ordinate.data.cells import text_id
from ordinate.data.comparison_formats import Reading, read_comparisons, write_comparisons
from ordinate.data.comparison_formats.label_studio import tasks
from ordinate.errors import InvalidInput


def won(read: Any) -> list[tuple[str, str]]:
    return [(one.left, one.right) if one.outcome == "left" else (one.right, one.left) for one in read.comparisons]


def test_best_worst_gives_five_pairs_of_four_items() -> None:
    read = read_comparisons(
        {"item1": ["a"], "item2": ["b"], "item3": ["c"], "item4": ["d"], "best": ["c"], "worst": ["a"], "worker": ["w"]}
    )
    assert sorted(won(read)) == [("b", "a"), ("c", "a"), ("c", "b"), ("c", "d"), ("d", "a")]
    assert {one.annotator for one in read.comparisons} == {"w"}
    assert read.rows == [1] * 5
    assert "the intervals are too narrow" in read.notes[0]
    listed = read_comparisons({"items": [["a", "b", "c", "d"]], "best": ["c"], "worst": ["a"]})
    assert sorted(won(listed)) == sorted(won(read))


def test_rankings_give_every_pair_with_ties() -> None:
    read = read_comparisons({"ranking": ["a > b = c > d", "d>a"]})
    outcomes = Counter((one.left, one.right, one.outcome) for one in read.comparisons)
    assert sum(outcomes.values()) == 7
    assert outcomes["b", "c", "tie"] == 1
    assert outcomes["d", "a", "left"] == 1
    assert read.rows == [1] * 6 + [2]
    by_columns = read_comparisons({"rank2": ["b", "x"], "rank1": ["a", "y"], "rank10": ["c", None]})
    assert sorted(won(by_columns)) == [("a", "b"), ("a", "c"), ("b", "c"), ("y", "x")]
    by_lists = read_comparisons({"ranking": [["a > 1", 2, "c"]]})
    assert won(by_lists) == [("a > 1", "2"), ("a > 1", "c"), ("2", "c")]


@pytest.mark.parametrize("ranking", ["a = d > b = c", [["a", "d"], ["b", "c"]], (("a", "d"), ["b", "c"])])
def test_a_list_within_a_ranking_is_a_shared_place(ranking: Any) -> None:
    found = {one[:3] for one in read_comparisons({"ranking": [ranking]}).comparisons}
    ties, wins = {("a", "d", "tie"), ("b", "c", "tie")}, {(one, other, "left") for one in "ad" for other in "bc"}
    assert found == ties | wins
    assert won(read_comparisons({"ranking": [[["a"], "b"]]})) == [("a", "b")]


def test_preference_data_have_texts_prompts_and_messages() -> None:
    long = "A long answer. " * 10
    read = read_comparisons(
        {
            "prompt": ["Why?", "How?"],
            "chosen": [long, [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]],
            "rejected": ["No.", "Thus."],
            "score_chosen": [1, 2],
        }
    )
    columns = read.item_columns()
    assert columns["id"] == [text_id(long), "No.", "So.", "Thus."]
    assert columns["id"][0].startswith("text-")
    assert columns["text"][0] == long
    assert columns["group"] == ["Why?", "Why?", "How?", "How?"]
    assert read.columns_not_used == ["score_chosen"]
    with pytest.raises(InvalidInput, match="row 1 of 'chosen' holds 'None', neither a text nor a list"):
        read_comparisons({"chosen": [None], "rejected": ["x"]})


def annotated(selected: str | None, person: Any = 7, **more: Any) -> dict[str, Any]:
    result = [] if selected is None else [{"type": "pairwise", "value": {"selected": selected}}]
    return {"completed_by": person, "result": result, **more}


def test_label_studio_finds_the_two_items_of_a_task() -> None:
    columns: dict[str, list[Any]] = {
        "id": [1, 2, 3],
        "data": [
            {"text1": "a", "text2": "b"},
            {"image_a": "x.png", "image_b": "y.png", "question": "Which?"},
            {"left": "a", "right": "b", "left_text": "The A", "query": "k-1", "annotator": "ann"},
        ],
        "annotations": [
            [annotated("left", {"id": 3, "email": "a@b.c"}), annotated("right", was_cancelled=True)],
            [annotated("right"), annotated(None)],
            [annotated("right", None)],
        ],
    }
    read = read_comparisons(columns)
    assert read.comparisons == [
        Comparison("a", "b", "left", "a@b.c"),
        Comparison("x.png", "y.png", "right", "7"),
        Comparison("a", "b", "right", "ann"),
    ]
    assert read.rows == [1, 2, 3]
    assert (read.queries, read.texts) == ([None, None, "k-1"], {"a": "The A"})
    assert read.notes == ["Left out, without an answer: 2."]
    assert read.columns_not_used == ["id"]
    unclear: dict[str, list[Any]] = {"data": [{"one": "a", "two": "b"}], "annotations": [[annotated("left")]]}
    with pytest.raises(InvalidInput, match=r"task 1: which of its data are the two items.*'one', 'two'"):
        read_comparisons(unclear)
    assert won(read_comparisons(unclear, Reading(names={"left": "two", "right": "one"}))) == [("b", "a")]
    with pytest.raises(InvalidInput, match="task 1: selected is 'middle'"):
        read_comparisons(
            {**unclear, "annotations": [[annotated("middle")]]}, Reading(names={"left": "two", "right": "one"})
        )


def test_tasks_for_label_studio_hold_the_pair_and_its_query() -> None:
    items = Items(["a", "b"], group=["g", "g"], content={"text": ["The A", None]})
    (data,) = tasks([Query("k-1", "b", "a")], items, "Which?")["data"]
    assert data == {
        "left": "b", "right": "a", "left_text": "b", "right_text": "The A", "group": "g", "question": "Which?",
        "query": "k-1",
    }  # fmt: skip


def test_argilla_ranks_fields_or_names_the_best() -> None:
    fields = [{"prompt": "Why?", "response1": "a", "response2": "b", "response3": "c"}] * 2
    ranked: dict[str, list[Any]] = {
        "fields": fields,
        "responses": [
            {
                "order": [{"value": ["response2", "response1", "response3"], "user_id": "u"}],
                "note": [{"value": "fine"}],
            },
            {},
        ],
    }
    read = read_comparisons(ranked)
    assert sorted(won(read)) == [("a", "c"), ("b", "a"), ("b", "c")]
    assert read.group == ["Why?"] * 3
    chat = [{**one, "prompt": [{"role": "user", "content": "Why?"}]} for one in fields]
    assert read_comparisons({**ranked, "fields": chat}).group == ["Why?"] * 3
    best: dict[str, list[Any]] = {
        "fields": fields,
        "responses": [{"best": [{"value": "response3"}]}, {"best": [{"value": "response1"}]}],
    }
    assert sorted(won(read_comparisons(best))) == [("a", "b"), ("a", "c"), ("c", "a"), ("c", "b")]
    two: dict[str, list[Any]] = {
        "fields": fields[:1],
        "responses": [{one: [{"value": "response1"}] for one in ("clear", "kind")}],
    }
    with pytest.raises(InvalidInput, match="2 questions have answers that name fields; name one question"):
        read_comparisons(two)
    assert read_comparisons(two, Reading(names={"winner": "kind"})).format == "argilla"


def test_rejected_assignments_of_mechanical_turk_are_left_out() -> None:
    read = read_comparisons(
        {
            "HITId": ["h", "h"],
            "WorkerId": ["w1", "w2"],
            "AssignmentStatus": ["Approved", "Rejected"],
            "Input.left": ["a", "a"],
            "Input.right": ["b", "b"],
            "Input.left_text": ["The A", "The A"],
            "Input.query": ["k-1", "k-1"],
            "Answer.winner": ["left", "right"],
        }
    )
    assert read.comparisons == [Comparison("a", "b", "left", "w1")]
    assert (read.queries, read.texts, read.columns_not_used) == (["k-1"], {"a": "The A"}, [])
    assert read.notes == ["Left out, without an answer: 1."]


def test_battles_with_a_group_are_of_replies_which_name_their_model() -> None:
    table: dict[str, list[Any]] = {
        "model_a": ["ada", "bell", "ada"],
        "model_b": ["bell", "ada", "euler"],
        "winner": ["model_a", "tie", "model_b"],
        "judge": ["kim", "kim", "lee"],
        "question_id": ["q1", "q2", "q2"],
    }
    assert read_comparisons(table).item_columns() == {"id": ["ada", "bell", "euler"]}
    read = read_comparisons(table, Reading(names={"group": "question_id"}))
    assert won(read) == [("q1/ada", "q1/bell"), ("q2/ada", "q2/bell"), ("q2/euler", "q2/ada")]  # the second is a tie
    assert read.item_columns() == {
        "id": ["q1/ada", "q1/bell", "q2/bell", "q2/ada", "q2/euler"],
        "group": ["q1", "q1", "q2", "q2", "q2"],
        "model": ["ada", "bell", "bell", "ada", "euler"],
    }


def test_a_condition_in_two_scenes_is_two_items() -> None:
    table: dict[str, list[Any]] = {
        "observer": [1, 1, 2],
        "scene": ["street", "street", "beach"],
        "condition_A": ["q10", "q10", "q10"],
        "condition_B": ["q90", "q50", "q90"],
        "is_A_selected": [0, 0, 1],
    }
    read = read_comparisons(table)
    assert won(read) == [("street/q90", "street/q10"), ("street/q50", "street/q10"), ("beach/q10", "beach/q90")]
    assert read.item_columns() == {
        "id": ["street/q10", "street/q90", "street/q50", "beach/q10", "beach/q90"],
        "group": ["street", "street", "street", "beach", "beach"],
    }
    assert read.notes == [
        "Items of one name are in several groups, so each is called GROUP/NAME, such as 'street/q10'."
    ]
    assert read.labels == {}
    # Written and read again, the names stay: none of them is in two scenes any more.
    columns = read.item_columns()
    items = Items(columns["id"], group=columns["group"])
    again = read_comparisons(write_comparisons("pwcmp", read.comparisons, items))
    assert (again.comparisons, again.group) == (read.comparisons, read.group)


def test_one_text_as_the_answer_to_two_prompts_is_two_items() -> None:
    long = "Is it? " * 20
    read = read_comparisons({"prompt": ["Why?", long], "chosen": ["Yes.", "Yes."], "rejected": ["No.", "Perhaps."]})
    columns = read.item_columns()
    assert columns["id"] == ["Why?/Yes.", "Why?/No.", f"{text_id(long)}/Yes.", f"{text_id(long)}/Perhaps."]
    assert columns["text"] == ["Yes.", "No.", "Yes.", "Perhaps."]
    assert columns["group"] == ["Why?", "Why?", long, long]


def test_two_items_that_would_get_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="items of two groups would both be called 'a/b/c'"):
        read_comparisons({"prompt": ["a", "a/b", "x"], "chosen": ["b/c", "c", "c"], "rejected": ["d", "e", "d"]})


def test_scenes_of_pwcmp_are_groups_and_selections_are_numbers() -> None:
    read = read_comparisons(
        {
            "observer": [1, 2],
            "scene": ["s", "s"],
            "condition_1": ["a", "a"],
            "condition_2": ["b", "b"],
            "selection": [2, 1],
        }
    )
    assert read.comparisons == [Comparison("a", "b", "right", "1"), Comparison("a", "b", "left", "2")]
    assert read.group == ["s", "s"]


def test_two_rows_of_two_could_be_a_matrix_of_wins_and_a_note_says_so() -> None:
    rows = {"0": [0, 2], "1": [5, 0]}
    notes = read_comparisons(rows).notes
    assert any("name the form: win-matrix" in one for one in notes)
    assert len(read_comparisons(rows, Reading("win-matrix")).comparisons) == 7
    assert len(read_comparisons({"0": [0, 2], "1": [5, 1]}).notes) == 1
