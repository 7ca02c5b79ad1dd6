"""Who may hold which pair, and until when: decided from the state and a time, and written to the log.

A lease ends by an entry "expire" that whoever notices first appends, so folding the log needs no clock. A late answer
is taken as long as the pair was not given to somebody else. If the same annotator was given it again meanwhile, the
late answer settles that query, too. It counts if the budgets still have room for it, beside the queries that are open;
its entry says so where they have not.

Nobody is given a pair that another annotator holds. An undo is the exception: it opens a query again for the annotator
who answered it, even where somebody else was given the pair since, because otherwise the answer that the annotator is
correcting would be lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import numpy as np

from ordinate.data.comparisons import OUTCOME_VALUES, Query
from ordinate.data.pairs import pair_codes
from ordinate.errors import AlreadyAnswered, BudgetSpent, DeadlinePassed, PairsHeld, StudyPaused
from ordinate.storage import Entry, Settings
from ordinate.study.fold import State, pair_of
from ordinate.study.rules import Stage

MOST_HELD = 40
"""An annotator who holds so many queries, in all tabs together, takes no more before some are answered."""
_MET = {
    "target": "the ordering is as good as its target asks for",
    "misplaced": "as few items are in the wrong grade as its rules ask for",
}
REPEAT_AFTER = 5
"""An annotator's pair comes again after at least this many other answers of theirs."""


class Offer(NamedTuple):
    """A pair that could be an annotator's next query.

    left, right  ids by screen side
    utility      what the strategy expects to gain; None where it does not say
    based_on     the position of the last entry that the choice took into account
    strategy     what chose the pair; None for a repeat
    repeat_of    the number of the earlier query whose pair is asked again
    model        whose belief the choice was based on, with its prior variances; None for a random pair
    """

    left: str
    right: str
    annotator: str | None
    utility: float | None = None
    based_on: int | None = None
    strategy: str | None = None
    repeat_of: int | None = None
    model: str | None = None


class Lease(NamedTuple):
    """A query that an annotator holds, and when the lease ends; None: it does not end.

    practice  whether it never counts
    expected  the right answer of a practice pair; None: nobody knows it
    """

    query: Query
    expires_at: str | None
    repeat: bool = False
    practice: bool = False
    expected: str | None = None


def due(state: State, at: str) -> list[int]:
    """The numbers of the queries whose lease has ended by this time."""
    return [number for number, until in state.leases.items() if until <= at]


def half_over(state: State, number: int, at: str) -> bool:
    """Whether less than half of the lease of an open query is left."""
    ends = state.leases.get(number)
    if ends is None or state.rules.lease is None:
        return False
    left = datetime.fromisoformat(ends) - datetime.fromisoformat(at)
    return left.total_seconds() < state.rules.lease / 2


def require_budget(state: State, annotator: str | None, holding: int, at: str) -> None:
    """Raise StudyPaused, DeadlinePassed, BudgetSpent or PairsHeld where an annotator with `holding` open queries gets
    no more now."""
    rules = state.rules
    if is_over(state, at):
        raise DeadlinePassed(
            f"the time for this study was over on {rules.deadline}; answers to open queries are still taken"
        )
    if rules.paused:
        raise StudyPaused("the owner has paused this study; answers to open queries are still taken")
    if annotator in rules.resting:
        raise StudyPaused(f"the owner has paused {annotator}; answers to open queries are still taken")
    if state.finished is not None:
        raise BudgetSpent(f"the study is finished: {_MET[state.finished]}", True)
    _require_room(state, annotator, holding, len(state.open()))


def is_over(state: State, at: str) -> bool:
    """Whether the deadline has passed."""
    return state.rules.deadline is not None and state.rules.deadline <= at


def stage(state: State, at: str) -> Stage:
    """Whether pairs are given out, and if not, why: what `require_budget` says to everybody."""
    rules = state.rules
    if is_over(state, at):
        return "over"
    if rules.paused:
        return "paused"
    spent = rules.budget is not None and len(state.effective) >= rules.budget
    return "finished" if spent or state.finished is not None else "running"


def is_beyond_budget(state: State, asked: Entry) -> bool:
    """Whether an answer to this query comes too late to count: its lease ended, and the budgets have no room left."""
    if asked.query not in state.overdue:
        return False
    others = [entry for entry in state.open() if entry.query != asked.query]
    holding = sum(entry.annotator == asked.annotator for entry in others)
    try:
        _require_room(state, asked.annotator, holding, len(others))
    except (BudgetSpent, PairsHeld):
        return True
    return False


def _require_room(state: State, annotator: str | None, holding: int, waiting: int) -> None:
    """Raise BudgetSpent where the budgets allow no further answer, PairsHeld where they may again, once others answer.

    `holding` of the annotator's queries wait for an answer, and `waiting` in all.
    """
    rules = state.rules
    if rules.annotator_budget is None and rules.budget is None:
        return
    own = None if annotator in state.machines else rules.annotator_budget
    if own is not None and state.annotators().get(annotator, 0) + holding >= own:
        raise BudgetSpent(f"{annotator or 'this annotator'} has given all {own} answers asked for", False)
    # What was left out since has to be given again; what somebody gave was their share all the same.
    total = len(state.effective)
    if rules.budget is not None and total >= rules.budget:
        raise BudgetSpent(f"the study has all {rules.budget} answers it asks for", True)
    if rules.budget is not None and total + waiting >= rules.budget:
        raise PairsHeld(f"others are giving the last of the {rules.budget} answers that the study asks for")


def require_not_given_away(state: State, asked: Entry) -> None:
    """Raise AlreadyAnswered where an expired query's pair is somebody else's by now, or was answered since."""
    for later in _asked_again(state, asked):
        own = later.annotator == asked.annotator
        answer = state.answered.get(later.query or 0)
        if (state.is_open(later.query or 0) and not own) or (answer is not None and answer.answer != "skip"):
            whom = "you answered it again" if own else "it was given to somebody else"
            raise AlreadyAnswered(f"the time for this pair was over, and {whom} meanwhile; this answer does not count")


def given_again(state: State, asked: Entry) -> list[Entry]:
    """The open queries in which the annotator of an expired query got its pair again."""
    if asked.query not in state.expired:
        return []
    again = _asked_again(state, asked)
    return [later for later in again if later.annotator == asked.annotator and state.is_open(later.query or 0)]


def _asked_again(state: State, asked: Entry) -> list[Entry]:
    """The later queries of the same pair."""
    numbers = state.queries_of_pair[pair_of(asked)]
    return [state.queries[number - 1] for number in numbers if number > (asked.query or 0)]


def first_allowed(state: State, annotator: str | None, offers: Iterable[Offer]) -> Offer | None:
    """The first offer that can still be taken, made out to this annotator; None where there is none.

    Its items are in use, the annotator made neither, nobody holds the pair, and the annotator has not seen it, unless
    the rules let pairs come again. An offer to somebody else also needs a pair that is new to this annotator. Where
    the rules ask for variety, an offer to somebody else, or from before the annotator's newest query, shares no
    item with that query. Where people come after models, no offer passes from the ones to the others, nor one that was
    made by other rules.
    """
    held = {pair_of(entry) for entry in state.open()}
    seen = pair_codes(*state.seen(annotator).pairs)
    newest = state.newest_asked.get(annotator)
    last = None if newest is None or state.rules.variety is None else state.queries[newest - 1]
    before = set() if last is None else set(pair_of(last))
    active, made = state.active, state.own(annotator)
    again = state.rules.again and annotator not in state.machines
    if state.rules.after_models:
        is_model, since = annotator in state.machines, state.unfinished_since
        offers = [
            one for one in offers if (one.annotator in state.machines) == is_model and (one.based_on or 0) >= since
        ]
    for offer in offers:
        own = offer.annotator == annotator
        knew = own and (last is None or (offer.based_on or 0) >= last.position)
        if not {offer.left, offer.right} <= state.rows.keys() or (not knew and {offer.left, offer.right} & before):
            continue
        left, right = state.rows[offer.left], state.rows[offer.right]
        if active[left] < 0 or active[left] != active[right]:
            continue
        if pair_of(offer) in held or {left, right} & made:
            continue
        if (own and again) or pair_codes(np.array([left]), np.array([right]))[0] not in seen:
            return offer._replace(annotator=annotator)
    return None


def repeat(settings: Settings, state: State, annotator: str | None) -> Offer | None:
    """An earlier pair of the annotator to ask again with the sides swapped, at the rate that the owner set."""
    if state.rules.repeat == 0.0:
        return None
    rng = np.random.default_rng([settings.seed, len(state.queries) + 1, 1])
    if rng.random() >= state.rules.repeat:
        return None
    answered = state.answered_by(annotator)
    repeated = {state.queries[number - 1].repeat_of for number in state.repeats}
    held = {pair_of(entry) for entry in state.open()}
    earlier = [
        entry
        for entry in answered[: max(len(answered) - REPEAT_AFTER, 0)]
        if entry.query is not None
        and entry.query not in repeated
        and entry.repeat_of is None
        and state.answered[entry.query].answer != "skip"
        and pair_of(entry) not in held
        and state.includes(entry)
        and state.may_judge(entry)
    ]
    if not earlier:
        return None
    first = earlier[int(rng.integers(len(earlier)))]
    return Offer(str(first.right), str(first.left), first.annotator, repeat_of=first.query)


def agreement(state: State) -> dict[str | None, tuple[int, int]]:
    """Of each annotator who answered repeated queries: how many got the same answer again, and how many there are."""
    found: dict[str | None, tuple[int, int]] = {}
    for number in state.repeats:
        entry, again = state.answered.get(number), state.queries[number - 1]
        first = state.answered.get(again.repeat_of or 0)
        if entry is None or first is None or "skip" in (entry.answer, first.answer):
            continue
        same, total = found.get(again.annotator, (0, 0))
        found[again.annotator] = same + (_winner(entry) == _winner(first)), total + 1
    return found


def _winner(entry: Entry) -> str | None:
    """Whatever the grade."""
    return {1.0: entry.left, 0.0: entry.right}.get(OUTCOME_VALUES[entry.answer or ""])
