"""The fold: what a log amounts to, entry by entry."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.data.joining import joined
from ordinate.errors import InvalidInput, NotAStudy, NothingToUndo, UnknownItem
from ordinate.storage import Entry, Recorded
from ordinate.study.fold import State, Version
from ordinate.study.rules import Rules

ITEMS = Items(ids=["a", "b", "c", "d"], features=np.arange(8, dtype=np.float64).reshape(4, 2))


def asked(number: int, left: str = "a", right: str = "b", annotator: str | None = None) -> Entry:
    return Entry(0, "ask", "t", number, left, right, None, annotator)


def about(kind: str, number: int, left: str = "a", right: str = "b", annotator: str | None = None) -> Entry:
    return Entry(0, kind, "t", number, left, right, None, annotator)  # type: ignore[arg-type]


def answered(number: int, answer: str, left: str = "a", right: str = "b", annotator: str | None = None) -> Entry:
    return about("answer", number, left, right, annotator)._replace(answer=answer)  # type: ignore[arg-type]


def recorded(left: str, right: str, answer: str, annotator: str | None = None) -> Entry:
    return Entry(0, "record", "t", None, left, right, answer, annotator)  # type: ignore[arg-type]


def folded(*entries: Entry, items: Items = ITEMS) -> State:
    state = State(Rules())
    apply(state, [Entry(0, "add-items", "t"), *entries], items)
    return state


def apply(state: State, entries: Sequence[Entry], items: Items = ITEMS) -> None:
    first = state.position + 1
    state.apply([entry._replace(position=place) for place, entry in enumerate(entries, first)], lambda _: items)


def effective(state: State) -> list[tuple[str | None, str | None, str | None]]:
    """As kept while the log grows, and as rebuilt: the two must not differ."""
    kept: list[tuple[str | None, str | None, str | None]] = [one[:3] for one in state.listed(state.effective)]
    columns = [column.tolist() for column in state.effective.first(len(state.effective))]
    state.drop_caches()
    assert kept == [one[:3] for one in state.listed(state.effective)]
    assert columns == [column.tolist() for column in state.effective.first(len(state.effective))]
    return kept


def open_numbers(state: State) -> list[int | None]:
    return [entry.query for entry in state.open()]


def test_an_empty_log_has_nothing() -> None:
    state = State(Rules())
    assert (state.position, len(state.items), state.open(), len(state.effective)) == (0, 0, [], 0)


def test_answers_and_records_count_in_the_order_of_the_log() -> None:
    state = folded(
        asked(1), asked(2, "c", "d"), answered(2, "tie", "c", "d"), recorded("b", "d", "right"), answered(1, "left")
    )
    assert effective(state) == [("c", "d", "tie"), ("b", "d", "right"), ("a", "b", "left")]
    left, right, outcome = state.effective.first(3)
    assert (left.tolist(), right.tolist(), outcome.tolist()) == ([2, 1, 0], [3, 3, 1], [0.5, 0.0, 1.0])
    assert open_numbers(state) == []


def test_comparisons_in_columns_are_folded_as_one_after_the_other() -> None:
    rng = np.random.default_rng(0)
    names = [None, "Ann", "ann", "Bob"]
    rows = [
        (*map(str, rng.choice(list("abcd"), 2, replace=False)), str(rng.choice(["left", "right", "tie"])), name)
        for name in rng.choice(np.array(names, dtype=object), 300)
    ]
    before = [
        asked(1, "a", "b", "Bob"),
        answered(1, "skip", annotator="Bob"),
        about("exclude-annotator", 1, annotator="ann"),
    ]
    one_by_one = folded(*before, *(recorded(*row) for row in rows))
    for warm in (False, True):
        together = folded(*before)
        if warm:
            for name in names:
                assert len(together.effective) + len(together.seen(name)) <= 1
        left, right, answers, annotators = zip(*rows, strict=True)
        together.apply([Recorded(together.position + 1, left, right, answers, annotators)], lambda _: ITEMS)
        assert together.position == one_by_one.position
        assert together.annotators() == one_by_one.annotators()
        assert (together.names, together.name_of("BOB")) == (one_by_one.names, one_by_one.name_of("BOB"))
        for name in names:
            assert list(together.listed(together.seen(name))) == list(one_by_one.listed(one_by_one.seen(name)))
        assert effective(together) == effective(one_by_one)


@pytest.mark.parametrize("row", [("a", "x", "left", None), ("a", "b", "perhaps", None), (None, "b", "left", None)])
def test_a_damaged_comparison_in_columns_is_refused(row: tuple[Any, Any, Any, Any]) -> None:
    state = folded()
    with pytest.raises(NotAStudy, match="does not fit those before it"):
        state.apply([Recorded(2, *([value] for value in row))], lambda _: ITEMS)
    with pytest.raises(NotAStudy, match="entry 3 follows entry 1"):
        folded().apply([Recorded(3, ["a"], ["b"], ["left"], [None])], lambda _: ITEMS)


def test_a_skip_closes_its_query_and_does_not_count() -> None:
    state = folded(asked(1), answered(1, "skip"))
    assert effective(state) == []
    assert open_numbers(state) == []
    assert state.annotators() == {}
    assert [column.tolist() for column in state.seen(None).pairs] == [[0], [1]]


def test_a_withdrawn_query_leaves_its_pair_unseen() -> None:
    state = folded(asked(1), about("withdraw", 1))
    assert open_numbers(state) == []
    assert state.withdrawn == {1}
    assert len(state.seen(None)) == 0


def test_a_retraction_reopens_the_query_at_its_old_place() -> None:
    state = folded(asked(1), asked(2, "a", "c"), answered(1, "left"))
    assert effective(state) == [("a", "b", "left")]
    assert len(state.seen(None)) == 1
    apply(state, [about("retract", 1)])
    assert effective(state) == []
    assert open_numbers(state) == [1, 2]
    assert len(state.seen(None)) == 0
    apply(state, [answered(2, "left", "a", "c"), answered(1, "right")])
    assert effective(state) == [("a", "c", "left"), ("a", "b", "right")]


def test_the_newest_answer_is_the_annotators_own_and_undone_ones_are_passed_over() -> None:
    state = folded(
        *(asked(number, annotator=who) for number, who in enumerate(["Ann", "Ann", "Bob"], 1)),
        answered(2, "skip", annotator="Ann"),
        answered(1, "left", annotator="Ann"),
        answered(3, "left", annotator="Bob"),
    )
    assert state.last_answered("Ann").query == 1
    apply(state, [about("retract", 1, annotator="Ann")])
    assert state.last_answered("Ann").query == 2
    apply(state, [about("retract", 2, annotator="Ann")])
    with pytest.raises(NothingToUndo, match="'Ann'"):
        state.last_answered("Ann")
    assert state.last_answered("Bob").query == 3
    with pytest.raises(NothingToUndo):
        state.last_answered(None)


def test_an_excluded_item_takes_its_comparisons_and_queries_out_and_back_in() -> None:
    exclude, include = Entry(0, "exclude-item", "t", left="a"), Entry(0, "include-item", "t", left="a")
    state = folded(asked(1), asked(2, "c", "d"), recorded("a", "c", "left"), recorded("c", "d", "left"))
    before = effective(state)
    apply(state, [exclude])
    assert effective(state) == [("c", "d", "left")]
    assert open_numbers(state) == [2]
    assert state.active.tolist() == [-1, 0, 0, 0]
    assert state.all_pairs.size == 3
    assert state.annotators() == {None: 2}
    apply(state, [answered(1, "left"), include])
    assert effective(state) == [*before, ("a", "b", "left")]
    assert state.active.tolist() == [0, 0, 0, 0]


def test_an_excluded_annotator_takes_answers_and_queries_out_and_back_in() -> None:
    state = folded(
        asked(1, annotator="Ann"), asked(2, "a", "c"), recorded("a", "d", "left", "Ann"), recorded("b", "d", "tie")
    )
    apply(state, [Entry(0, "exclude-annotator", "t", annotator="Ann")])
    assert effective(state) == [("b", "d", "tie")]
    assert open_numbers(state) == [2]
    assert state.annotators() == {"Ann": 1, None: 1}
    apply(state, [recorded("c", "d", "left", "Ann"), Entry(0, "include-annotator", "t", annotator="Ann")])
    assert effective(state) == [("a", "d", "left"), ("b", "d", "tie"), ("c", "d", "left")]
    assert open_numbers(state) == [1, 2]


def test_a_view_of_the_first_answers_stays_what_it_was() -> None:
    state = folded(recorded("a", "b", "left"))
    views = state.effective.first(1)
    before = [view.tolist() for view in views]
    apply(state, [recorded("c", "d", "right")] * 500)
    assert [view.tolist() for view in views] == before
    assert len(state.effective) == 501
    assert state.effective.first(501)[2].tolist() == [1.0] + [0.0] * 500


def test_epochs_rise_exactly_when_more_than_growth_happens() -> None:
    state = folded(asked(1), answered(1, "left"), asked(2, "a", "c"), answered(2, "skip", "a", "c"))
    version = state.version(1)
    apply(state, [recorded("a", "b", "left"), asked(3), about("withdraw", 3), about("retract", 2, "a", "c")])
    assert state.version(1) == version
    apply(state, [about("retract", 1)])
    assert state.version(1).change > version.change
    assert state.items_epoch == version.items_epoch
    apply(state, [Entry(0, "exclude-item", "t", left="a")])
    assert state.items_epoch > version.items_epoch


@pytest.mark.parametrize("looked", [False, True])
def test_equal_versions_are_of_equal_comparisons(looked: bool) -> None:
    """Answers given and taken back at random: what has the version that it had before is what it was before."""
    rng, state, given, known = np.random.default_rng(0), folded(), list[int](), dict[Version, list[int]]()
    survived = 0
    for number in range(1, 200):
        if given and rng.random() < 0.4:
            apply(state, [about("retract", given.pop(int(rng.integers(max(0, len(given) - 4), len(given)))))])
            if len(given) > 2:
                survived += state.version(len(given) - 3) in known
        apply(state, [asked(number)])
        if rng.random() < 0.2:
            apply(state, [Entry(0, kind, "t", annotator="Bob") for kind in ("exclude-annotator", "include-annotator")])
        apply(state, [answered(number, "left")])
        given.append(number)
        for count in range(len(given) + 1) if looked or rng.random() < 0.3 else ():
            positions = state.effective.positions[:count].tolist()
            assert known.setdefault(state.version(count), positions) == positions
    assert survived > 10, "what comes before an answer that is taken back keeps its version"


def test_pairs_that_an_annotator_has_not_seen() -> None:
    state = folded(recorded("a", "b", "left", "Ann"), recorded("c", "d", "left"))
    assert state.unseen("Ann").size == 5
    apply(state, [recorded("a", "c", "left", "Ann"), recorded("b", "a", "left", "Ann")])
    assert state.unseen("Ann").size == 4
    assert state.unseen(None).size == 5
    assert state.unseen("Bob").size == 6
    apply(state, [Entry(0, "exclude-item", "t", left="d")])
    assert (state.unseen("Ann").size, state.unseen(None).size) == (1, 3)


def test_a_pair_whose_answer_was_taken_back_is_unseen_again() -> None:
    state = folded(asked(1), answered(1, "left"))
    assert state.unseen(None).size == 5
    apply(state, [about("retract", 1), about("withdraw", 1)])
    assert state.unseen(None).size == 6


@pytest.mark.parametrize(
    "entry",
    [
        answered(1, "left"),
        answered(7, "left"),
        about("answer", 2),
        about("withdraw", 1),
        about("retract", 2),
        about("retract", 7),
        asked(2),
        asked(4),
        asked(3, "a", "nobody"),
        recorded("a", "nobody", "left"),
        recorded("a", "b", "perhaps"),
        Entry(0, "record", "t"),
        Entry(0, "withdraw", "t"),
        Entry(0, "exclude-item", "t", left="nobody"),
        Entry(0, "include-item", "t", left="a"),
        Entry(0, "include-annotator", "t", annotator="Ann"),
        Entry(0, "exclude-annotator", "t"),
        Entry(0, "add-items", "t"),
        Entry(0, "dance", "t"),  # type: ignore[arg-type]
    ],
)
def test_an_entry_that_does_not_fit_is_named(entry: Entry) -> None:
    state = folded(asked(1), answered(1, "left"), asked(2))
    with pytest.raises(NotAStudy, match="entry 5"):
        apply(state, [entry])


def test_a_gap_in_the_log_is_named() -> None:
    state = folded(asked(1))
    with pytest.raises(NotAStudy, match="entry 4 follows entry 2"):
        state.apply([answered(1, "left")._replace(position=4)], lambda _: ITEMS)


def test_comparisons_are_checked_by_item_and_group() -> None:
    state = folded(items=Items(ids=["a", "b", "c"], group=["x", "x", "y"]))
    state.check_pair(Comparison("a", "b", "left"))
    with pytest.raises(UnknownItem, match=r"^row 3: the study has no item 'q'$"):
        state.check_pair(Comparison("a", "q", "left"), "row 3: ")
    with pytest.raises(InvalidInput, match=r"^row 3: item 'a' is in group 'x' and 'c' in 'y'"):
        state.check_pair(Comparison("a", "c", "left"), "row 3: ")


def test_joined_items_keep_their_order_and_content() -> None:
    old = Items(["a", "b"], np.array([[1.0], [2.0]]), ["weight"], ["x", "x"], {"text": ["A", None]})
    new = Items(["c"], np.array([[3.0]]), ["weight"], ["y"], {"image": ["c.png"]})
    both = joined(old, new)
    assert both.ids == ("a", "b", "c")
    assert both.features.tolist() == [[1.0], [2.0], [3.0]]
    assert both.feature_names == ("weight",)
    assert both.group == ("x", "x", "y")
    assert both.content == {"text": ("A", None, None), "image": (None, None, "c.png")}


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (Items(["b"], np.array([[1.0, 2.0]]), ["p", "q"]), "an item 'b' already"),
        (Items(["c"], np.array([[1.0]]), ["p"]), "have 1 feature columns; those of the study have 2"),
        (
            Items(["c"], np.array([[1.0, 2.0]]), ["q", "p"]),
            "the features 'q', 'p'; those of the study have the features 'p', 'q'",
        ),
        (Items(["c"], np.array([[1.0, 2.0]])), "have unnamed features"),
        (Items(["c"], np.array([[1.0, 2.0]]), ["p", "q"], ["x"]), "has no groups"),
    ],
)
def test_items_that_do_not_fit_are_refused(new: Items, words: str) -> None:
    old = Items(["a", "b"], np.array([[1.0, 2.0], [3.0, 4.0]]), ["p", "q"])
    with pytest.raises(InvalidInput, match=words):
        joined(old, new)


def test_items_need_a_group_where_the_others_have_one() -> None:
    with pytest.raises(InvalidInput, match="give each of these items its group"):
        joined(Items(["a", "b"], group=["x", "x"]), Items(["c"]))
