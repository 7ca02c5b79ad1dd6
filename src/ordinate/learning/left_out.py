"""What each answer should have been according to all the others, found from one fit with all of them.

m, v  mean and variance of an answer's margin
g, s  first and minus second derivative by m of the log-likelihood of an answer; logistic: y - p and p (1 - p)

What the answers to all other pairs say of a pair is taken to be Gaussian, as in the fit. With S and G the sums of s and
g over the answers to the pair, its variance is w = v / (1 - S v) and its mean u = m - w G. To these the pair's other
answers are added: the mean x solves x = u + w G(x), G over the others. A pair with one answer has none, and that is one
step of Newton's method back (Pregibon 1981).

One such step for each answer to a pair with several would be off by as much as the s of the others change on the way: a
little, but always to the same side, away from the answer. Of people who judge pairs that others have judged once, the
step said that all others contradict them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import pair_codes
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers, Model, SiteModel
from ordinate.learning.models.blocks import InBlocks
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.posterior import Posterior

_LEAST = 0.05
"""Of 1 - s v: below it one step is too rough, or v is not Laplace's."""
_MOST = 8
"""Answers to a pair, of which each is looked at for each: of more, one answer says so little that a step is right."""
_CONVERGED = 1e-9
"""Of a margin's standard deviation."""
_MANY_ITEMS = 1000
"""Of more, only those that answers compare are looked at."""
_STEPS = 60
"""More than halving takes from the widest bracket."""


class LeftOut(NamedTuple):
    """(T,) each: mean and variance of the margin without the answer; probability that left wins, if it is no tie."""

    margin: Floats
    variance: Floats
    probability: Floats


def left_out_by(model: Model, features: Floats, answers: Answers) -> LeftOut:
    """By a fit of this model. The factored covariance, which lacks the cross terms that hold the two items of a pair
    together, would say far too much of an answer that is left out, so the exact one takes its place."""
    model = _exact(model)
    if len(features) > _MANY_ITEMS:
        rows, answers = answers.of_compared()
        features = np.asarray(features[rows], dtype=np.float64)
    return left_out(model.fit(features, answers), answers, getattr(model, "likelihood", LOGISTIC))


def left_out(fit: Posterior, answers: Answers, likelihood: Likelihood = LOGISTIC) -> LeftOut:
    """By this fit of the answers, by Laplace's approximation with an exact covariance.

    likelihood  that of the fit
    """
    mean = fit.mean[answers.left] - fit.mean[answers.right]
    variance = fit.covariance.compared_pairs(answers.left, answers.right)
    slope, weight = likelihood.slope(mean, answers), likelihood.weight(mean, answers)
    _, pair = np.unique(pair_codes(answers.left, answers.right), return_inverse=True)
    pair = pair.reshape(-1)
    # Sums over a pair are of margins to one side; an answer's own may be to the other.
    side = np.where(answers.left < answers.right, 1.0, -1.0)
    of_pair, pull = np.bincount(pair, weight)[pair], side * np.bincount(pair, side * slope)[pair]
    size = np.bincount(pair)[pair]
    by_pair = (size > 1) & (size <= _MOST) & (1.0 - of_pair * variance >= _LEAST)
    taken, rest = np.where(by_pair, pull, slope), 1.0 - np.where(by_pair, of_pair, weight) * variance
    wide = variance / np.maximum(rest, _LEAST)
    margin = mean - wide * taken
    if (rows := np.flatnonzero(by_pair)).size:
        found = _with_the_others(rows, pair, side, margin[rows], wide[rows], answers, likelihood)
        margin[rows], wide[rows] = found
    return LeftOut(margin, wide, likelihood.wins(margin, wide, answers))


def _exact(model: Model) -> Model:
    if isinstance(model, InBlocks):
        return replace(model, model=cast(SiteModel, _exact(model.model)))
    if isinstance(model, FactoredHybrid):
        return Hybrid(model.coefficient_variance, model.item_variance, model.likelihood)
    return model


def _with_the_others(
    rows: Integers,
    pair: Integers,
    side: Floats,
    mean: Floats,
    variance: Floats,
    answers: Answers,
    likelihood: Likelihood,
) -> tuple[Floats, Floats]:
    """Mean and variance (R,) of the margins of these answers, from those without any answer to their pairs."""
    place, other = _others(rows, pair)
    turned, given = side[rows][place] * side[other], answers.those(other)

    def at(margin: Floats) -> tuple[Floats, Floats]:
        """The sums G and S of the others at these margins (R,)."""
        own = turned * margin[place]
        slope, weight = likelihood.slope(own, given), likelihood.weight(own, given)
        pull: Floats = np.bincount(place, turned * slope, len(rows)).astype(np.float64)
        return pull, np.bincount(place, weight, len(rows)).astype(np.float64)

    # G falls as the margin grows, so the solution is between the mean and where G at the mean would lead.
    pull, weight = at(mean)
    low, high = mean + variance * np.minimum(pull, 0.0), mean + variance * np.maximum(pull, 0.0)
    margin = mean.copy()
    for _ in range(_STEPS):
        gap = mean + variance * pull - margin
        low, high = np.where(gap > 0.0, margin, low), np.where(gap > 0.0, high, margin)
        step = margin + gap / (1.0 + variance * weight)
        before, margin = margin, np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        pull, weight = at(margin)
        if (np.abs(margin - before) <= _CONVERGED * np.sqrt(variance)).all():
            break
    return margin, variance / (1.0 + variance * weight)


def _others(rows: Integers, pair: Integers) -> tuple[Integers, Integers]:
    """For each of these answers, which are all those of their pairs, each other answer to its pair: the place of the
    one among the rows, and the number of the other."""
    order = np.argsort(pair[rows], kind="stable")
    begins = np.flatnonzero(np.diff(pair[rows][order], prepend=-1))
    sizes = np.diff(np.append(begins, len(rows)))
    # Each with each of its pair, itself included.
    repeats = np.repeat(sizes, sizes)
    place = np.repeat(order, repeats)
    first = np.repeat(np.repeat(begins, sizes), repeats)
    count = np.arange(len(place)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    other = order[first + count]
    kept = place != other
    return place[kept], rows[other[kept]]
