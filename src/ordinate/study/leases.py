"""Who may hold which pair, and until when: decided from the state and a time, written to the log, never remembered.

A lease ends by an entry "expire" that whoever notices first appends, so a fold of the log needs no clock. An
answer that comes later still counts while the pair was not given to somebody else.

A pair is given to nobody while another holds it. An undo gives nothing: it opens a query again for who answered it, who
would otherwise lose the answer that they are correcting, even where somebody else was given the pair since.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from ordinate.data.comparisons import Query
from ordinate.data.pairs import pair_codes
from ordinate.errors import AlreadyAnswered, BudgetSpent, StudyPaused
from ordinate.storage import Entry, Settings, moment
from ordinate.study.fold import State, pair_of

REPEAT_AFTER = 5
"""An annotator's pair comes again after at least this many other answers of theirs."""


class Offer(NamedTuple):
    """A pair that was chosen for an annotator, by screen side, and what it was chosen from.

    based_on  the last position of the log that the choice took into account
    strategy  what chose it, where that was not the study's own strategy
    """

    left: str
    right: str
    annotator: str | None
    utility: float | None
    based_on: int
    strategy: str | None = None


class Lease(NamedTuple):
    """A query that an annotator holds, and until when; None: until it is closed."""

    query: Query
    expires_at: str | None
    repeat: bool


def due(state: State, at: str) -> list[int]:
    """The queries whose lease has ended by then."""
    return [number for number, until in state.leases.items() if until <= at]


def until(state: State, at: str) -> str | None:
    """When a lease that begins now ends."""
    if state.rules.lease is None:
        return None
    return moment(datetime.fromisoformat(at) + timedelta(seconds=state.rules.lease))


def half_over(state: State, number: int, at: str) -> bool:
    """Whether less than half of the lease of an open query is left."""
    ends = state.leases.get(number)
    if ends is None or state.rules.lease is None:
        return False
    left = datetime.fromisoformat(ends) - datetime.fromisoformat(at)
    return left.total_seconds() < state.rules.lease / 2


def require_room(state: State, annotator: str | None, holding: int) -> None:
    """Raise StudyPaused or BudgetSpent where an annotator who holds so many queries may be given no other."""
    rules = state.rules
    if rules.paused:
        raise StudyPaused("the owner has paused this study; answers to open queries are still taken")
    if rules.annotator_budget is None and rules.budget is None:
        return
    answers = state.annotators()
    if rules.annotator_budget is not None and answers.get(annotator, 0) + holding >= rules.annotator_budget:
        raise BudgetSpent(
            f"{annotator or 'this annotator'} has given all {rules.annotator_budget} answers asked for", False
        )
    if rules.budget is not None and sum(answers.values()) + len(state.open()) >= rules.budget:
        raise BudgetSpent(f"the study has all {rules.budget} answers it asks for, or waits for the last of them", True)


def require_free(state: State, asked: Entry) -> None:
    """Raise AlreadyAnswered where an expired query's pair was given to another query that is open or answered."""
    number = asked.query or 0
    for later in state.of_pair[pair_of(asked)]:
        taken = state.is_open(later) or (later in state.answered and state.answered[later].answer != "skip")
        if later > number and taken:
            raise AlreadyAnswered(
                "the time for this pair was over, and it was given to somebody else meanwhile; here it does not count"
            )


def first_allowed(state: State, annotator: str | None, offers: Iterable[Offer]) -> Offer | None:
    """The first offer that still stands: items in use, nobody holding the pair, new to them (where pairs do not come
    again). One that was made to somebody else serves as well where the pair is new and, where variety is asked for, the
    annotator's newest pair had other items."""
    held = {pair_of(entry) for entry in state.open()}
    seen = set(pair_codes(*state.seen(annotator).pairs).tolist())
    newest = state.newest_asked.get(annotator)
    before = set() if newest is None or state.rules.variety is None else set(pair_of(state.queries[newest - 1]))
    active = state.active
    for offer in offers:
        own = offer.annotator == annotator
        if not {offer.left, offer.right} <= state.rows.keys() or (not own and {offer.left, offer.right} & before):
            continue
        left, right = state.rows[offer.left], state.rows[offer.right]
        if active[left] < 0 or active[left] != active[right]:
            continue
        if (min(offer.left, offer.right), max(offer.left, offer.right)) in held:
            continue
        if (own and state.rules.again) or int(pair_codes(*np.array([[left], [right]]))[0]) not in seen:
            return offer._replace(annotator=annotator)
    return None


def repeat(settings: Settings, state: State, annotator: str | None) -> Entry | None:
    """The annotator's earlier query that the next one should ask again, at the rate that the owner set."""
    if state.rules.repeat == 0.0:
        return None
    rng = np.random.default_rng([settings.seed, len(state.queries) + 1, 1])
    if rng.random() >= state.rules.repeat:
        return None
    told = state.told(annotator)
    repeated = {state.queries[number - 1].repeat_of for number in state.repeats}
    held = {pair_of(entry) for entry in state.open()}
    earlier = [
        entry
        for entry in told[: max(len(told) - REPEAT_AFTER, 0)]
        if entry.query is not None
        and entry.query not in repeated
        and entry.repeat_of is None
        and state.answered[entry.query].answer != "skip"
        and pair_of(entry) not in held
        and state.includes(entry)
    ]
    return earlier[int(rng.integers(len(earlier)))] if earlier else None


def agreement(state: State, *annotator: str | None) -> tuple[int, int]:
    """Of the repeated queries that were answered, perhaps of one annotator: how many got the same answer again, and
    how many there are."""
    same = total = 0
    for number in state.repeats:
        entry, again = state.answered.get(number), state.queries[number - 1]
        first = state.answered.get(again.repeat_of or 0)
        if entry is None or first is None or "skip" in (entry.answer, first.answer):
            continue
        if not annotator or again.annotator in annotator:
            total += 1
            same += _winner(entry) == _winner(first)
    return same, total


def _winner(entry: Entry) -> str | None:
    return {"left": entry.left, "right": entry.right}.get(entry.answer or "")
