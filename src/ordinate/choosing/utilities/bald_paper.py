"""BALD by the approximation in the paper's appendix, from Houlsby et al. 2011 (whose probit it takes for a logistic).

It overrates pairs that are far apart: at m = 4, v = 0.1 it gives 0.077 bits where the truth is 0.0013. So it goes on
asking what it knows, and its ordering error stops falling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ordinate.choosing.utilities.bald import entropy
from ordinate.data.arrays import Floats

_C = math.sqrt(4.0 * math.log(2.0))


@dataclass(frozen=True)
class PaperInformation:
    """h(sigma(m / sqrt(1 + pi v / 8))) - C / sqrt(v + C^2) exp(-m^2 / (2 (v + C^2))); the exponent keeps its 2."""

    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        widened = variance + _C**2
        expected = _C / np.sqrt(widened) * np.exp(-0.5 * margin**2 / widened)
        bits: Floats = entropy(margin / np.sqrt(1.0 + math.pi * variance / 8.0)) - expected
        return bits
