"""What each answer should have been according to all the others: one Newton step from the fit with it.

m, v  mean and variance of an answer's margin     p = sigma(m)     y  1 where left won, 0 where right won
s = p (1 - p), the weight of the answer

Without the answer the margin has the variance v / (1 - s v) and the mean m - v (y - p) / (1 - s v) (Pregibon 1981).
Left then wins with probability sigma(m / sqrt(1 + pi v / 8)) (MacKay 1992), which does not depend on y.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.models import Answers
from ordinate.learning.posterior import Posterior

_LEAST = 0.05
"""Of 1 - s v: below it one step is too rough."""


class LeftOut(NamedTuple):
    """(T,) each: mean and variance of the margin without the answer, and the probability that left wins."""

    margin: Floats
    variance: Floats
    probability: Floats


def left_out(fit: Posterior, answers: Answers) -> LeftOut:
    from scipy.special import expit

    margin, variance = fit.belief.differences(answers.left, answers.right)
    chance = expit(margin)
    rest = np.maximum(1.0 - chance * (1.0 - chance) * variance, _LEAST)
    margin = margin - variance * (answers.outcome - chance) / rest
    variance = variance / rest
    return LeftOut(margin, variance, expit(margin / np.sqrt(1.0 + np.pi * variance / 8.0)))
