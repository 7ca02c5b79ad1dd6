"""The prior variances that the answers speak for: type-II maximum likelihood by expectation propagation.

t  compared items     k  feature columns     X (t, k) features     K = c X X^T + z I, the prior covariance of the scores
A (t, t)  Laplacian of the sites' weights     b (t,)  their shifts by item     c, z  variances of theta and zeta

With sites fixed, the evidence as a function of the scales is, up to a constant,
    -1/2 log |I + K A| + 1/2 b^T (K^-1 + A)^-1 b,
and at EP's fixed point its gradient is that of EP's own evidence (Seeger 2005; Rasmussen and Williams 2006, 5.5.2). So
the scales are moved with the sites fixed and the sites are propagated again, in turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.expectation_propagation import propagate
from ordinate.learning.models import Answers
from ordinate.learning.models.map_estimate import Compared, Prior
from ordinate.learning.models.sites import Sites
from ordinate.learning.posterior import Posterior

import os
_H = [float(x) for x in os.environ.get('HYPER', '0.3466,1.5,-1,3').split(',')]
COEFFICIENTS = (_H[0], _H[1])
"""Mean and standard deviation of log sqrt(c) before any answer: about the fixed scale, within a factor of 20."""
ITEMS = (_H[2], _H[3])
"""Of log sqrt(z): wide, so that terms per item can vanish where features say everything."""

_STEP = 0.05
"""Standard deviations are found to 5 %. On such a grid rounding does not matter, so every machine finds the same."""
_STRIDES = (16, 4, 1)
_FURTHEST = 120
"""Steps from the start: a factor of e^6 in each standard deviation."""
_MOST_ROUNDS = 8


class Fit:
    """EP of a model's prior variances and then of its posterior, warm from one to the next."""

    def __init__(self, model: Any, features: Floats, answers: Answers) -> None:
        self._model, self._features = model, features
        self.compared = Compared.of(features if prior_of(model).coefficients else features[:, :0], answers)
        self._alone = self.compared.alone()
        pairs = self.compared.pairs
        # A start without opinion: half the curvature of a coin toss.
        self.sites = Sites(0.125 * pairs.asked, 0.5 * (pairs.wins - 0.5 * pairs.asked))

    def propagate(self, prior: Prior) -> None:
        pairs, model = self.compared.pairs, with_prior(self._model, prior)

        def margins(sites: Sites) -> tuple[Floats, Floats]:
            posterior = model.given(self._alone.features, self._alone, sites)
            return posterior.belief.differences(pairs.left, pairs.right)

        self.sites = propagate(pairs, margins, self.sites)

    def posterior(self, prior: Prior) -> Posterior:
        self.propagate(prior)
        posterior: Posterior = with_prior(self._model, prior).given(self._features, self.compared, self.sites)
        return posterior

    def scales(self) -> Prior:
        """The most probable prior variances, from the model's own as a start."""
        start, place, seen = prior_of(self._model), (0, 0), []
        for _ in range(_MOST_ROUNDS):
            self.propagate(_at(start, place))
            evidence = Evidence(self.compared, self.sites)
            place = climb(lambda at: evidence(_at(start, at)) + log_hyperprior(_at(start, at)), place, start)
            if place in seen:
                break
            seen.append(place)
        return _at(start, place)


def climb(value: Callable[[tuple[int, int]], float], start: tuple[int, int], prior: Prior) -> tuple[int, int]:
    """The highest point near `start` on the grid, by ever smaller steps along the axes that the model has."""
    known: dict[tuple[int, int], float] = {}

    def at(place: tuple[int, int]) -> float:
        if place not in known:
            known[place] = value(place)
        return known[place]

    axes = [axis for axis, variance in enumerate(prior) if variance > 0.0]
    best = start
    for stride in _STRIDES:
        while True:
            near = [best]
            for axis in axes:
                for step in (-stride, stride):
                    moved = [*best]
                    moved[axis] = min(max(moved[axis] + step, -_FURTHEST), _FURTHEST)
                    near.append((moved[0], moved[1]))
            highest = max(near, key=at)
            if highest == best:
                break
            best = highest
    return best


def prior_of(model: Any) -> Prior:
    return Prior(getattr(model, "coefficient_variance", 0.0), getattr(model, "item_variance", 0.0))


def with_prior(model: Any, prior: Prior) -> Any:
    names = {"coefficient_variance": prior.coefficients, "item_variance": prior.items}
    return replace(model, **{name: value for name, value in names.items() if hasattr(model, name)})


def _at(start: Prior, place: tuple[int, int]) -> Prior:
    return Prior(*(variance * math.exp(2.0 * _STEP * steps) for variance, steps in zip(start, place, strict=True)))


class Evidence:
    """As a function of the scales, for fixed sites."""

    def __init__(self, compared: Compared, sites: Sites) -> None:
        _, self._features, pairs = compared
        items = len(self._features)
        laplacian = np.zeros((items, items))
        laplacian[pairs.left, pairs.right] = laplacian[pairs.right, pairs.left] = -sites.weight
        laplacian.flat[:: items + 1] = -laplacian.sum(axis=1)
        values, vectors = np.linalg.eigh(laplacian)
        self._values = np.maximum(values, 0.0)
        shift = np.bincount(pairs.left, sites.shift, items) - np.bincount(pairs.right, sites.shift, items)
        self._turned, self._shift = vectors.T @ self._features, vectors.T @ shift

    def __call__(self, prior: Prior) -> float:
        """log evidence, up to a constant."""
        share = 1.0 / (1.0 + prior.items * self._values)
        determinant = float(np.log1p(prior.items * self._values).sum())
        quadratic = prior.items * float(share @ np.square(self._shift))
        if self._turned.shape[1] and prior.coefficients > 0.0:
            information = (self._turned.T * (self._values * share)) @ self._turned
            matrix = prior.coefficients * information
            matrix.flat[:: len(matrix) + 1] += 1.0
            lower = np.linalg.cholesky(matrix)
            determinant += 2.0 * float(np.log(np.diagonal(lower)).sum())
            pull = np.linalg.solve(lower, self._turned.T @ (share * self._shift))
            quadratic += prior.coefficients * float(pull @ pull)
        return 0.5 * (quadratic - determinant)

def log_hyperprior(prior: Prior) -> float:
    """Of log sqrt(c) and log sqrt(z), up to a constant; a variance of 0 is one that the model lacks."""
    total = 0.0
    for variance, (mean, deviation) in zip(prior, (COEFFICIENTS, ITEMS), strict=True):
        if variance > 0.0:
            total -= 0.5 * ((0.5 * math.log(variance) - mean) / deviation) ** 2
    return total
