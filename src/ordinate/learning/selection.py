"""The items that a study wants, how surely each is among them, and how many of them the shown ones are.

Up to 2,000 items memberships are counted in joint draws of the scores. Above, the scores are taken to be independent,
and a membership has the probability Phi(z) of `membership`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import REACH, Interval, Measure
from ordinate.data.pairs import members
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.error_spread import doubt
from ordinate.learning.membership import Wanted, boundaries
from ordinate.learning.posterior import Posterior
from ordinate.learning.ranks import LEVEL, Draws, places_in

TELLING = 7.0
"""Below this `Found.information` the expected share was found to be too high, by 0.1 in the mean of simulated studies
(docs/results.md)."""
_FORECAST_DOUBT = 0.1
"""Standard deviation of the log of the share that is not right about the expected one that comes from a belief that is
wrong, for forecasts. For the interval, see `doubt`."""


class Found(NamedTuple):
    """As in `Selection`; part and membership (n,) are 0 and nan for items not in use, or in a group without a mark.

    spread       standard deviation of the log of the share that is not right about the expected one
    information  answers per item, times the variance of the scores within a group: the less items differ, the less does
                 an answer say about them
    """

    measure: Measure
    part: Integers
    membership: Floats
    right: Interval
    spread: float
    information: float


def found_by(posterior: Posterior, draws: Draws, group: Integers, wanted: Wanted, answers: int) -> Found:
    """group (n,), negative for items not in use; answers: that the posterior rests on."""
    scores, errors = posterior.centred(group)
    used = group >= 0
    per_item = answers / max(int(used.sum()), 1)
    (part,) = parts_of(scores[None], group, wanted)
    measure: Measure = "recall"
    if len(wanted.marks):
        measure = "right grade" if wanted.has_grades(group) else "right side"
    if draws.belief is None:
        membership, is_right = _independent(scores, errors, group, wanted, part)
        membership = is_right if measure == "right grade" else membership
        counted = _counted(part, wanted)
        right, variance = float(is_right[counted].sum()), float((is_right * (1.0 - is_right))[counted].sum())
        total = max(int(counted.sum()), 1)
        estimate, reach = right / total, REACH * math.sqrt(variance) / total
        interval = Interval(estimate, max(estimate - reach, 0.0), min(estimate + reach, 1.0))
        deviation = math.sqrt(variance) / total
    else:
        parts = parts_of(draws.scores, group, wanted)
        membership = (parts == (part if measure == "right grade" else 1)).mean(axis=0)
        counted = _counted(part, wanted)
        shares = (parts[:, counted] == part[counted]).mean(axis=1) if counted.any() else np.ones(len(parts))
        tail = (1.0 - LEVEL) / 2.0
        low, high = np.quantile(shares, [tail, 1.0 - tail], method="inverted_cdf")
        interval, deviation = Interval(float(shares.mean()), float(low), float(high)), float(shares.std())
    membership = np.where(part > 0, membership, np.nan)
    wrong = 1.0 - interval.estimate
    spread = math.hypot(deviation / wrong if wrong > 0.0 else 0.0, _FORECAST_DOUBT)
    variance_of_scores = float((scores[used] ** 2 + errors[used] ** 2).mean()) if used.any() else 0.0
    right_share = _doubted(interval, doubt(per_item))
    return Found(measure, part, membership, right_share, spread, per_item * variance_of_scores)


def _doubted(interval: Interval, spread: float) -> Interval:
    """Wider by what comes from a belief that is wrong; spread: of the log of the share that is not right."""
    estimate, reach = interval.estimate, REACH * spread * (1.0 - interval.estimate)
    low, high = (math.hypot(estimate - end, reach) for end in (interval.low, interval.high))
    return Interval(estimate, max(estimate - low, 0.0), min(estimate + high, 1.0))


def parts_of(scores: Floats, group: Integers, wanted: Wanted) -> Integers:
    """Of scores (s, n): 1 for the wanted items, 2 for others; of marks 1 and the number of those an item is not above.

    Of equal scores the earlier item is the higher one, as in an ordering. 0 for items not in use,
    and where there are marks but none in the item's group, for then nothing says what is wanted of it.
    """
    part = np.zeros(scores.shape, dtype=np.int64)
    for rows in members(group):
        if len(wanted.marks):
            marks = wanted.marks[group[wanted.marks] == group[rows[0]]]
            part[:, rows] = min(len(marks), 1)
            for mark in marks:
                part[:, rows] += scores[:, rows] <= scores[:, [mark]]
        else:
            places = places_in(scores[:, rows])
            inside = places <= wanted.first if wanted.first else places > len(rows) - wanted.last
            part[:, rows] = np.where(inside, 1, 2)
    return part


def _counted(part: Integers, wanted: Wanted) -> np.ndarray:
    """Which items the share of right ones is of: those shown as wanted, or, with marks, all but the marks."""
    if not len(wanted.marks):
        return np.asarray(part == 1)
    counted = part > 0
    counted[wanted.marks] = False
    return np.asarray(counted)


def _independent(
    scores: Floats, errors: Floats, group: Integers, wanted: Wanted, part: Integers
) -> tuple[Floats, Floats]:
    """(n,) the probability that each item is wanted, and that it is in its part."""
    from scipy.special import ndtr

    belief = FactoredBelief(scores, np.empty((len(scores), 0)), np.where(group >= 0, errors, 1.0) ** 2)
    if not len(wanted.marks):
        membership = (part == 1).astype(np.float64)
        for boundary in boundaries(belief, group, wanted):
            distance, variance = boundary.distances(belief)
            z = distance / np.sqrt(np.maximum(variance, 1e-24))
            membership[boundary.inside] = ndtr(z if wanted.first else -z)
        return membership, np.where(part == 1, membership, 1.0 - membership)
    # Of each item the chances to be above so many marks of its group, highest mark first; these can only rise.
    above, number = np.zeros((len(group), len(wanted.marks) + 2)), np.zeros(len(group), dtype=np.int64)
    by_score = Wanted(marks=wanted.marks[np.argsort(-scores[wanted.marks], kind="stable")])
    for boundary in boundaries(belief, group, by_score):
        distance, variance = boundary.distances(belief)
        number[boundary.inside] += 1
        place = number[boundary.inside]
        chance = ndtr(distance / np.sqrt(np.maximum(variance, 1e-24)))
        chance[boundary.inside == boundary.rows[0]] = 0.0  # a mark is not above itself
        above[boundary.inside, place] = np.maximum(chance, above[boundary.inside, place - 1])
    every = np.arange(len(group))
    above[every, number + 1] = 1.0
    is_right = above[every, np.minimum(part, number + 1)] - above[every, np.maximum(part - 1, 0)]
    return above[:, 1], is_right
