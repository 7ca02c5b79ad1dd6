"""Variances of pairs' margins where scores are independent but for the answers: by messages between items, compiled.

p  distinct compared pairs     w  weight of a pair's answers     z  prior variance of a score

Item i without the pair (i, j) has the variance V_ij = 1 / (1 / z + sum over its other partners l of 1 / (1 / w_il +
V_li)). Exact where the pairs form trees; where they form rings, what comes back around a ring is left out, which is
little: many answers to an item make all of its V alike (belief propagation; Weiss and Freeman 2001).
"""

from __future__ import annotations

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers

_CONVERGED = 1e-9
_MOST_SWEEPS = 1000


@compiled
def margins_without_the_pair(left: Integers, right: Integers, weight: Floats, items: int, variance: float) -> Floats:
    """(p,) the variance of each pair's margin, f_left - f_right, by the answers to all other pairs.

    variance  z
    """
    pairs = left.shape[0]
    # What an item learns of itself from its partner: the right one from the left one, and the left one from the right.
    to_right, to_left, margin = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)
    for _ in range(_MOST_SWEEPS):
        precision = np.full(items, 1.0 / variance)
        for pair in range(pairs):
            precision[right[pair]] += to_right[pair]
            precision[left[pair]] += to_left[pair]
        moved = 0.0
        for pair in range(pairs):
            one = 1.0 / (precision[left[pair]] - to_left[pair])
            other = 1.0 / (precision[right[pair]] - to_right[pair])
            to_right[pair] = weight[pair] / (1.0 + weight[pair] * one)
            to_left[pair] = weight[pair] / (1.0 + weight[pair] * other)
            moved = max(moved, abs(one + other - margin[pair]) / (one + other))
            margin[pair] = one + other
        if moved < _CONVERGED:
            break
    return margin
