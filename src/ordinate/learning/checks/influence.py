"""How far the order rests on a single annotator: the pairs of items that change places without their answers.

The scores without an annotator are one Newton step from those with all answers; see `response`. With a share q of the
answers the step is about as large as the uncertainty of the order times sqrt(q / (1 - q)). So an annotator without whom
more pairs change places than are likely to be wrong gave more than half of the answers, or answered unlike others.
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import members
from ordinate.learning.checks import Finding, StudyData, not_run
from ordinate.learning.checks.response import scores_without
from ordinate.learning.error_spread import inversions

_FEWEST = 3
_MOST = 20
"""Annotators with the most answers; those with fewer move the order less."""


def distance(one: Floats, other: Floats, group: Integers) -> float:
    """Share of the pairs within groups that two scorings (n,) order differently; nan without a pair."""
    turned, pairs = 0, 0
    for rows in members(group):
        order = rows[np.lexsort((rows, -one[rows]))]
        turned += int(inversions(np.ascontiguousarray(other[None, order]))[0])
        pairs += len(rows) * (len(rows) - 1) // 2
    return turned / pairs if pairs else math.nan


def influences(data: StudyData) -> dict[int, float]:
    """Number of an annotator -> share of the pairs that change places without them, of those with the most answers."""
    prior = data.prior
    if prior is None:
        return {}
    numbers, given = np.unique(data.annotators, return_counts=True)
    most = numbers[np.argsort(-given, kind="stable")[:_MOST]]
    return {
        int(number): distance(data.fit.mean, scores_without(data, prior, data.annotators == number), data.group)
        for number in most
    }


def check(data: StudyData) -> Finding:
    if data.prior is None:
        return not_run("The algorithm's model has no scores without some of the answers in closed form.")
    if len(np.unique(data.annotators)) < _FEWEST:
        return not_run(f"There are fewer than {_FEWEST} annotators.")
    found = data.influences
    number = max(found, key=lambda one: found[one])
    share, name = found[number], data.annotator(number)
    given = float((data.annotators == number).mean())
    said = (
        f"Without {name}, who gave {100 * given:.0f} % of the answers, {100 * share:.1f} % of the pairs change places."
    )
    if share <= data.error_high:
        return Finding("passed", share, data.error_high, said)
    advice = f"Ask others about the same pairs, or see how {name} judged."
    return Finding("failed", share, data.error_high, said, advice)
