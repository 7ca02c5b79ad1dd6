"""Whether a single pair alone connects several items with the rest: their places hang on the answers about it."""

from __future__ import annotations

import numpy as np

from ordinate.data.pairs import pair_codes, pairs_of_codes
from ordinate.learning.checks import FEATURES_ALONE, Finding, StudyData, listed, not_run
from ordinate.learning.checks.graph import bridges

MOST = 1
"""An item that was compared with only one other hangs on that pair; its interval says so."""


def check(data: StudyData) -> Finding:
    if data.features_alone:
        return not_run(FEATURES_ALONE)
    left, right, *_ = data.answers.those(data.answers.telling)
    found = bridges(*pairs_of_codes(np.unique(pair_codes(left, right))), len(data.group))
    largest = int(found.size.max(initial=0))
    if largest <= MOST:
        return Finding("passed", float(largest), float(MOST), "No single pair connects several items with the rest.")
    order = np.argsort(-found.size, kind="stable")
    order = order[found.size[order] > MOST]
    named = [f"{data.named(int(found.left[place]))} and {data.named(int(found.right[place]))}" for place in order]
    said = f"Only the answers about one pair, {named[0]}, connect {largest:,} items with the rest."
    return Finding("failed", float(largest), float(MOST), said, f"Ask more about items near {listed(named, 3)}.")
