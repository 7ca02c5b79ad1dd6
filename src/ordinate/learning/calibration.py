"""Whether predictions hold: answers about random pairs, each predicted from the answers before it.

p  probability that left wins, before the answer     y  1 where left won, 0 where right won

Pairs that are chosen are those of which nobody knows the answer, and what was learned from an answer must not predict
it; so only random pairs count, and only earlier answers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats
from ordinate.data.ordering import Interval
from ordinate.learning.consistency import Fit, share_interval
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers

_EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_GROWTH = 4
"""Answers are predicted by the fit of those before their block; a block is a quarter of these."""
_FIRST_SHARE = 8
"""The first eighth of the answers predicts, and is not predicted."""


class Predictions(NamedTuple):
    """(R,) each: the probability that left wins, and whether it did."""

    probability: Floats
    outcome: Floats


class Bin(NamedTuple):
    """Answers whose more likely side had a probability from `low` to `high`.

    predicted  mean of these probabilities
    observed   share of answers for the more likely side, with an interval of 90 %
    """

    low: float
    high: float
    answers: int
    predicted: float
    observed: Interval


def predictions(
    fit: Fit, answers: Answers, chosen: NDArray[np.bool_], likelihood: Likelihood = LOGISTIC
) -> Predictions:
    """Of the chosen (T,) answers after the first eighth of all; none of the chosen is a tie."""
    total = len(answers.outcome)
    probability, outcome = [np.empty(0)], [np.empty(0)]
    start = max(total // _FIRST_SHARE, 1)
    while start < total:
        stop = min(total, start + max(1, start // _GROWTH))
        if (rows := start + np.flatnonzero(chosen[start:stop])).size:
            margin, variance = fit(answers.those(slice(start))).belief.differences(
                answers.left[rows], answers.right[rows]
            )
            probability.append(likelihood.wins(margin, variance, answers.those(rows)))
            outcome.append(answers.outcome[rows])
        start = stop
    return Predictions(np.concatenate(probability), np.concatenate(outcome))


def bins(found: Predictions) -> list[Bin]:
    """Those that hold any answer, from the least sure to the surest."""
    surer = np.maximum(found.probability, 1.0 - found.probability)
    right = np.where(found.probability >= 0.5, found.outcome, 1.0 - found.outcome)
    made = []
    for low, high in pairwise(_EDGES):
        inside = (surer >= low) & ((surer < high) | (high == 1.0))
        observed = share_interval(int(right[inside].sum()), int(inside.sum()))
        if observed is not None:
            made.append(Bin(low, high, int(inside.sum()), float(surer[inside].mean()), observed))
    return made


def spiegelhalter(found: Predictions) -> float:
    """Spiegelhalter's z (1986), standard normal if predictions hold; above 0 where answers surprise more than that."""
    chance, outcome = found
    variance = float((np.square(1.0 - 2.0 * chance) * chance * (1.0 - chance)).sum())
    surprise = float(((outcome - chance) * (1.0 - 2.0 * chance)).sum())
    return surprise / variance**0.5 if variance > 0.0 else 0.0
