"""CoLSTIM: a contextual duelling bandit that looks for the best item (Bengs, Saha and Hüllermeier 2022), a baseline.

x_i (k,) features     z = x_j - x_i     M = I + sum over asked pairs of z z^T     ||z||^2 = z^T M^-1 z here
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ordinate.choosing.search import Choice
from ordinate.choosing.strategies import Situation
from ordinate.data.pairs import Pool
from ordinate.errors import PoolExhausted
from ordinate.learning.belief.factored import FactoredBelief
from ordinate.learning.linear_scores import linear_scores_double
from ordinate.learning.models import Answers
from ordinate.learning.models.cholesky import PositiveDefinite
from ordinate.learning.models.contextual import information
from ordinate.learning.models.likelihood import PairCounts

_LITTLE = 1e-9


@dataclass(frozen=True)
class Colstim:
    """i has the best perturbed score, theta^T x_i + Gumbel ||x_i||; j the best chance to beat it, theta^T z + c ||z||.

    horizon  T, the comparisons of the whole run, in the confidence width c = sqrt(k log T)
    noise    what an item's Gumbel noise is multiplied by: its "width" ||x_i||, as in the paper; "one"; or nearly 0 to
             break ties alone ("none"), as in the authors' scripts, which add the noise after taking the best item
    """

    horizon: int
    noise: Literal["width", "one", "none"] = "width"

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        if pool.size == 0:
            raise PoolExhausted("no pair is left to ask")
        features = situation.features()
        left, right = situation.asked()
        pairs = PairCounts.of(Answers(left, right, np.full(len(left), 0.5)), len(features))
        # A belief whose covariance is X M^-1 X^T has the squared norms as its variances.
        root = PositiveDefinite(information(features, pairs, pairs.asked), 1.0).inverse_root()
        scores = linear_scores_double(features, situation.coefficients())
        norms = FactoredBelief(scores, features @ root, np.zeros(len(features)))

        # Gumbel noise also breaks ties between items, the shuffle those between opponents.
        size = np.sqrt(norms.variance) if self.noise == "width" else {"one": 1.0, "none": _LITTLE}[self.noise]
        perturbed = norms.mean + rng.gumbel(size=len(features)) * size
        for item in np.argsort(-perturbed):
            opponents = rng.permutation(pool.partners(int(item)))
            if len(opponents):
                break
        margins, variances = norms.differences(opponents, np.full(len(opponents), item))
        optimistic = margins + math.sqrt(features.shape[1] * math.log(self.horizon)) * np.sqrt(variances)
        best = int(np.argmax(optimistic))
        return Choice(int(item), int(opponents[best]), float(optimistic[best]))
