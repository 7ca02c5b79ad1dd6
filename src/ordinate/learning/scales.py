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
from collections.abc import Callable, Sequence

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.learning.expectation_propagation import Propagation
from ordinate.learning.models import Answers, ScaledModel
from ordinate.learning.models.map_estimate import Compared, Prior
from ordinate.learning.models.sites import Sites

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
_ROUGHLY = 0.01
"""As far as a margin's mean may still move, in standard deviations, where scales are moved next."""
_MOST_ITEMS = 1000
"""Two numbers need no more items; the evidence takes n^3."""


def fitted_scales(model: ScaledModel, features: Floats, answers: Answers) -> Prior:
    """The most probable prior variances, to 5 % of a standard deviation; the search starts at the model's own."""
    propagation = Propagation(model, features, among_most_compared(answers, _MOST_ITEMS))
    place, seen = (0, 0), []

    def prior_at(place: tuple[int, int]) -> Prior:
        scaled = (variance * math.exp(2.0 * _STEP * steps) for variance, steps in zip(model.prior, place, strict=True))
        return Prior(*scaled)

    for _ in range(_MOST_ROUNDS):
        propagation.propagate(prior_at(place), _ROUGHLY)
        evidence = Evidence(propagation.compared, propagation.sites)

        def value(place: tuple[int, int], evidence: Evidence = evidence) -> float:
            return evidence(prior_at(place)) + log_hyperprior(prior_at(place))

        place = climb(value, place, [axis for axis, variance in enumerate(model.prior) if variance > 0.0])
        bonus = float(os.environ.get("BONUS", "-99"))
        if model.prior.items and model.prior.coefficients and bonus > -50:
            def valueless(at): return evidence(prior_at(at)) + log_hyperprior(Prior(prior_at(at).coefficients, 0.0))
            none = climb(valueless, (place[0], -_FURTHEST), [0])
            if valueless(none) + bonus > value(place): place = none
        if place in seen:
            break
        seen.append(place)
    return prior_at(place)


def among_most_compared(answers: Answers, most: int) -> Answers:
    """The answers among at most `most` items: those left after the item with the fewest answers has gone repeatedly."""
    rows, inside = np.unique(np.concatenate(answers[:2]), return_inverse=True)
    if len(rows) <= most:
        return answers
    left, right = np.split(inside.reshape(-1), 2)
    kept = np.ones(len(left), dtype=np.bool_)
    remains = np.ones(len(rows), dtype=np.bool_)
    while remains.sum() > most:
        degree = np.bincount(left[kept], minlength=len(rows)) + np.bincount(right[kept], minlength=len(rows))
        # At most a tenth at once, so that the degrees stay nearly right.
        excess = min(int(remains.sum()) - most, int(remains.sum()) // 10 + 1)
        places = np.flatnonzero(remains)
        remains[places[np.argsort(degree[places], kind="stable")[:excess]]] = False
        kept = remains[left] & remains[right]
    return Answers(*(part[kept] for part in answers))


def climb(value: Callable[[tuple[int, int]], float], start: tuple[int, int], axes: Sequence[int]) -> tuple[int, int]:
    """The highest point near `start` on the grid, by ever smaller steps along these axes."""
    known: dict[tuple[int, int], float] = {}

    def at(place: tuple[int, int]) -> float:
        if place not in known:
            known[place] = value(place)
        return known[place]

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
