"""Whether a contextual study needs terms per item: features that miss something make its stated error far too small.

p, y  probability, by all other answers, that left wins, and whether it did

What features miss of an item leans all its answers one way. The mean over items of the squared sum of y - p by its
variance is compared with that of simulated answers: the score test of a variance (Commenges and Jacqmin-Gadda 1997).
"""

from __future__ import annotations

import numpy as np

from ordinate.learning.checks import Finding, StudyData, not_run
from ordinate.learning.checks.drift import against_chance


def check(data: StudyData) -> Finding:
    if data.prior is None or data.prior.items > 0.0:
        return not_run("The model has terms per item already.")
    data = data.without_repeats
    if not data.decisive.any():
        return not_run("There are no answers but ties.")
    value, limit = against_chance(data, np.ones(int(data.decisive.sum())), data.rng(5))
    if value <= limit:
        return Finding("passed", value, limit, "The features explain what there is to explain.")
    return Finding(
        "failed",
        value,
        limit,
        "The features miss something that people see: the true error is larger than the stated one.",
        "Make a study with guro-hybrid, which learns what features miss, and import these comparisons.",
    )
