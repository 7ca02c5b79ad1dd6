"""TrueSkill (Herbrich, Minka and Graepel 2006): a Gaussian per item, updated by each answer in turn, no features.

An answer compares performances, score + N(0, beta^2) each; within the draw margin it is a tie. With two players message
passing has a closed form, and every answer is taken in once: unlike in the other models, the order of answers matters.
Two scores' covariance is dropped, as TrueSkill does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.models import Answers
from ordinate.learning.models.one_by_one import replay_trueskill
from ordinate.learning.posterior import FactoredCovariance, Posterior


@dataclass(frozen=True)
class TrueSkill:
    """Only ratios matter to TrueSkill; these are its usual ones, beta = deviation / 2 and tau = deviation / 100.

    beta              noise of one item's performance; 1.702 / sqrt(2) makes the chance to win about
                      sigma(f_i - f_j), so that open queries shrink this belief like any other
    deviation         prior standard deviation of a score
    tau               how far a score may drift before each comparison of its item
    draw_probability  the chance of a tie between equal items, which sets the draw margin
    """

    beta: float = 1.702 / math.sqrt(2.0)
    deviation: float = 2.0 * 1.702 / math.sqrt(2.0)
    tau: float = 0.02 * 1.702 / math.sqrt(2.0)
    draw_probability: float = 0.1
    dense = False

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        count = len(features)
        return self._after(np.zeros(count), np.full(count, self.deviation**2), answers)

    def _after(self, earlier_mean: Floats, earlier_variance: Floats, answers: Answers) -> Posterior:
        from scipy.special import ndtri

        mean, variance = earlier_mean.copy(), earlier_variance.copy()
        margin = float(ndtri(0.5 * (1.0 + self.draw_probability))) * math.sqrt(2.0) * self.beta
        replay_trueskill(*answers[:3], self.beta, self.tau, margin, mean, variance)
        nothing = np.empty((len(mean), 0))
        covariance = FactoredCovariance(np.empty((0, 0)), nothing, nothing, variance)
        return Posterior(
            mean,
            np.empty(0),
            lambda: covariance,
            self.deviation**2,
            lambda further: self._after(mean, variance, further),
        )
