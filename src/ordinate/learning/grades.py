"""Items in grades, and how many of them may be in the wrong one: counted in draws of the scores.

A grade is a stretch of ranks: with the cuts 10 and 50 the first ten items of each group have grade 1, the next forty
grade 2, and all others grade 3. An item is in the wrong grade where its true rank is in another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import Grades, Interval
from ordinate.data.pairs import members
from ordinate.learning.ranks import LEVEL, places_in


def grades_of(draws: Floats, scores: Floats, group: Integers, cuts: Sequence[int]) -> Grades:
    """From draws (s, n); scores and group (n,). Items not in use have grade 0 and a probability of nan."""
    grade, probability = np.zeros(len(group), dtype=np.int64), np.full(len(group), np.nan)
    wrong, sizes = np.zeros((len(draws), len(cuts) + 1)), np.zeros(len(cuts) + 1)
    for rows in members(group):
        order = rows[np.lexsort((rows, -scores[rows]))]
        shown = np.searchsorted(cuts, np.arange(len(order)), side="right")
        fits = np.searchsorted(cuts, places_in(draws[:, order]) - 1, side="right") == shown
        grade[order], probability[order] = shown + 1, fits.mean(axis=0)
        for place in np.unique(shown):
            wrong[:, place] += (~fits[:, shown == place]).sum(axis=1)
            sizes[place] += (shown == place).sum()
    of_grades = tuple(_interval(counts / size) for counts, size in zip(wrong.T, sizes, strict=True) if size)
    return Grades(tuple(cuts), grade, probability, _interval(wrong.sum(axis=1) / sizes.sum()), of_grades)


def _interval(shares: Floats) -> Interval:
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(shares, [tail, 1.0 - tail], method="inverted_cdf")
    return Interval(float(shares.mean()), float(low), float(high))
