"""The independent model: a score per item and no features, plain Bradley and Terry (1952) with a Gaussian prior."""

from __future__ import annotations

from dataclasses import dataclass

from ordinate.data.arrays import Floats
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.posterior import Posterior


@dataclass(frozen=True)
class Independent:
    """f_i ~ N(0, item_variance), unrelated to each other: the hybrid model without columns."""

    item_variance: float = 1.0
    likelihood: Likelihood = LOGISTIC
    dense = True

    def fit(self, features: Floats, answers: Answers) -> Posterior:
        return Hybrid(item_variance=self.item_variance, likelihood=self.likelihood).fit(features[:, :0], answers)
