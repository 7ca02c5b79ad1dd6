"""When a study can stop: the forecast of its expected error, the pace of its answers, and whether a rule is met.

A rule is met where the upper end of a 90 % interval, which the truth exceeds with a chance of 5 %, is as low as the
rule asks for. The interval follows from a belief given all answers, so as far as that belief is right the chance stays
5 % however often the rule is checked.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

import numpy as np

from ordinate.data.cells import between
from ordinate.learning.forecast import ROUND_TARGETS, Decline, Forecast, round_target
from ordinate.storage import timestamp
from ordinate.study.fold import State
from ordinate.study.ledger import Transaction
from ordinate.study.results import Doubt, Results, history_counts

CHECK_EVERY = 10
"""Answers between two checks of the rules."""
_NEWEST = 100
"""The pace is that of so many answers."""
_DAY = timedelta(days=1)
_FEWEST = 10
"""Answers within a day from which on a deadline is judged by them."""
_PAUSE = 600.0
"""Seconds: a longer time between two answers is a pause, and no part of the pace."""


def forecast(state: State, results: Results, target: float | None, withheld: str | None) -> Forecast:
    """For this target; None: the target that the rules set, or the next round one.

    withheld  why the expected error is not to be believed, and so no forecast of it; None where it is
    """
    if target is not None:
        target = between("target", target, ROUND_TARGETS[-1], 0.5)
    answers = len(state.effective)
    better, error, *_ = results.reliability(state)
    decline = None
    if withheld is None:
        half = _half(answers)
        history = [(count, results.expected_error(state, count)) for count in {half, answers}]
        decline = Decline.of(sorted(history), results.uncertainty(state).spread)
    goal = target or state.rules.target or round_target(error)
    return Forecast(goal, answers, error, decline, seconds_per_answer(state), better is None, withheld)


def forecast_of_aim(state: State, results: Results, wanted: float | None, doubt: Doubt) -> Forecast | None:
    """Of the share that is not right for the aim; None where the aim is the whole order.

    doubt   as in `Results.selection`
    wanted  the share that is to be right, from 0.5 to 0.999; None: the next round one
    """
    if wanted is not None:
        wanted = between("recall", wanted, 0.5, 1.0 - ROUND_TARGETS[-1])
    answers, selection = len(state.effective), results.selection(state, doubt)
    if selection is None:
        return None
    missed, decline, present = math.nan, None, results.found(state, answers)
    if selection.right is not None and present is not None:
        missed = 1.0 - selection.right.estimate
        half = _half(answers)
        past = results.found(state, half) or present
        decline = Decline.of([(half, 1.0 - past.right.estimate), (answers, missed)], present.spread)
    goal = round_target(missed) if wanted is None else 1.0 - wanted
    tested = results.reliability(state).better_than_coins is None
    return Forecast(goal, answers, missed, decline, seconds_per_answer(state), tested, selection.withheld)


def _half(answers: int) -> int:
    """The first point of the history with half of the answers, if there is one: a decline is told from there on."""
    return next((count for count in history_counts(answers) if 2 * count >= answers), answers)


class Met(NamedTuple):
    """The rule that is met, and the position of the last entry that was taken into account."""

    rule: str
    position: int


def is_due(state: State) -> bool:
    """Whether a tenth answer came in since the newest question was asked: rules are looked at after every tenth."""
    asked = state.queries[-1].position if state.queries else 0
    before = int(np.searchsorted(state.effective.positions, asked))
    return len(state.effective) // CHECK_EVERY != before // CHECK_EVERY


def rule_met(state: State, results: Results, doubt: Doubt) -> Met | None:
    """By the answers so far; None where no rule is met, or the figures that meet it are not to be believed.

    doubt  as in `Results.selection`; asked only where a rule would be met, because it takes some fits
    """
    met = _met(state, results)
    return None if met is None or doubt() is not None else met


def _met(state: State, results: Results) -> Met | None:
    """As far as the figures alone say."""
    rules = state.rules
    graded = rules.misplaced is not None and bool(rules.cuts)
    if state.finished is not None or not (graded or rules.target is not None) or not len(state.effective):
        return None
    if rules.target is not None and results.reliability(state).error_high <= rules.target:
        return Met("target", state.position)
    grades = results.uncertainty(state).grades
    if graded and grades is not None and grades.misplaced.high <= (rules.misplaced or 0.0):
        return Met("misplaced", state.position)
    return None


def finish(transaction: Transaction, met: Met) -> None:
    """Give out no more pairs, unless the rules or the items have changed since, or answers were taken back."""
    if transaction.state.finished is None and still_met(transaction.state, met):
        transaction.append("finish", value=met.rule)


def still_met(state: State, met: Met) -> bool:
    """Whether neither rules nor items have changed since, and no answer was taken back."""
    return state.unfinished_since <= met.position


def seconds_per_answer(state: State) -> float | None:
    """Of the newest answers, everybody's together, without pauses; None where there are too few."""
    newest = islice(reversed(state.answered.values()), _NEWEST + 1)
    times = [datetime.fromisoformat(entry.at) for entry in newest]
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(times)]
    judging = [gap for gap in gaps if 0.0 <= gap <= _PAUSE]
    return sum(judging) / len(judging) if judging else None


def answers_until(state: State, time: datetime, now: datetime) -> int | None:
    """See `Study.answers_until`."""
    first = next(iter(state.answered.values()), None)
    if first is None:
        return None
    since = max(timestamp(now - _DAY), first.at)
    newest = takewhile(lambda entry: entry.at >= since, reversed(state.answered.values()))
    given = sum(entry.answer != "skip" for entry in newest)
    seconds = (now - datetime.fromisoformat(since)).total_seconds()
    if given < _FEWEST or seconds <= 0:
        return None
    return round(given / seconds * max((time - now).total_seconds(), 0.0))
