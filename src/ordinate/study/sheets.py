"""Answers to queries that come back in a table: one that `ordinate ask --out` wrote, or the export of a program.

The table may come back several times, each time with more answers, or after some queries were answered in the browser.
So one answer of a person to a query is recorded, and what is stored stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ordinate.data.comparisons import Comparison, Query, swapped
from ordinate.errors import InvalidInput, UnknownQuery

if TYPE_CHECKING:
    from ordinate.data.comparison_formats import ReadComparisons
    from ordinate.study.study import Study

_NAMED = 5


class Returned(NamedTuple):
    """What a table adds to a study.

    comparisons     to record; who was asked need not be repeated in the table
    made_elsewhere  those of them that answer no query
    closed          the ids of the queries that they answer
    notes           sentences about what was left out or closed
    """

    comparisons: list[Comparison]
    made_elsewhere: list[Comparison]
    closed: set[str]
    notes: list[str]


class _Answer(NamedTuple):
    """A row that answers a query, with the annotator in the comparison."""

    row: int
    query: Query
    given: Comparison

    @property
    def key(self) -> tuple[str, str | None]:
        """The query and who answered it: a table may have answers of several people to one query."""
        return self.query.id, self.given.annotator

    @property
    def pair(self) -> tuple[str | None, str, str]:
        one, other = sorted(self.given[:2])
        return self.given.annotator, one, other

    @property
    def outcome(self) -> str:
        """The answer, whichever side is which."""
        return _outcome(*self.given[:3])


def returned_answers(study: Study, read: ReadComparisons) -> Returned:
    """What of a table is to be recorded. Raises InvalidInput, naming the row, for a query that the study never asked.

    An answer is left out where the study has one of the same person to the same query.
    """
    if not any(read.queries):
        return Returned(read.comparisons, read.comparisons, set(), [])
    asked = {query.id: query for query in study.asked()}
    waiting = {query.id for query in study.open_queries()}
    given: list[Comparison | _Answer] = []
    practised = 0
    for row, one, query in zip(read.rows, read.comparisons, read.queries, strict=True):
        if query is None:
            given.append(one)
        elif study.is_practice(query):
            practised += 1
        elif query in asked:
            given.append(_answer(study, row, one, asked[query]))
        else:
            raise UnknownQuery(
                f"row {row}: the study never asked the query {query!r}; import the table into the study that did, or "
                "rename the column if it holds something else"
            )
    answers = [one for one in given if isinstance(one, _Answer)]
    once = _each_once(answers)
    stored = _stored(study, [one for one in once if one.query.id not in waiting])
    otherwise = [one for one in once if stored.get(one.key, one.outcome) != one.outcome]
    new = {one.key: one for one in once if one.key not in stored}
    closed = {one.query.id for one in new.values()}
    notes = []
    if practised:
        notes.append(f"Left out, as answers to practice pairs, which never count: {practised:,}.")
    if same := len(answers) - len(new) - len(otherwise):
        notes.append(f"Left out, already answered: {same:,}.")
    if otherwise:
        more = f"; and {len(otherwise) - _NAMED:,} more" if len(otherwise) > _NAMED else ""
        listed = "; ".join(_difference(one, stored[one.key]) for one in otherwise[:_NAMED])
        notes.append(f"Left out, already answered otherwise, which stands: {len(otherwise):,} ({listed}{more}).")
    if were_open := len(closed & waiting):
        notes.append(f"Open queries that these comparisons answer, now closed: {were_open:,}.")
    kept = [one for one in given if isinstance(one, Comparison) or new.get(one.key) is one]
    return Returned(
        [one.given if isinstance(one, _Answer) else one for one in kept],
        [one for one in kept if isinstance(one, Comparison)],
        closed,
        notes,
    )


def _answer(study: Study, row: int, one: Comparison, query: Query) -> _Answer:
    if {one.left, one.right} != {query.left, query.right}:
        raise InvalidInput(
            f"row {row}: the query {query.id!r} is about {query.left!r} and {query.right!r}, not about {one.left!r} "
            f"and {one.right!r}"
        )
    annotator = query.annotator if one.annotator is None else study.name_of(one.annotator)
    return _Answer(row, query, one._replace(annotator=annotator))


def _each_once(answers: Sequence[_Answer]) -> list[_Answer]:
    """The first answer of each person to each query. Raises InvalidInput where a later one differs."""
    first: dict[tuple[str, str | None], _Answer] = {}
    for one in answers:
        if (before := first.setdefault(one.key, one)).outcome != one.outcome:
            raise InvalidInput(
                f"rows {before.row} and {one.row} answer the query {one.query.id!r} differently; leave one out, or say "
                "in a column 'annotator' who answered if it was not the same person"
            )
    return list(first.values())


def _stored(study: Study, answers: Sequence[_Answer]) -> dict[tuple[str, str | None], str]:
    """What the study has for these answers to queries that are open no more, by their keys; nothing for new ones.

    A query that was answered by a table is withdrawn, and its answer is a comparison of the same person and pair.
    """
    if not answers:
        return {}
    to_queries, recorded = _history(study)
    found: dict[tuple[str, str | None], str] = {}
    apart = []
    for one in answers:
        if one.given.annotator == one.query.annotator and one.query.id in to_queries:
            found[one.key] = to_queries[one.query.id]
        else:
            apart.append(one)
    # Where one pair was asked twice, equal answers belong together before any is said to differ.
    for agreeing in (True, False):
        for one in apart:
            left = recorded.get(one.pair, Counter())
            outcome = one.outcome if agreeing else next(iter(+left), None)
            if one.key not in found and outcome is not None and left[outcome] > 0:
                found[one.key] = outcome
                left[outcome] -= 1
    return found


def _history(study: Study) -> tuple[dict[str, str], dict[tuple[str | None, str, str], Counter[str]]]:
    """The answers that stand: of queries by their ids, and those that were recorded by annotator and pair."""
    columns = study.history()
    to_queries: dict[str, str] = {}
    recorded: dict[tuple[str | None, str, str], Counter[str]] = {}
    names = ("left", "right", "winner", "annotator", "query", "status")
    for left, right, winner, annotator, query, status in zip(*(columns[name] for name in names), strict=True):
        outcome = _outcome(left, right, winner)
        if query is None:
            one, other = sorted((left, right))
            recorded.setdefault((annotator, one, other), Counter())[outcome] += 1
        elif status != "taken back":
            to_queries[query] = outcome
    return to_queries, recorded


def _outcome(left: str, right: str, answer: Any) -> str:
    """The answer as it is with the ids in order on the sides."""
    return answer if left < right else swapped(answer)


def _difference(one: _Answer, stored: Any) -> str:
    before = stored if one.given.left < one.given.right else swapped(stored)
    return f"row {one.row}: {one.given.outcome} to {one.query.id}, where the study has {before}"
