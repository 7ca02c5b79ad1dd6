"""Practice pairs: the owner chooses them, whoever is new judges them first, and they are never part of a fit.

Each is an entry "practice" when it is given, with a number of its own, and an entry "practised" once it is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ordinate.data.cells import listed, text
from ordinate.data.comparisons import OUTCOME_VALUES
from ordinate.data.lookalikes import suggestion
from ordinate.errors import InvalidInput, UnknownQuery
from ordinate.storage import Entry

if TYPE_CHECKING:
    from ordinate.study.fold import State

Expected = Literal["left", "right", "tie"]
_MARK = "practice"


class Practice(NamedTuple):
    """`expected` is the right answer, by the side; None: nobody knows it."""

    left: str
    right: str
    expected: Expected | None = None


class PracticeScore(NamedTuple):
    """How many practice pairs somebody answered, how many of these have a right answer, and how many got it."""

    answered: int
    known: int
    right: int


def checked(given: Any) -> tuple[Practice, ...]:
    """Raises InvalidInput where these are no practice pairs."""
    return tuple(_practice(one, row) for row, one in enumerate(listed("practice", given), start=1))


def _practice(one: Any, row: int) -> Practice:
    try:
        found = Practice(*listed("a pair", one))
    except (InvalidInput, TypeError):
        raise InvalidInput(f"practice pair {row} must be two ids and perhaps an answer, not {one!r}") from None
    if found.expected is not None and found.expected not in get_args(Expected):
        raise InvalidInput(f"practice pair {row}: {found.expected!r} is no answer; it is left, right, tie or nothing")
    left, right = text("an id", found.left), text("an id", found.right)
    if left == right:
        raise InvalidInput(f"practice pair {row} has {left!r} on both sides")
    return Practice(left, right, found.expected)


def require_possible(
    pairs: Sequence[Practice], ties: bool, rows: Mapping[str, int], groups: Sequence[str] | None
) -> None:
    """Raise InvalidInput where these pairs, of items of the study, could not be asked or answered as expected.

    ties         whether the study takes ties
    rows, groups of the items; None: the study has no groups
    """
    before: dict[frozenset[str], int] = {}
    for row, one in enumerate(pairs, start=1):
        if (first := before.setdefault(frozenset(one[:2]), row)) != row:
            raise InvalidInput(f"practice pair {row} is pair {first} again; leave one of them out")
        if one.expected == "tie" and not ties:
            raise InvalidInput(f"practice pair {row} expects a tie, which is no answer in this study; allow ties")
        if groups is not None and groups[rows[one.left]] != groups[rows[one.right]]:
            raise InvalidInput(
                f"practice pair {row}: item {one.left!r} is in group {groups[rows[one.left]]!r} and {one.right!r} in "
                f"{groups[rows[one.right]]!r}; only items of one group are compared"
            )


def is_due(state: State, annotator: str | None) -> bool:
    """Whether somebody is new and has practice pairs to judge first."""
    return bool(missing(state, annotator) or waiting(state, annotator))


def missing(state: State, annotator: str | None) -> list[Practice]:
    """The pairs that somebody new has not been given yet. Without a name nobody can be known to be new; a model is not
    given any."""
    if annotator is None or annotator in state.machines or not state.rules.practice or state.has_answered(annotator):
        return []
    mine = [entry for entry in state.practices if entry.annotator == annotator]
    known = {_as_given(entry) for entry in mine}
    judged = {frozenset((entry.left, entry.right)) for entry in mine if entry.query in state.practised}
    return [
        one
        for one in state.rules.practice
        if one not in known and frozenset(one[:2]) not in judged and _may_be_shown(state, one, annotator)
    ]


def waiting(state: State, annotator: str | None) -> list[Entry]:
    """The practice pairs that somebody new has to answer, in the owner's order; without those that the owner has
    removed or corrected since they were given."""
    if annotator is None or state.has_answered(annotator):
        return []
    wanted = {one: place for place, one in enumerate(state.rules.practice)}
    given = [
        entry
        for entry in state.practices
        if entry.annotator == annotator
        and entry.query not in state.practised
        and _as_given(entry) in wanted
        and _may_be_shown(state, entry, annotator)
    ]
    return sorted(given, key=lambda entry: wanted[_as_given(entry)])


def _as_given(entry: Entry) -> Practice:
    expected: Any = entry.value
    return Practice(str(entry.left), str(entry.right), expected)


def _may_be_shown(state: State, pair: Practice | Entry, annotator: str) -> bool:
    """Whether the items are in use, and the annotator made neither."""
    items = str(pair.left), str(pair.right)
    if not all(item in state.rows and item not in state.excluded_items for item in items):
        return False
    return not {state.rows[item] for item in items} & state.own(annotator)


def score(state: State, annotator: str | None) -> PracticeScore:
    mine = [entry for entry in state.practised.values() if entry.annotator == annotator]
    known = [entry for entry in mine if entry.value is not None]
    return PracticeScore(len(mine), len(known), sum(_side(entry.answer) == _side(entry.value) for entry in known))


def _side(answer: str | None) -> float | None:
    return OUTCOME_VALUES.get(answer or "")


def query_id(token: str, number: int | None) -> str:
    return f"{token}-{_MARK}-{number}"


def is_practice(query: str) -> bool:
    return query.split("-")[-2:-1] == [_MARK]


def find(state: State, token: str, query: str) -> Entry:
    """The entry of a practice pair by the id of its query. Raises UnknownQuery."""
    digits = query.rpartition("-")[2]
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0
    if query != query_id(token, number) or not 1 <= number <= len(state.practices):
        near = suggestion(query, [query_id(token, entry.query) for entry in state.practices[-5:]])
        raise UnknownQuery(f"unknown practice pair {query!r}{near}")
    return state.practices[number - 1]
