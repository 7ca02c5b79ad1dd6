"""The items that a study wants, how surely each is among them, and how many of them the shown ones are.

Up to 2,000 items memberships are counted in joint draws of the scores. Above, the scores are taken to be independent,
and membership in the first or last k has the probability Phi(z) of `membership`. All memberships above a mark depend on
its score, which one error moves for all of them. So the scores of the marks are drawn, and given these each item is in
its part with a probability of its own: with c_(1) >= c_(2) >= ... the scores of the marks of its group,

    Phi((c_(p-1) - mu) / e) - Phi((c_(p) - mu) / e),   mu, e  score and standard error of an item in part p
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
_DRAWS = 1000
"""Of the scores of marks."""
_POINTS, _CHUNK = 64, 10_000
"""Where a probability is computed between the lowest and the highest draw of a mark's score, and items at a time."""
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
    counted = _counted(part, wanted)
    if draws.belief is not None:
        parts = parts_of(draws.scores, group, wanted)
        membership = (parts == (part if measure == "right grade" else 1)).mean(axis=0)
        shares = (parts[:, counted] == part[counted]).mean(axis=1) if counted.any() else np.ones(len(parts))
        interval, deviation = _of_draws(shares)
    elif len(wanted.marks):
        is_right, shares = _given_marks(scores, errors, group, wanted, part, np.random.default_rng(draws.seed))
        membership = np.where((measure == "right grade") | (part == 1), is_right, 1.0 - is_right)
        interval, deviation = _of_draws(shares)
    else:
        membership, is_right = _independent(scores, errors, group, wanted, part)
        right, variance = float(is_right[counted].sum()), float((is_right * (1.0 - is_right))[counted].sum())
        total = max(int(counted.sum()), 1)
        estimate, reach = right / total, REACH * math.sqrt(variance) / total
        interval = Interval(estimate, max(estimate - reach, 0.0), min(estimate + reach, 1.0))
        deviation = math.sqrt(variance) / total
    membership = np.where(part > 0, membership, np.nan)
    wrong = 1.0 - interval.estimate
    spread = math.hypot(deviation / wrong if wrong > 0.0 else 0.0, _FORECAST_DOUBT)
    variance_of_scores = float((scores[used] ** 2 + errors[used] ** 2).mean()) if used.any() else 0.0
    right_share = _doubted(interval, doubt(per_item))
    return Found(measure, part, membership, right_share, spread, per_item * variance_of_scores)


def _of_draws(shares: Floats) -> tuple[Interval, float]:
    """Mean with an interval, and standard deviation, of the share that is right in each draw (s,)."""
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(shares, [tail, 1.0 - tail], method="inverted_cdf")
    return Interval(float(shares.mean()), float(low), float(high)), float(shares.std())


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
    """(n,) the probability that each item is among the first or last k, and that it is in its part."""
    from scipy.special import ndtr

    belief = FactoredBelief(scores, np.empty((len(scores), 0)), np.where(group >= 0, errors, 1.0) ** 2)
    membership = (part == 1).astype(np.float64)
    for boundary in boundaries(belief, group, wanted):
        distance, variance = boundary.distances(belief)
        z = distance / np.sqrt(np.maximum(variance, 1e-24))
        membership[boundary.inside] = ndtr(z if wanted.first else -z)
    return membership, np.where(part == 1, membership, 1.0 - membership)


def _given_marks(
    scores: Floats, errors: Floats, group: Integers, wanted: Wanted, part: Integers, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The probability that each item is in its part (n,), and draws (s,) of the share of items but marks that are."""
    is_right, right, others = np.zeros(len(group)), np.zeros(_DRAWS), _counted(part, wanted)
    for rows in members(group):
        marks = wanted.marks[group[wanted.marks] == group[rows[0]]]
        if not len(marks):
            continue
        drawn = scores[marks] + errors[marks] * np.stack([_normal(rng) for _ in marks], axis=1)
        is_right[marks] = (places_in(drawn) + 1 == part[marks]).mean(axis=0)  # no mark is above itself
        ends = -np.sort(-drawn, axis=1)
        for place in range(len(marks) + 1):
            inside = rows[others[rows] & (part[rows] == place + 1)]
            # Below the mark above this part, if there is one, and not below the next.
            for column, sign in ((place - 1, 1.0), (place, -1.0)):
                if 0 <= column < len(marks):
                    chance, number = _below(ends[:, column], scores[inside], errors[inside])
                elif column < 0:
                    chance, number = np.ones(len(inside)), np.full(_DRAWS, float(len(inside)))
                else:
                    continue
                is_right[inside] += sign * chance
                right += sign * number
    is_right = np.clip(is_right, 0.0, 1.0)  # beyond them by what interpolation is off
    # Given the marks, the items are independent. This variance is over the marks, too, but theirs is far larger.
    variance = float((is_right * (1.0 - is_right))[others].sum())
    total = int(others.sum())
    shares = (right + math.sqrt(variance) * _normal(rng)) / total if total else np.ones(_DRAWS)
    return is_right, np.clip(shares, 0.0, 1.0)


def _below(ends: Floats, scores: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """(r,) the probability that each item is below the end of a part, and the number expected there in each draw (s,).

    Between the points of a grid probabilities are interpolated, so a million items take seconds.
    """
    from scipy.special import ndtr

    low, high = float(ends.min()), float(ends.max())
    grid = np.linspace(low, high, _POINTS)
    place = (ends - low) * ((_POINTS - 1) / (high - low) if high > low else 0.0)
    step = np.minimum(place.astype(np.int64), _POINTS - 2)
    weight = np.bincount(step, step + 1 - place, _POINTS) + np.bincount(step + 1, place - step, _POINTS)
    chance, number = np.empty(len(scores)), np.zeros(_POINTS)
    for start in range(0, len(scores), _CHUNK):
        some = slice(start, start + _CHUNK)
        below = ndtr((grid - scores[some, None]) / np.maximum(errors[some, None], 1e-12))
        chance[some] = below @ weight / len(ends)
        number += below.sum(axis=0)
    return chance, number[step] + (place - step) * (number[step + 1] - number[step])


def _normal(rng: np.random.Generator) -> Floats:
    """Draws (s,) with the quantiles of the normal distribution, in random order: their mean and spread are its own."""
    from scipy.special import ndtri

    found: Floats = ndtri((rng.permutation(_DRAWS) + 0.5) / _DRAWS)
    return found
