"""The logistic function and its slope, compiled."""

from __future__ import annotations

import math

from ordinate.compiled import compiled

WIDEST = 340.0
"""Scores no further than this from their centre keep exp(m) and its products inside float64."""


@compiled
def sigmoid(margin: float) -> float:
    """1 / (1 + exp(-m)), without overflow."""
    decay = math.exp(-abs(margin))
    return 1.0 / (1.0 + decay) if margin >= 0.0 else decay / (1.0 + decay)


@compiled
def logistic_slope(margin: float) -> float:
    """sigma'(m) = sigma(m) (1 - sigma(m)), without overflow."""
    decay = math.exp(-abs(margin))
    return decay / ((1.0 + decay) * (1.0 + decay))
