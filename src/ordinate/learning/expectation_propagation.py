"""Expectation propagation (Minka 2001): a Gaussian posterior whose margins have the mean and variance they should.

p  distinct compared pairs     m, v (p,) mean and variance of their margins

Laplace's posterior is about the mode with the curvature there, and is too sure where few answers decide a margin. Here
the site of each pair is chosen so that the posterior and the posterior with the pair's true likelihood in the place of
its site give the margin the same mean and variance. All sites are updated together, from the last covariance.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats
from ordinate.learning.likelihoods import Likelihood
from ordinate.learning.likelihoods.by_kind import ByKind
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers, SiteModel
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.likelihood import PairCounts
from ordinate.learning.models.map_estimate import Prior
from ordinate.learning.models.sites import Sites
from ordinate.learning.posterior import Posterior
from ordinate.learning.quadrature import DEPTH, FURTHEST, HALVINGS, NORMAL, ONE_SIDE, WIDEST, Rule, Rules, nodes_for

CONVERGED = 1e-4
"""Of a margin's posterior standard deviation: as far as its mean may still move."""
_MOST_SWEEPS = 200
"""Of 1,500 random sets of answers, the slowest needed 90: its priors were wide."""

_LEAST_VARIANCE = 1e-10
"""Of a margin: where the model cannot tell two items apart it is 0, and the answers about them change nothing."""
_MOST_ITEMS = 1000
"""With more compared items, a sweep would take a second and more; results are Laplace's then."""


Margins = Callable[[Sites], tuple[Floats, Floats]]
"""The mean and variance of each compared pair's margin, given sites."""


class Propagation:
    """The answers as sites, for a model whose prior variances may change; each call starts from the last sites."""

    def __init__(self, model: SiteModel, features: Floats, answers: Answers) -> None:
        self._features, self._answers = features, answers
        self.model, self.compared = model, model.compared(features, answers)
        pairs = self.compared.pairs
        # Laplace's sites where nothing is known.
        self.sites = Sites(0.25 * pairs.asked, pairs.wins - 0.5 * pairs.asked)
        # What the last margins were found for, and these: each takes an inverse of all compared items.
        self._known: tuple[Prior, Sites, tuple[Floats, Floats]] | None = None

    def at(self, prior: Prior) -> Propagation:
        """The same, with the sites so far, for the variances of the blocks of features in this prior."""
        if prior.blocks == self.model.prior.blocks:
            return self
        moved = Propagation(self.model.with_prior(prior), self._features, self._answers)
        moved.sites = self.sites
        return moved

    def propagate(self, prior: Prior, converged: float = CONVERGED) -> None:
        """Update the sites for these prior variances."""
        if len(self.compared.pairs.left):
            self.sites = propagate(
                self.compared.pairs, self._margins(prior), self.sites, converged, self.model.likelihood
            )

    def cavities(self, prior: Prior) -> tuple[Floats, Floats]:
        """Mean and variance (p,) of each compared pair's margin without its own site."""
        return cavity(*self._margins(prior)(self.sites), self.sites)

    def log_normaliser(self, prior: Prior) -> float:
        """What the evidence of the sites lacks of that of the answers: the log of the product of the sites' factors."""
        pairs = self.compared.pairs
        if not len(pairs.left):
            return 0.0
        mean, variance = self.cavities(prior)
        weight, shift = self.sites
        precision = 1.0 / variance + weight
        of_site = np.square(mean / variance + shift) / precision - np.square(mean) / variance
        of_site -= np.log1p(weight * variance)
        return float((tilted(pairs, mean, variance, self.model.likelihood)[0] - 0.5 * of_site).sum())

    def _margins(self, prior: Prior) -> Margins:
        # With the paper's factored covariance, which lacks cross terms, there may be no fixed point.
        exact = Hybrid(prior.coefficients or 1.0, prior.items) if prior.items else Contextual(prior.coefficients)

        def margins(sites: Sites) -> tuple[Floats, Floats]:
            if self._known is None or self._known[0] != prior or self._known[1] is not sites:
                mean, variance = exact.margins_given(self.compared, sites)
                self._known = prior, sites, (mean, np.maximum(variance, _LEAST_VARIANCE))
            return self._known[2]

        return margins

    def posterior(self, prior: Prior) -> Posterior:
        """The posterior with these prior variances; that of Laplace where many items were compared."""
        model = self.model.with_prior(prior)
        if prior.items and len(self.compared.rows) > _MOST_ITEMS:
            return model.fit(self._features, self._answers)
        self.propagate(prior)
        return model.given(self._features, self.compared, self.sites)


def propagate(
    pairs: PairCounts,
    margins: Margins,
    sites: Sites,
    converged: float = CONVERGED,
    likelihood: Likelihood = LOGISTIC,
) -> Sites:
    """The fixed point that starts from these sites."""
    damping, before = 1.0, np.inf
    mean, variance = margins(sites)
    for _ in range(_MOST_SWEEPS):
        matched = match(pairs, *cavity(mean, variance, sites), likelihood)
        sites = Sites(*(old + damping * (new - old) for old, new in zip(sites, matched, strict=True)))
        last = mean, variance
        mean, variance = margins(sites)
        moved = np.abs(mean - last[0]) / np.sqrt(variance) + np.abs(np.log(variance / last[1]))
        change = float(moved.max(initial=0.0))
        if change < converged:
            break
        damping = max(0.25, 0.5 * damping) if change > 0.9 * before else min(1.0, 2.0 * damping)
        before = change
    return sites


def cavity(mean: Floats, variance: Floats, sites: Sites) -> tuple[Floats, Floats]:
    """Mean and variance of each margin without its own site."""
    rest = 1.0 - sites.weight * variance
    # Of a pair whose site is nearly all that is known, rounding leaves nothing; the prior always leaves something.
    rest = np.maximum(rest, 1e-10)
    return (mean - variance * sites.shift) / rest, variance / rest


def match(pairs: PairCounts, mean: Floats, variance: Floats, likelihood: Likelihood = LOGISTIC) -> Sites:
    """Sites that, times N(mean, variance), have the moments of the likelihood times N(mean, variance)."""
    _, tilted_mean, tilted_variance = tilted(pairs, mean, variance, likelihood)
    return Sites(
        np.maximum(1.0 / tilted_variance - 1.0 / variance, 0.0), tilted_mean / tilted_variance - mean / variance
    )


def tilted(
    pairs: PairCounts, mean: Floats, variance: Floats, likelihood: Likelihood = LOGISTIC
) -> tuple[Floats, Floats, Floats]:
    """(p,) each of N(mean, variance) times the likelihood of a pair's answers: log integral, mean and variance."""
    if pairs.kinds is not None and isinstance(likelihood, ByKind):
        return likelihood.tilted(pairs, mean, variance)
    return integrate(pairs.wins, pairs.asked - pairs.wins, mean, variance, ONE_SIDE, NORMAL)


@compiled
def log_likelihood(wins: float, losses: float, margin: float) -> float:
    """wins log sigma(margin) + losses log sigma(-margin)"""
    lost = losses if margin >= 0.0 else wins
    return -lost * abs(margin) - (wins + losses) * math.log1p(math.exp(-abs(margin)))


@compiled
def mode_of(wins: float, losses: float, mean: float, variance: float) -> float:
    """Where N(mean, variance) times the likelihood is highest: Newton steps, halved where they leave the bracket."""
    low, high = mean - variance * losses, mean + variance * wins
    point = mean
    for _ in range(100):
        decay = math.exp(-abs(point))
        share = 1.0 / (1.0 + decay)
        chance = share if point >= 0.0 else decay * share
        slope = wins - (wins + losses) * chance - (point - mean) / variance
        if slope > 0.0:
            low = point
        else:
            high = point
        moved = point + slope / ((wins + losses) * decay * share * share + 1.0 / variance)
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if abs(moved - point) < 1e-6 * math.sqrt(variance):
            return moved
        point = moved
    return point


@compiled
def integrate_one_answer(sign: float, mean: float, variance: float, normal: Rules) -> tuple[float, float, float]:
    """`tilted` of one answer, 1 left or -1 right."""
    nodes, weights = normal.nodes, normal.weights
    begin, end = nodes_for(variance, normal)
    deviation = math.sqrt(variance)
    total, moment, square = 0.0, 0.0, 0.0
    for node in range(begin, end):
        mass = weights[node] / (1.0 + math.exp(-sign * (mean + deviation * nodes[node])))
        total += mass
        moment += mass * nodes[node]
        square += mass * nodes[node] * nodes[node]
    offset = moment / total
    return math.log(total), mean + deviation * offset, variance * (square / total - offset * offset)


@compiled
def integrate(
    wins: Floats,
    losses: Floats,
    mean: Floats,
    variance: Floats,
    one_side: Rule,
    normal: Rules,
) -> tuple[Floats, Floats, Floats]:
    """`tilted`, by Gauss-Legendre quadrature on both sides of the mode, as far as exp(-30) of the density there.

    Most pairs have one answer; the rules of `NORMAL` do these in a quarter of the time, or less.
    """
    nodes, weights = one_side
    count = mean.shape[0]
    logarithm, first, second = np.empty(count), np.empty(count), np.empty(count)
    for pair in range(count):
        won, lost, centre, spread = wins[pair], losses[pair], mean[pair], variance[pair]
        if won * lost == 0.0 and won + lost == 1.0 and spread <= WIDEST and abs(centre) <= FURTHEST:
            logarithm[pair], first[pair], second[pair] = integrate_one_answer(won - lost, centre, spread, normal)
            continue
        mode = mode_of(won, lost, centre, spread)
        highest = log_likelihood(won, lost, mode) - 0.5 * (mode - centre) ** 2 / spread
        total, moment, square = 0.0, 0.0, 0.0
        for side in (-1.0, 1.0):
            # The density falls at least as fast as the Gaussian's.
            near, far = 0.0, math.sqrt(2.0 * DEPTH * spread)
            for _ in range(HALVINGS):
                point = mode + side * 0.5 * (near + far)
                if log_likelihood(won, lost, point) - 0.5 * (point - centre) ** 2 / spread > highest - DEPTH:
                    near = 0.5 * (near + far)
                else:
                    far = 0.5 * (near + far)
            for node in range(nodes.shape[0]):
                step = side * far * nodes[node]
                point = mode + step
                density = log_likelihood(won, lost, point) - 0.5 * (point - centre) ** 2 / spread
                mass = far * weights[node] * math.exp(density - highest)
                total += mass
                moment += mass * step
                square += mass * step * step
        offset = moment / total
        logarithm[pair] = highest + math.log(total / math.sqrt(2.0 * math.pi * spread))
        first[pair], second[pair] = mode + offset, square / total - offset * offset
    return logarithm, first, second
