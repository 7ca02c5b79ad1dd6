"""Whether answers connect all items of a group: nothing but features says how unconnected parts rank."""

from __future__ import annotations

import numpy as np

from ordinate.learning.checks import FEATURES_ALONE, Finding, StudyData, listed, not_run
from ordinate.learning.checks.graph import beside_the_largest, parts


def check(data: StudyData) -> Finding:
    if data.features_alone:
        return not_run(FEATURES_ALONE)
    left, right, *_ = data.answers.those(data.answers.telling)
    beside = beside_the_largest(parts(left, right, data.group), data.group)
    items, several = int((data.group >= 0).sum()), data.group.max(initial=0) > 0
    if not len(beside):
        within = " of its group" if several else ""
        return Finding("passed", 0.0, 0.0, f"Answers connect every item with every other{within}.")
    compared = np.zeros(len(data.group), dtype=np.bool_)
    compared[left] = compared[right] = True
    never = int((~compared[beside]).sum())
    one = len(beside) == 1
    within = (" of its group" if one else " of their groups") if several else ""
    found = f"Answers do not connect {len(beside):,} of {items:,} items with the rest{within}"
    found += f" ({never:,} of them {'was' if never == 1 else 'were'} never compared)" if never else ""
    placed = "only features place" if data.used_features.shape[1] else "nothing places"
    found += f": {placed} {'it' if one else 'them'}."
    named = listed([data.named(int(row)) for row in beside])
    return Finding("failed", float(len(beside)), 0.0, found, f"Ask about {named} and other items.")
