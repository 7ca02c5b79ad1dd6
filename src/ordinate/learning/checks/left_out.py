"""What each answer should have been according to all the others: one Newton step from the fit with it.

m, v  mean and variance of an answer's margin
g, s  first and minus second derivative by m of the log-likelihood of the answer; logistic: y - p and p (1 - p)

Without the answer the margin has the variance v / (1 - s v) and the mean m - v g / (1 - s v) (Pregibon 1981). How
likely it then is that left wins, given that it is no tie, does not depend on the answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers
from ordinate.learning.posterior import Posterior

_LEAST = 0.05
"""Of 1 - s v: below it one step is too rough."""


class LeftOut(NamedTuple):
    """(T,) each: mean and variance of the margin without the answer; probability that left wins, if it is no tie."""

    margin: Floats
    variance: Floats
    probability: Floats


def left_out(fit: Posterior, answers: Answers, likelihood: Likelihood = LOGISTIC) -> LeftOut:
    margin, variance = fit.belief.differences(answers.left, answers.right)
    rest = np.maximum(1.0 - likelihood.weight(margin, answers) * variance, _LEAST)
    margin = margin - variance * likelihood.slope(margin, answers) / rest
    variance = variance / rest
    return LeftOut(margin, variance, likelihood.wins(margin, variance, answers))
