"""Whether a single pair alone connects several items with the rest: their places hang on the answers about it."""

from __future__ import annotations

import numpy as np

from ordinate.learning.checks import FEATURES_ALONE, Finding, StudyData, listed, not_run
from ordinate.learning.checks.graph import bridges

MOST = 1
"""An item that was compared with only one other hangs on that pair; its interval says so."""


def check(data: StudyData) -> Finding:
    if data.features_alone:
        return not_run(FEATURES_ALONE)
    rows, _, pairs = data.compared
    found = bridges(pairs.left, pairs.right, len(rows))
    largest = int(found.size.max(initial=0))
    if largest <= MOST:
        return Finding("passed", float(largest), float(MOST), "No single pair connects several items with the rest.")
    order = np.argsort(-found.size, kind="stable")
    order = order[found.size[order] > MOST]
    named = [
        f"{data.named(int(rows[found.left[place]]))} and {data.named(int(rows[found.right[place]]))}" for place in order
    ]
    said = f"Only the answers about one pair, {named[0]}, connect {largest:,} items with the rest."
    return Finding("failed", float(largest), float(MOST), said, f"Ask more about items near {listed(named, 3)}.")
