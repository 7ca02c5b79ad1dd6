"""Whether answers can be told from coin tosses: a bet against the coin that is valid for any choice of pairs.

m, v  mean and variance of the margin before an answer     y  1 where left won, 0 where right won

Before each answer, a bettor who starts with 1 stakes on the side that the answers before it favour, at
    p_s = sigma(s m / sqrt(1 + pi s^2 v / 8)),
and gets 2 p_s(y) times the stake. Against fair coins no way of choosing pairs, nor of choosing when to stop, makes the
expected capital more than 1, so that capital of 1 / level or more has a chance of at most `level` (Ville 1939). The
capital is shared equally among bettors with different sharpness s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.learning.models import Answers
from ordinate.learning.models.factored import FactoredHybrid

_SHARPNESS = np.array([0.1, 0.2, 0.4, 0.8, 1.2])
LEVEL = 0.01
"""The chance at most that coin tosses are ever taken for answers, however often one looks. At 0.05 they were in 3 of
100 simulated studies; docs/statistics.md has what the smaller chance costs."""
_PERSON_LEVEL = 0.05
"""The same for one annotator, who gives fewer answers than all together."""
_FIRST = 5
_PEOPLE_GROWTH = 4
"""The same for bets on single people, which do not end when one of them has won."""
_GROWTH = 10
"""The bets on an answer are by the fit of the answers before its block; a block is a tenth of these."""


class CoinGate:
    """The bettors' capital after the answers so far. Of answers that only grow at the end each is bet on once."""

    def __init__(self, level: float = LEVEL) -> None:
        self._needed = -math.log(level)
        self._done = 0
        self._start, self._end = 0, _FIRST
        self._logarithms = np.zeros(len(_SHARPNESS))
        self._highest = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the capital has been high enough at any time: the bets are valid whenever one stops."""
        return self._highest >= self._needed

    def read(self, features: Floats, answers: Answers) -> None:
        """Bet on the answers that are new, until the gate is open. features (n, k): scaled."""
        total = len(answers.outcome)
        while self._done < total and not self.is_open:
            stop = min(self._end, total)
            if self._start:
                self._bet(
                    *predicted(features, answers, self._start, self._done, stop), answers.outcome[self._done : stop]
                )
            self._done = stop
            if stop == self._end:
                self._start, self._end = stop, stop + max(1, stop // _GROWTH)

    def _bet(self, margin: Floats, variance: Floats, outcome: Floats) -> None:
        paths = self._logarithms + np.cumsum(log_gains(margin, variance, outcome), axis=0)
        self._logarithms = paths[-1]
        self._highest = max(self._highest, float(np.logaddexp.reduce(paths, axis=1).max()) - math.log(len(_SHARPNESS)))


def people_better_than_coins(
    features: Floats, answers: Answers, annotators: Integers, people: int
) -> NDArray[np.bool_]:
    """(people,) of whom the bets on their own answers have won enough at any time.

    The bets on an answer rest on all answers before its block, whoever gave them, so they are valid for each person.
    """
    total, start = len(answers.outcome), _FIRST
    gains = np.zeros((total, len(_SHARPNESS)))
    while start < total:
        stop = min(start + max(1, start // _PEOPLE_GROWTH), total)
        gains[start:stop] = log_gains(*predicted(features, answers, start, start, stop), answers.outcome[start:stop])
        start = stop
    won = np.zeros(people, dtype=np.bool_)
    for person in np.unique(annotators):
        paths = np.cumsum(gains[annotators == person], axis=0)
        capital = np.logaddexp.reduce(paths, axis=1) - math.log(len(_SHARPNESS))
        won[person] = capital.max(initial=0.0) >= -math.log(_PERSON_LEVEL)
    return won


def log_gains(margin: Floats, variance: Floats, outcome: Floats) -> Floats:
    """(T, s) log of what each answer multiplies the capital of each bettor by; a tie (0.5) moves no stake."""
    favoured = margin[:, None] * _SHARPNESS / np.sqrt(1.0 + math.pi * np.square(_SHARPNESS) * variance[:, None] / 8.0)
    sign = np.sign(outcome - 0.5)[:, None]
    gains: Floats = np.where(sign == 0.0, 0.0, math.log(2.0) - np.logaddexp(0.0, -sign * favoured))
    return gains


def predicted(features: Floats, answers: Answers, known: int, first: int, stop: int) -> tuple[Floats, Floats]:
    """m and v of the answers from `first` to `stop`, given the `known` first ones.

    By one cheap model for all studies: the bets are valid whatever they rest on.
    """
    left, right, outcome = answers[:3]
    rows, place = np.unique(np.concatenate([left[:stop], right[:stop]]), return_inverse=True)
    left, right = np.split(place.reshape(-1), 2)
    among = features[rows].astype(np.float64)
    fit = FactoredHybrid().fit(among, Answers(left[:known], right[:known], outcome[:known]))
    return fit.belief.differences(left[first:stop], right[first:stop])
