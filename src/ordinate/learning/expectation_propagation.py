"""Expectation propagation (Minka 2001): a Gaussian posterior whose margins have the mean and variance they should.

p  distinct compared pairs     m, v (p,) mean and variance of their margins

Laplace's posterior is about the mode with the curvature there, and is too sure where few answers decide a margin. Here
the site of each pair is chosen so that the posterior and the posterior with the pair's true likelihood in the place of
its site give the margin the same mean and variance. All sites are updated together, from the last covariance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, log_expit

from ordinate.data.arrays import Floats
from ordinate.learning.models.likelihood import PairCounts
from ordinate.learning.models.sites import Sites

_CONVERGED = 1e-4
"""Of a margin's posterior standard deviation: as far as its mean may still move."""
_MOST_SWEEPS = 50
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
_MODE_STEPS = 50

Margins = Callable[[Sites], tuple[Floats, Floats]]
"""The mean and variance of each compared pair's margin, given sites."""


def propagate(pairs: PairCounts, margins: Margins, sites: Sites) -> Sites:
    """The fixed point that starts from these sites."""
    damping, before = 1.0, np.inf
    mean, variance = margins(sites)
    for _ in range(_MOST_SWEEPS):
        matched = match(pairs, *cavity(mean, variance, sites))
        sites = Sites(*(old + damping * (new - old) for old, new in zip(sites, matched, strict=True)))
        last = mean, variance
        mean, variance = margins(sites)
        moved = np.abs(mean - last[0]) / np.sqrt(variance) + np.abs(np.log(variance / last[1]))
        change = float(moved.max(initial=0.0))
        if change < _CONVERGED:
            break
        if change > 0.9 * before:
            damping = max(0.25, 0.5 * damping)
        before = change
    return sites


def cavity(mean: Floats, variance: Floats, sites: Sites) -> tuple[Floats, Floats]:
    """Mean and variance of each margin without its own site."""
    rest = 1.0 - sites.weight * variance
    # Of a pair whose site is nearly all that is known, rounding leaves nothing; the prior always leaves something.
    rest = np.maximum(rest, 1e-10)
    return (mean - variance * sites.shift) / rest, variance / rest


def match(pairs: PairCounts, mean: Floats, variance: Floats) -> Sites:
    """Sites that, times N(mean, variance), have the moments of the likelihood times N(mean, variance)."""
    _, tilted_mean, tilted_variance = tilted(pairs, mean, variance)
    return Sites(
        np.maximum(1.0 / tilted_variance - 1.0 / variance, 0.0), tilted_mean / tilted_variance - mean / variance
    )


def tilted(pairs: PairCounts, mean: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
    """log of the integral, mean and variance of N(mean, variance) times the likelihood of a pair's answers, (p,) each.

    By Gauss-Hermite quadrature about the mode, so that pairs with many answers are integrated as well as others.
    """
    mode = _mode(pairs, mean, variance)
    scale = 1.0 / np.sqrt(1.0 / variance + pairs.weight(mode))
    point = mode[:, None] + scale[:, None] * _NODES
    wins, losses = pairs.wins[:, None], (pairs.asked - pairs.wins)[:, None]
    density = wins * log_expit(point) + losses * log_expit(-point)
    density += 0.5 * np.square(_NODES) - 0.5 * np.square(point - mean[:, None]) / variance[:, None]
    highest = density.max(axis=1, keepdims=True)
    mass = _NODE_WEIGHTS * np.exp(density - highest)
    total = mass.sum(axis=1)
    first = (mass * point).sum(axis=1) / total
    second = (mass * np.square(point - first[:, None])).sum(axis=1) / total
    logarithm = highest[:, 0] + np.log(total * scale / np.sqrt(2.0 * np.pi * variance))
    return logarithm, first, second


def _mode(pairs: PairCounts, mean: Floats, variance: Floats) -> Floats:
    """(p,) where the slope of the likelihood, wins - asked * sigma, equals that of the prior, by bisected Newton steps.

    The root is between mean + variance * (wins - asked) and mean + variance * wins.
    """
    low, high = mean + variance * (pairs.wins - pairs.asked), mean + variance * pairs.wins
    point = np.clip(mean, low, high)
    for _ in range(_MODE_STEPS):
        slope = pairs.wins - pairs.asked * expit(point) - (point - mean) / variance
        low, high = np.where(slope > 0.0, point, low), np.where(slope < 0.0, point, high)
        moved = point + slope / (pairs.weight(point) + 1.0 / variance)
        moved = np.where((moved > low) & (moved < high), moved, 0.5 * (low + high))
        if float(np.abs(moved - point).max(initial=0.0)) < 1e-6:
            return moved
        point = moved
    return point
