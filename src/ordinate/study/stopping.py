"""When a study can stop: the forecast of its expected error, and the pace of its answers."""

from __future__ import annotations

import math
from datetime import datetime
from itertools import islice, pairwise

from ordinate.data.cells import between
from ordinate.learning.forecast import ROUND_TARGETS, Decline, Forecast, round_target
from ordinate.study.fold import State
from ordinate.study.inference import Inference, history_counts

_NEWEST = 100
"""The pace is that of so many answers."""
_PAUSE = 600.0
"""Seconds: a longer time between two answers is a pause, and no part of the pace."""


def forecast(state: State, inference: Inference, target: float | None) -> Forecast:
    """For this target; None: the target that the rules set, or the next round one."""
    if target is not None:
        target = between("target", target, ROUND_TARGETS[-1], 0.5)
    answers = len(state.effective)
    better, error = inference.reliability(state)
    withheld, decline = None, None
    if math.isnan(error):
        withheld = "there is no pair to compare"
    elif not answers:
        withheld = "there are no answers yet"
    elif better is False:
        withheld = "the answers cannot be told from coin tosses yet"
    else:
        half = next(count for count in history_counts(answers) if 2 * count >= answers)
        history = [(count, inference.expected_error(state, count)) for count in {half, answers}]
        decline = Decline.of(sorted(history))
    goal = target or state.rules.target or round_target(error)
    return Forecast(goal, answers, error, decline, seconds_per_answer(state), better is None, withheld)


def seconds_per_answer(state: State) -> float | None:
    """Of the newest answers, everybody's together, without pauses; None where there are too few."""
    newest = islice(reversed(state.answered.values()), _NEWEST + 1)
    times = [datetime.fromisoformat(entry.at) for entry in newest]
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(times)]
    judging = [gap for gap in gaps if 0.0 <= gap <= _PAUSE]
    return sum(judging) / len(judging) if judging else None
