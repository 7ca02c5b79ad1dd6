"""Whether a contextual study needs terms per item: features that miss something make its stated error far too small.

p, y  probability, by all other answers, that left wins, and whether it did

What features miss of an item leans all its answers one way. The mean over items of the squared sum of y - p by its
variance is compared with that of simulated answers: the score test of a variance (Commenges and Jacqmin-Gadda 1997).
"""

from __future__ import annotations

import numpy as np

from ordinate.learning.checks import LEVEL, SIMULATED, Finding, StudyData, not_run
from ordinate.learning.checks.drift import moved


def check(data: StudyData) -> Finding:
    if data.prior is None or data.prior.items > 0.0:
        return not_run("The model has terms per item already.")
    used = data.decisive
    if not used.any():
        return not_run("There are no answers but ties.")
    rng, items = data.rng(5), len(data.ids)
    left, right, outcome, *_ = data.decided
    chance, always = data.left_out.probability[used], np.ones(int(used.sum()))
    value = moved(left, right, chance, outcome, always, items)
    simulated = [
        moved(left, right, chance, (rng.random(len(outcome)) < chance).astype(np.float64), always, items)
        for _ in range(SIMULATED)
    ]
    limit = float(np.quantile(simulated, 1.0 - LEVEL))
    if value <= limit:
        return Finding("passed", value, limit, "The features explain what there is to explain.")
    return Finding(
        "failed",
        value,
        limit,
        "The features miss something that people see: the true error is larger than the stated one.",
        "Make a study with guro-hybrid, which learns what features miss, and import these comparisons.",
    )
