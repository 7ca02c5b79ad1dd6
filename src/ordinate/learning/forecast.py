"""How many more answers an ordering needs: a forecast from how the expected error has fallen so far.

T, e  answers, and the expected error after them     T0, e0  now     L = log(T / T0)     x = log(e0 / target)

The error is taken to fall by a power of the answers, and to be uncertain in its level now and in that power:
    log e(T) ~ N(log e0 - c L, s^2 + d^2 L^2).
The exponent c is half-way between 0.6 and the slope of log e against log T over the later half of the answers: slopes
change as the items' own terms are learned. The target is in the interval of e(T) where
(x - c L)^2 <= z^2 (s^2 + d^2 L^2); the ends of these T are the interval of the answers needed (Fieller 1954).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordinate.data.ordering import Interval

_ANCHOR = 0.6
_LEAST = 0.2
"""c is at least this: more than z d, so that the interval of the answers has an upper end."""
_EXPONENT = 0.12
"""d: standard deviation of the exponent about c."""
_NO_ERROR = 1e-6
"""Stands for an error of 0, as between two items that nobody confuses."""
_QUANTILE = 1.2816
"""z, for intervals of 80 %."""
ROUND_TARGETS = (0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.015, 0.01, 0.005, 0.002, 0.001)


@dataclass(frozen=True)
class Decline:
    """How the error falls with further answers.

    answers   T0, at least 1
    error     e0, above 0
    exponent  c
    spread    s: standard deviation of the log of the true error about the expected one
    """

    answers: int
    error: float
    exponent: float
    spread: float

    @classmethod
    def of(cls, history: Sequence[tuple[int, float]], spread: float) -> Decline:
        """From (answers, expected error) in the order of answers; the last one is the present."""
        answers, error = history[-1][0], max(history[-1][1], _NO_ERROR)
        later = [
            (math.log(count), math.log(max(past, _NO_ERROR)))
            for count, past in history
            if count and 2 * count >= answers
        ]
        slope = _ANCHOR
        if len(later) > 1:
            place, height = np.array(later).T
            slope = -float(np.polyfit(place, height, 1)[0])
        return cls(answers, error, max(0.5 * (slope + _ANCHOR), _LEAST), spread)

    def error_after(self, answers: int) -> Interval:
        """The error after so many answers, with an interval of 80 %."""
        later = math.log(max(answers / self.answers, 1.0))
        expected = math.log(self.error) - self.exponent * later
        reach = _QUANTILE * math.hypot(self.spread, _EXPONENT * later)
        return Interval(*(min(math.exp(one), 0.5) for one in (expected, expected - reach, expected + reach)))

    def answers_for(self, target: float) -> Interval:
        """How many more answers bring the error to the target, with an interval of 80 %."""
        gap = math.log(self.error / target)
        level, slope = _QUANTILE * self.spread, _QUANTILE * _EXPONENT
        square = self.exponent**2 - slope**2
        # Negative where the error is below the target beyond doubt: then both ends are before now.
        root = math.sqrt(max((slope * gap) ** 2 + square * level**2, 0.0))
        ends = (self.exponent * gap - root) / square, (self.exponent * gap + root) / square
        return Interval(*(self.answers * math.expm1(max(later, 0.0)) for later in (gap / self.exponent, *ends)))


@dataclass(frozen=True)
class Forecast:
    """When the ordering will be as good as wanted.

    target              the expected error that is wanted
    answers             that the study has
    expected_error      after these; nan where there is no pair to compare
    decline             how the error falls from here; None where nothing can be said
    seconds_per_answer  how fast the newest answers came, without pauses; None where that is not known
    presumes_sense      whether the figures hold only if people answered sensibly: no random pairs tell whether they did
    withheld            why there is no forecast; None where there is one
    """

    target: float
    answers: int
    expected_error: float
    decline: Decline | None
    seconds_per_answer: float | None
    presumes_sense: bool
    withheld: str | None

    def with_target(self, target: float | None) -> Forecast:
        """The same study's forecast for another target; None: the next round one."""
        return replace(self, target=target or round_target(self.expected_error))

    @property
    def more_answers(self) -> Interval | None:
        """How many more answers are needed, with an interval of 80 %."""
        return None if self.decline is None else self.decline.answers_for(self.target)

    @property
    def seconds(self) -> Interval | None:
        """How long these take at the pace of the newest answers."""
        more = self.more_answers
        if more is None or self.seconds_per_answer is None:
            return None
        return Interval(*(self.seconds_per_answer * answers for answers in more))

    def fields(self) -> dict[str, Any]:
        """What the command line and the API say: whole answers and seconds."""
        more, seconds = self.more_answers or (None, None, None), self.seconds or (None, None, None)
        names = ("more_answers", "more_answers_low", "more_answers_high", "seconds", "seconds_low", "seconds_high")
        rounded = (None if one is None else round(one) for one in (*more, *seconds))
        return {"target": self.target, **dict(zip(names, rounded, strict=True)), "withheld": self.withheld}


def round_target(error: float) -> float:
    """The next round error that is clearly below this one."""
    return next((target for target in ROUND_TARGETS if target < 0.85 * error), ROUND_TARGETS[-1])
