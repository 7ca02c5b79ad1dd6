"""A score for each model, from answers about what it made, with errors that respect that answers to a prompt are alike.

M models     T answers     z_t = e_left - e_right     s_t, w_t  slope and weight of answer t at its margin

Bradley and Terry's model of the models, all answers together. Whatever makes a prompt easy for a model moves all
answers about that prompt. So the covariance is the sandwich with prompts as clusters (Liang and Zeger 1986), G of them:

    H = I / PRIOR_VARIANCE + sum_t w_t z_t z_t'
    V = G / (G - 1) H^-1 (sum_g u_g u_g') H^-1,  u_g = sum_{t in g} s_t z_t
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import RankIntervals
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers
from ordinate.learning.models.independent import Independent
from ordinate.learning.ranks import counted, together

PRIOR_VARIANCE = 1e4
"""So wide that the scores are those of the largest likelihood, and finite where a model wins all."""
_DRAWS = 2000


class Scores(NamedTuple):
    """Of M models, which are centred: their mean is 0.

    mean        (M,)
    covariance  (M, M)
    """

    mean: Floats
    covariance: Floats

    def ranks(self, rng: np.random.Generator) -> RankIntervals:
        """Intervals of the ranks, by draws; the models in their own order."""
        order = np.argsort(-self.mean, kind="stable")
        values, vectors = np.linalg.eigh(self.covariance)
        spread = vectors * np.sqrt(np.maximum(values, 0.0))
        draws = self.mean + rng.standard_normal((_DRAWS, len(self.mean))) @ spread.T

        def margins(place: int, others: slice) -> tuple[Floats, Floats]:
            one, rest = order[place], order[others]
            variance = self.covariance[one, one] + np.diag(self.covariance)[rest] - 2.0 * self.covariance[one, rest]
            return self.mean[one] - self.mean[rest], variance

        place_of = np.argsort(order)
        return RankIntervals(*counted(draws[:, order]), *together(margins, len(order))).of(place_of)


def scores(answers: Answers, models: int, cluster: Integers) -> Scores:
    """`answers` by the numbers of the models, which they connect; `cluster` (T,), at least two of them."""
    likelihood = Cumulative()
    told = answers._replace(strength=np.zeros(len(answers.outcome), dtype=np.int64))  # ties count half
    model = Independent(item_variance=PRIOR_VARIANCE, likelihood=likelihood)
    mean = model.fit(np.empty((models, 0)), told).mean
    margin = mean[told.left] - mean[told.right]
    z = np.zeros((len(margin), models))
    rows = np.arange(len(margin))
    z[rows, told.left], z[rows, told.right] = 1.0, -1.0
    information = np.eye(models) / PRIOR_VARIANCE + (z.T * likelihood.weight(margin, told)) @ z
    _, prompt = np.unique(cluster, return_inverse=True)
    prompts = int(prompt.max()) + 1
    pushes = np.zeros((prompts, models))
    np.add.at(pushes, prompt, likelihood.slope(margin, told)[:, None] * z)
    half = np.linalg.solve(information, pushes.T)
    centred = half - half.mean(axis=0)
    return Scores(mean - mean.mean(), prompts / (prompts - 1.0) * centred @ centred.T)
