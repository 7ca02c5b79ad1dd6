"""How consistent answers are: figures of reliability, each in a form that the choice of pairs cannot make too good.

T  answers     n  items     m  mean of the margin before an answer

The classical figures presume random pairs. Where pairs are chosen to be hard, the share of answers that agree with the
order is too low; and scores that follow chance spread as if they meant something, so separation is too high (Bramley
2015). So answers are predicted before they are given and only for random pairs, and separation stands beside that of
coin tosses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import REACH, Interval
from ordinate.data.pairs import members
from ordinate.learning.coin_gate import predicted
from ordinate.learning.models import Answers
from ordinate.learning.posterior import Posterior

_SPLITS = 5
_COINS = 5
_GROWTH = 10
"""Answers are predicted by the fit of those before their block; a block is a tenth of these."""

NOTHING = 1e-6
"""A difference of scores, or of so many of its standard deviations, below this is 0 but for rounding."""

Fit = Callable[[Answers], Posterior]


class Consistency(NamedTuple):
    """How consistent the answers are.

    held_out             share of answers about random pairs that the answers before them predicted, with an interval of
                         90 %; of the later half of the answers and the pairs of which those before say something;
                         None: there are none
    held_out_answers     how many these are
    split_half           correlation of the scores by two halves of the annotators, raised to that of all of them; None:
                         there are fewer than two annotators, no group has three items, or half of the answers tell no
                         items apart
    separation           share of the variance of the scores that is not uncertainty
    separation_of_coins  the same with coin tosses in the place of the decided answers
    """

    held_out: Interval | None
    held_out_answers: int
    split_half: float | None
    separation: float
    separation_of_coins: float


def predictions(features: Floats, answers: Answers, chosen: NDArray[np.bool_]) -> tuple[int, int]:
    """How many of the chosen (T,) answers in the later half were predicted, and of how many.

    Neither ties are counted nor pairs of which the answers before say nothing.
    """
    total = len(answers.outcome)
    right = count = 0
    start = total // 2
    while start < total:
        stop = min(total, start + max(1, start // _GROWTH))
        if start and (rows := start + np.flatnonzero(chosen[start:stop] & (answers.outcome[start:stop] != 0.5))).size:
            margin, variance = predicted(features, answers, start, start, stop)
            before, given = margin[rows - start], answers.outcome[rows]
            known = np.abs(before) > NOTHING * np.sqrt(variance[rows - start])  # else nothing was predicted
            right += int(((before > 0.0) == (given > 0.5))[known].sum())
            count += int(known.sum())
        start = stop
    return right, count


def share_interval(right: float, count: float) -> Interval | None:
    """The share and Wilson's interval of 90 % (1927). The counts are less where answers say less than one each."""
    if not count:
        return None
    share, square = right / count, REACH**2 / count
    centre = (share + square / 2.0) / (1.0 + square)
    reach = REACH * math.sqrt(share * (1.0 - share) / count + square / (4.0 * count)) / (1.0 + square)
    return Interval(share, max(centre - reach, 0.0), min(centre + reach, 1.0))


def separation(posterior: Posterior, group: Integers) -> float:
    """Var(scores) / (Var(scores) + mean squared standard error), scores as differences from their group's mean."""
    scores, errors = posterior.centred(group)
    used = group >= 0
    variance = float(np.square(scores[used]).mean())
    return variance / (variance + float(np.square(errors[used]).mean()))


def separation_of_coins(fit: Fit, answers: Answers, group: Integers, rng: np.random.Generator) -> float:
    """Mean over coin tosses for the same pairs. Ties remain, since the thresholds of the fit are those of so many."""
    tied = answers.outcome == 0.5
    tosses = (np.where(tied, 0.5, rng.integers(0, 2, len(tied)).astype(np.float64)) for _ in range(_COINS))
    return float(np.mean([separation(fit(answers._replace(outcome=toss)), group) for toss in tosses]))


def split_half(
    fit: Fit, answers: Answers, annotators: Integers, group: Integers, rng: np.random.Generator
) -> float | None:
    """2 r / (1 + r) (Spearman 1910; Brown 1910), with r the mean correlation of scores over random halves."""
    names, number = np.unique(annotators, return_inverse=True)
    # The scores of two items can correlate by 1 or -1 alone.
    if len(names) < 2 or np.bincount(group[group >= 0]).max(initial=0) < 3:
        return None
    given = np.bincount(number)
    correlations: list[float] = []
    for _ in range(_SPLITS if len(names) > 2 else 1):
        half = _half(given, rng)[number]
        scores = [_centred(fit(answers.those(part)), group) for part in (half, ~half)]
        if any(np.ptp(of_half) < NOTHING for of_half in scores):
            return None
        correlations.append(_correlation(*scores))
    mean = float(np.mean(correlations))
    return 2.0 * mean / (1.0 + mean) if mean > 0.0 else mean


def _half(given: Integers, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Annotators for one half, so that both halves have about as many answers: each joins the smaller one."""
    half = np.zeros(len(given), dtype=np.bool_)
    ones = others = 0
    order = rng.permutation(len(given))
    for place in order[np.argsort(-given[order], kind="stable")]:
        half[place] = ones < others or (ones == others and rng.random() < 0.5)
        ones, others = ones + given[place] * half[place], others + given[place] * (not half[place])
    return half


def _centred(posterior: Posterior, group: Integers) -> Floats:
    """Scores minus their group's mean, of the items in use."""
    scores = posterior.mean.copy()
    for rows in members(group):
        scores[rows] -= scores[rows].mean()
    return scores[group >= 0]


def _correlation(one: Floats, other: Floats) -> float:
    return float(one @ other / np.sqrt(np.square(one).sum() * np.square(other).sum()))
