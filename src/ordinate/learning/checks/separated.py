"""Whether items have won and lost: where one has not, the prior alone bounds how far it is from the others.

The same holds of sets of items that won every comparison with all others: scores of greatest likelihood exist only
within strongly connected parts of the graph from winners to losers (Ford 1957).
"""

from __future__ import annotations

import numpy as np

from ordinate.learning.checks import FEATURES_ALONE, Finding, StudyData, listed, not_run
from ordinate.learning.checks.graph import strong_parts

MOST = 0.2
"""Share of the compared items; the first and the last of each group have good reasons always to win, or to lose."""


def check(data: StudyData) -> Finding:
    if data.features_alone:
        return not_run(FEATURES_ALONE)
    left, right, outcome, *_ = data.answers.those(data.answers.telling)
    items = len(data.group)
    given = np.bincount(left, minlength=items) + np.bincount(right, minlength=items)
    wins = np.bincount(left, outcome, items) + np.bincount(right, 1.0 - outcome, items)
    compared = given > 0
    always, never = compared & (wins == given), compared & (wins == 0.0)
    count, sets = max(int(compared.sum()), 1), len(np.unique(strong_parts(left, right, outcome, items)[compared]))
    groups = len(np.unique(data.group[compared]))
    share = float((always | never).sum()) / count
    found = f"Of {count:,} compared items, {always.sum():,} won every comparison and {never.sum():,} lost every one."
    if sets > groups:
        inside = f" within the {groups:,} groups" if groups > 1 else ""
        found += (
            f" The items fall into {sets:,} sets{inside}, and no answer puts an item of a lower set above one of a "
            "higher set, so how far apart the sets are is uncertain."
        )
    most = max(MOST, 2.0 * groups / count)
    if share <= most:
        return Finding("passed", share, most, found)
    named = listed([data.named(int(row)) for row in np.flatnonzero(always | never)])
    return Finding("failed", share, most, found, f"How far these are from others is unknown. Ask more about {named}.")
