"""A score for each model, from answers about what it made, with errors that respect that answers to a prompt are alike.

M models     T answers     z_t = e_left - e_right     s_t, w_t  slope and weight of answer t at its margin

Bradley and Terry's model of the models, all answers together. Whatever makes a prompt easy for a model moves all
answers about that prompt. So the covariance is the sandwich with prompts as clusters (Liang and Zeger 1986):

    H = I / PRIOR_VARIANCE + sum_t w_t z_t z_t'
    V = H^-1 (sum_g u_g u_g') H^-1,  u_g = sum_{t in g} s_t z_t

A variance that is estimated from few prompts is too small and uncertain, and a score may rest on few of many prompts:
on those where its model appears, or on one that has most of the answers. So each score has a number of prompts of its
own, the effective number of those that its variance comes from where answers are independent (Carter, Schnepel and
Steigerwald 2017), with c_i what takes the mean from score i:

    v_gi = sum_{t in g} w_t (z_t' H^-1 c_i)^2,  G_i = (sum_g v_gi)^2 / sum_g v_gi^2

The error of score i is multiplied by sqrt(G_i / (G_i - 1)) and by Student's quantile over the normal one, so that 1.645
errors to either side hold 90 %. Nothing is said of models with G_i below `FEWEST_PROMPTS`.

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
from ordinate.learning.ranks import LEVEL, counted, together

PRIOR_VARIANCE = 1e4
"""So wide that the scores are those of the largest likelihood, and finite where a model wins all."""
FEWEST_PROMPTS = 2.5
"""From three prompts on intervals hold the truth as often as they say; three are rarely of one size, and then fewer."""
_DRAWS = 2000
_NEARLY_NONE = 0.01
"""Of the weight of an answer: the prior moves balanced answers by less."""


class Scores(NamedTuple):
    """Of M models, centred: the mean of the known ones is 0.

    mean        (M,)
    covariance  (M, M)
    known       (M,) the models whose errors are known. The scores of the others differ from theirs by any amount, or
                rest on too few prompts, so their covariance means nothing
    """

    mean: Floats
    covariance: Floats
    known: NDArray[np.bool_]

    def ranks(self, rng: np.random.Generator) -> RankIntervals:
        """Intervals of the ranks, by draws; the models in their own order. Those that are not known have any rank."""
        if not self.known.all():
            return self._ranks_with_unknown(rng)
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

    def _ranks_with_unknown(self, rng: np.random.Generator) -> RankIntervals:
        models, rows = len(self.mean), np.flatnonzero(self.known)
        low, high = np.ones(models, dtype=np.int64), np.full(models, models)
        first, last = low.copy(), high.copy()
        if len(rows):
            known = Scores(self.mean[rows], self.covariance[np.ix_(rows, rows)], self.known[rows]).ranks(rng)
            low[rows], first[rows] = known.low, known.tied_low
            above = models - len(rows)  # as many as may be above each of them
            high[rows], last[rows] = known.high + above, known.tied_high + above
        return RankIntervals(low, high, np.full(models, np.nan), first, last)


def scores(answers: Answers, models: int, cluster: Integers, within: NDArray[np.bool_] | None = None) -> Scores:
    """`answers` by the numbers of the models, which they connect.

    cluster  (T,) the prompt of each, at least two of them
    within   (M,) the models whose scores differ by finite amounts; None: all
    """
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
    pushes = np.zeros((int(prompt.max()) + 1, models))
    np.add.at(pushes, prompt, likelihood.slope(margin, told)[:, None] * z)
    mean_weight = np.square(z).T @ weight / np.square(z).sum(axis=0)
    balanced = np.abs(pushes).max(axis=0) < _NEARLY_NONE * mean_weight
    moved = np.asarray(np.linalg.solve(information, pushes.T).T, dtype=np.float64)
    alone = np.asarray(np.linalg.solve(information, (np.sqrt(weight)[:, None] * z).T).T, dtype=np.float64)
    known, prompts = _known(alone, prompt, np.ones(models, dtype=np.bool_) if within is None else within)
    centre = known if known.any() else np.ones(models, dtype=np.bool_)
    spread = np.vstack([_about(moved, centre) * _widened(prompts), _about(alone[z[:, balanced].any(axis=1)], centre)])
    return Scores(mean - mean[centre].mean(), spread.T @ spread, known)


def _about(values: Floats, centre: NDArray[np.bool_]) -> Floats:
    """Values of models (r, M) less their mean over some models."""
    about: Floats = values - values[:, centre].mean(axis=1, keepdims=True)
    return about


def _known(alone: Floats, prompt: Integers, within: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Floats]:
    """(M,) which models rest on enough prompts, and on how many effective ones each does.

    alone  (T, M) by what each answer on its own may move the scores

    One model of few prompts makes all scores uncertain through their mean, so the models leave one after another.
    """
    known = within.copy()
    prompts = np.full(len(known), FEWEST_PROMPTS)
    while known.sum() > 1:
        variance = np.zeros((int(prompt.max()) + 1, len(known)))
        np.add.at(variance, prompt, np.square(_about(alone, known)))
        prompts = np.square(variance.sum(axis=0)) / np.square(variance).sum(axis=0)
        fewest = int(np.where(known, prompts, np.inf).argmin())
        if prompts[fewest] >= FEWEST_PROMPTS:
            return known, prompts
        known[fewest] = False
    return np.zeros(len(known), dtype=np.bool_), prompts


def _widened(prompts: Floats) -> Floats:
    """(M,) by how much errors are wider than those of the sandwich, of scores that rest on so many prompts."""
    from scipy.special import ndtri, stdtrit

    freedom = np.maximum(prompts, FEWEST_PROMPTS) - 1.0
    end = 0.5 + LEVEL / 2.0
    wider: Floats = np.sqrt(1.0 + 1.0 / freedom) * stdtrit(freedom, end) / ndtri(end)
    return wider
