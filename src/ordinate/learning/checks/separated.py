"""Whether every item has won and lost: where it has not, the prior alone bounds how far it is from the others.

Within a strongly connected part of the graph from winners to losers, the scores of greatest likelihood exist (Ford
1957). An item that always won is a part by itself.
"""

from __future__ import annotations

import numpy as np

from ordinate.learning.checks import FEATURES_ALONE, Finding, StudyData, listed, not_run
from ordinate.learning.checks.graph import beside_the_largest, parts, strong_parts

MOST = 0.2
"""Share of the compared items. The first and the last of an order have good reasons always to win, or to lose."""


def check(data: StudyData) -> Finding:
    if data.features_alone:
        return not_run(FEATURES_ALONE)
    left, right, outcome = data.answers
    items = len(data.group)
    compared = np.zeros(items, dtype=np.bool_)
    compared[left] = compared[right] = True
    if not compared.any():
        return not_run("There are no answers.")
    strong = strong_parts(left, right, outcome, items)
    inside = strong[left] == strong[right]
    group = np.where(compared, data.group, -1)
    beside = beside_the_largest(parts(left[inside], right[inside], group), group)
    wins = np.bincount(left, outcome, items) + np.bincount(right, 1.0 - outcome, items)
    given = np.bincount(left, minlength=items) + np.bincount(right, minlength=items)
    always, never = (int((wins[beside] == most).sum()) for most in (given[beside], 0))
    share = len(beside) / int(compared.sum())
    found = f"Of {int(compared.sum()):,} compared items, {always:,} won every comparison and {never:,} lost every one"
    if others := len(beside) - always - never:
        found += f"; {others:,} more belong to sets that did so against all others"
    found += "."
    if share <= MOST:
        return Finding("passed", share, MOST, found)
    named = listed([data.named(int(row)) for row in beside])
    advice = f"Their distances follow from the prior, not from answers. Ask more about {named}."
    return Finding("failed", share, MOST, found, advice)
