"""Rules by which a Gaussian times the likelihood of a pair's answers is integrated.

Where answers are few and the Gaussian is narrow, the trapezoidal rule on `NORMAL` is the quicker one. Else `ONE_SIDE`
is stretched over either side of the mode, as far as exp(-`DEPTH`) of the density there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from ordinate.data.arrays import Floats


class Rule(NamedTuple):
    """Both (q,)."""

    nodes: Floats
    weights: Floats


ONE_SIDE = Rule(*(0.5 * (part + shift) for part, shift in zip(leggauss(32), (1.0, 0.0), strict=True)))
DEPTH = 30.0
HALVINGS = 8
_STEP = 0.25
_EVEN = np.arange(-10.0, 10.0 + _STEP, _STEP)
NORMAL = Rule(_EVEN, _STEP * np.exp(-0.5 * np.square(_EVEN)) / math.sqrt(2.0 * math.pi))
WIDEST, FURTHEST = 6.0, 20.0
"""Up to this variance and this |mean| `NORMAL` is right to 11 digits for one answer: the logistic function's poles are
pi from the axis, so the error of a trapezoidal rule is about exp(-2 pi^2 / (step * standard deviation))."""
MOST_ANSWERS, MOST_PULL = 3.0, 3.0
"""For so many answers too (their poles are of a higher order), which move the mean by so many standard deviations."""
