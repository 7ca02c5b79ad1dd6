"""A score for each model, from answers about what it made, with errors that respect that answers to a prompt are alike.

M models     T answers     z_t = e_left - e_right     s_t, w_t  slope and weight of answer t at its margin

Bradley and Terry's model of the models, all answers together. Whatever makes a prompt easy for a model moves all
answers about that prompt. So the covariance is the sandwich with prompts as clusters (Liang and Zeger 1986), G of them:

    H = I / PRIOR_VARIANCE + sum_t w_t z_t z_t'
    V = G / (G - 1) H^-1 (sum_g u_g u_g') H^-1,  u_g = sum_{t in g} s_t z_t

Where the answers about a model balance in every prompt (as where all are ties, or a judge always says left and sees
both orders), its u_g are 0, and the sandwich would say that its score is known exactly. For these answers
H^-1 (sum_t w_t z_t z_t') H^-1 is added: each counts as in Bradley and Terry's model, on its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats, Integers
from ordinate.data.ordering import RankIntervals
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.models import Answers
from ordinate.learning.models.independent import Independent
from ordinate.learning.ranks import counted, together

PRIOR_VARIANCE = 1e4
"""So wide that the scores are those of the largest likelihood, and finite where a model wins all."""
_DRAWS = 2000
_NEARLY_NONE = 0.01
"""Of the weight of an answer: the prior moves balanced answers by less."""


class Scores(NamedTuple):
    """Of M models, which are centred: their mean is 0.

    mean        (M,)
    covariance  (M, M)
    """

    mean: Floats
    covariance: Floats

    def about(self, within: NDArray[np.bool_]) -> Scores:
        """The scores less the mean of some of them (M,); as they are where these are all, or none."""
        if within.all() or not within.any():
            return self
        contrast = np.eye(len(self.mean)) - within / within.sum()
        return Scores(contrast @ self.mean, contrast @ self.covariance @ contrast.T)

    def ranks(self, rng: np.random.Generator, within: NDArray[np.bool_] | None = None) -> RankIntervals:
        """Intervals of the ranks, by draws; the models in their own order.

        within  (M,) the models whose scores differ by finite amounts; None: all. The others may have any rank.
        """
        if within is not None and not within.all():
            return self._ranks_with_unbounded(rng, within)
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

    def _ranks_with_unbounded(self, rng: np.random.Generator, within: NDArray[np.bool_]) -> RankIntervals:
        models, rows = len(self.mean), np.flatnonzero(within)
        low, high = np.ones(models, dtype=np.int64), np.full(models, models)
        first, last = low.copy(), high.copy()
        if len(rows):
            known = Scores(self.mean[rows], self.covariance[np.ix_(rows, rows)]).ranks(rng)
            low[rows], first[rows] = known.low, known.tied_low
            above = models - len(rows)  # as many as may be above each of them
            high[rows], last[rows] = known.high + above, known.tied_high + above
        return RankIntervals(low, high, np.full(models, np.nan), first, last)


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
    weight = likelihood.weight(margin, told)
    information = np.eye(models) / PRIOR_VARIANCE + (z.T * weight) @ z
    _, prompt = np.unique(cluster, return_inverse=True)
    prompts = int(prompt.max()) + 1
    pushes = np.zeros((prompts, models))
    np.add.at(pushes, prompt, likelihood.slope(margin, told)[:, None] * z)
    mean_weight = np.square(z).T @ weight / np.square(z).sum(axis=0)
    balanced = np.abs(pushes).max(axis=0) < _NEARLY_NONE * mean_weight
    alone = z[:, balanced].any(axis=1)
    spread = np.sqrt(weight[alone])[:, None] * z[alone]
    half = np.linalg.solve(information, np.vstack([np.sqrt(prompts / (prompts - 1.0)) * pushes, spread]).T)
    centred = half - half.mean(axis=0)
    return Scores(mean - mean.mean(), centred @ centred.T)
