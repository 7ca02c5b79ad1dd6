"""The prior variances that the answers speak for: type-II maximum likelihood by expectation propagation.

t  compared items     k  feature columns     X (t, k) features     K = c X X^T + z I, the prior covariance of the scores
A (t, t)  Laplacian of the sites' weights     b (t,)  their shifts by item     c, z  variances of theta and zeta

With sites fixed, the evidence as a function of c and z is, up to a constant,
    -1/2 log |I + K A| + 1/2 b^T (K^-1 + A)^-1 b,
and at EP's fixed point its gradient is that of EP's own evidence (Seeger 2005; Rasmussen and Williams 2006, 5.5.2). So
they are moved with the sites fixed and the sites are propagated again, in turns.

Where features come in blocks, each has a variance of its own in the place of c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats
from ordinate.learning.expectation_propagation import Propagation
from ordinate.learning.models import Answers, SiteModel
from ordinate.learning.models.blocks import InBlocks
from ordinate.learning.models.contextual import information
from ordinate.learning.models.likelihood import sum_by_item
from ordinate.learning.models.map_estimate import Compared, Prior
from ordinate.learning.models.sites import Sites

_LOG_DEVIATION = Prior(0.5 * math.log(2.0), -1.0)
_SPREAD = Prior(1.5, 3.0)
"""Mean and standard deviation, before any answer, of log sqrt(c) and log sqrt(z). Terms per item may nearly vanish."""
_BLOCK_SPREAD = 3.0
"""That of each of several blocks of features: some may say nothing, and nearly vanish."""
_NEARLY_NONE = 6e-6
"""The variance that stands for no terms per item: the models divide by it."""
_STEP = 0.05
"""Standard deviations are found to 5 %. On such a grid rounding does not matter, so every machine finds the same."""
_STRIDES = (16, 4, 1)
_FURTHEST = 120
"""Steps from the start: a factor of e^6 in each standard deviation."""
_MOST_ROUNDS = 25
ROUGHLY = 0.01
"""As far as a margin's mean may still move, in standard deviations, where the variances are moved next."""
MOST_ITEMS = 1000
"""Two numbers need no more items; the evidence takes n^3."""

Place = tuple[int, ...]
"""Steps along the axes of the grid: that of c, or of each block's variance, and that of z."""


def fitted_prior(model: SiteModel, features: Floats, answers: Answers, features_alone: float = 0.0) -> Prior:
    """The most probable prior variances, to 5 % of a standard deviation; the search starts at the model's own.

    Where the model has both terms, without terms per item if that is as probable.

    features_alone  log odds, before any answer, that there are no terms per item
    """
    answers = among_most_compared(answers, MOST_ITEMS)
    prior, probability = _most_probable(Propagation(model, features, answers), model.prior)
    if not (prior.coefficients and prior.items):
        return prior
    start = model.prior._replace(items=0.0)
    without, probability_without = _most_probable(Propagation(model, features, answers), start)
    if probability_without + features_alone > probability:
        return without._replace(items=_NEARLY_NONE)
    return prior


def _most_probable(propagation: Propagation, start: Prior) -> tuple[Prior, float]:
    """The place of the grid about `start` with the highest probability, and its logarithm up to a constant.

    Found in turns: the highest place for the sites, then the sites for that place.
    """
    number = max(len(start.blocks), 1)
    highest: Place = (0,) * (number + 1)
    seen = set[Place]()
    axes = [*range(number if start.coefficients > 0.0 else 0), *([number] if start.items > 0.0 else [])]
    for _ in range(_MOST_ROUNDS):
        place = highest
        propagation = propagation.at(_prior_at(start, place))
        propagation.propagate(_prior_at(start, place), ROUGHLY)
        evidence = Evidence(propagation.compared, propagation.sites)

        def probability(place: Place, evidence: Evidence = evidence, model: SiteModel = propagation.model) -> float:
            prior = _prior_at(start, place)
            return evidence(prior, _relative(model, prior)) + log_hyperprior(prior)

        seen.add(place)
        highest = climb(probability, place, axes)
        if highest in seen:
            break
    prior = _prior_at(start, place)
    return prior, probability(place) + propagation.log_normaliser(prior)


def _prior_at(start: Prior, place: Place) -> Prior:
    *moved, items = (math.exp(2.0 * _STEP * steps) for steps in place)
    if start.blocks:
        blocks = tuple(variance * factor for variance, factor in zip(start.blocks, moved, strict=True))
        return Prior(start.coefficients, start.items * items, blocks)
    return Prior(start.coefficients * moved[0], start.items * items)


def _relative(model: SiteModel, prior: Prior) -> Floats | None:
    """(k,) the variances of the columns' coefficients, in the unit of the model's own; None where they share one."""
    if not isinstance(model, InBlocks):
        return None
    return model.by_column(prior.blocks) / model.by_column(model.variances)


def among_most_compared(answers: Answers, most: int) -> Answers:
    """The answers among at most `most` items: those left after the item with the fewest answers has gone repeatedly."""
    rows, inside = answers.of_compared()
    if len(rows) <= most:
        return answers
    left, right = inside.left, inside.right
    kept = np.ones(len(left), dtype=np.bool_)
    remains = np.ones(len(rows), dtype=np.bool_)
    while remains.sum() > most:
        degree = np.bincount(left[kept], minlength=len(rows)) + np.bincount(right[kept], minlength=len(rows))
        # At most a tenth at once, so that the degrees stay nearly right.
        excess = min(int(remains.sum()) - most, int(remains.sum()) // 10 + 1)
        places = np.flatnonzero(remains)
        remains[places[np.argsort(degree[places], kind="stable")[:excess]]] = False
        kept = remains[left] & remains[right]
    return answers.those(kept)


def climb(value: Callable[[Place], float], start: Place, axes: Sequence[int]) -> Place:
    """The highest point near `start` on the grid, by ever smaller steps along these axes."""
    known: dict[Place, float] = {}

    def at(place: Place) -> float:
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
                    near.append(tuple(moved))
            highest = max(near, key=at)
            if highest == best:
                break
            best = highest
    return best


class Evidence:
    """As a function of the prior variances, for fixed sites.

    A = Q T Q^T with T tridiagonal, for which I + z T is solved in no time, whatever z is.
    """

    def __init__(self, compared: Compared, sites: Sites) -> None:
        self._compared, self._sites = compared, sites
        self._shift = sum_by_item(compared.pairs, sites.shift, len(compared.rows), -1.0)
        self._known: dict[float, _Part] = {}

    def __call__(self, prior: Prior, columns: Floats | None = None) -> float:
        """log evidence, up to a constant; columns (k,): what the variance of each coefficient is multiplied by."""
        from scipy.linalg import blas, cholesky

        if prior.items not in self._known:
            terms = prior.items > 0.0 and len(self._shift) > 0
            self._known[prior.items] = self._with_items(prior.items) if terms else self._without_items()
        determinant, quadratic, information, pull = self._known[prior.items]
        if len(information) and prior.coefficients > 0.0:
            matrix = prior.coefficients * information
            if columns is not None:
                root = np.sqrt(columns)
                matrix, pull = root[:, None] * matrix * root, root * pull
            matrix.flat[:: len(matrix) + 1] += 1.0
            # The transpose is what LAPACK takes as its own, so nothing is copied.
            lower = cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
            determinant += 2.0 * float(np.log(np.diagonal(lower)).sum())
            solved = blas.dtrsv(lower, pull, lower=1)
            quadratic += prior.coefficients * float(solved @ solved)
        return 0.5 * (quadratic - determinant)

    def _without_items(self) -> _Part:
        _, features, pairs = self._compared
        return _Part(0.0, 0.0, information(features, pairs, self._sites.weight), features.T @ self._shift)

    def _with_items(self, variance: float) -> _Part:
        diagonal, beside, turned = self._tridiagonal
        pivots, solved, flow = solve_tridiagonal(diagonal, beside, variance, turned)
        features, shift = turned[:, :-1], turned[:, -1]
        return _Part(
            float(np.log(pivots).sum()),
            variance * float(shift @ solved[:, -1]),
            features.T @ flow[:, :-1],
            features.T @ solved[:, -1],
        )

    @cached_property
    def _tridiagonal(self) -> tuple[Floats, Floats, Floats]:
        """The diagonal of T (t,), what is beside it (t - 1,), and Q^T [X, b] (t, k + 1)."""
        from scipy.linalg import lapack

        pairs, weight = self._compared.pairs, self._sites.weight
        items = len(self._shift)
        laplacian = np.zeros((items, items), order="F")
        laplacian[pairs.right, pairs.left] = -weight
        laplacian.flat[:: items + 1] = sum_by_item(pairs, weight, items)
        turned = np.asfortranarray(np.column_stack([self._compared.features, self._shift]))
        size = int(lapack.dsytrd_lwork(items, lower=1)[0])
        reflectors, diagonal, beside, scales, _ = lapack.dsytrd(laplacian, lower=1, lwork=size, overwrite_a=1)
        # The first row is turned by none of the reflectors, which stand below the diagonal as those of a QR do.
        turned[1:] = lapack.dormqr("L", "T", reflectors[1:, :-1], scales, turned[1:], 64 * turned.shape[1])[0]
        return diagonal, beside, np.ascontiguousarray(turned)


class _Part(NamedTuple):
    """What of the evidence follows from z alone.

    determinant  log |I + z A|
    quadratic    z b^T (I + z A)^-1 b
    information  (k, k) X^T A (I + z A)^-1 X
    pull         (k,) X^T (I + z A)^-1 b
    """

    determinant: float
    quadratic: float
    information: Floats
    pull: Floats


@compiled
def solve_tridiagonal(
    diagonal: Floats, beside: Floats, variance: float, columns: Floats
) -> tuple[Floats, Floats, Floats]:
    """The pivots (t,) of I + variance T, S = (I + variance T)^-1 columns, and T S, both (t, c).

    T is positive semi-definite and tridiagonal. Rows are gone over on their own, so that loops are vectorised.
    """
    rows, width = columns.shape
    pivots, ratios = np.empty(rows), np.zeros(rows)
    solved, product = np.empty_like(columns), np.empty_like(columns)
    for row in range(rows):
        pivots[row] = 1.0 + variance * diagonal[row]
        here, given = solved[row], columns[row]
        for column in range(width):
            here[column] = given[column]
        if row:
            ratio = variance * beside[row - 1] / pivots[row - 1]
            pivots[row] -= ratio * variance * beside[row - 1]
            ratios[row - 1], above = ratio, solved[row - 1]
            for column in range(width):
                here[column] -= ratio * above[column]
    for row in range(rows - 1, -1, -1):
        here, below, ratio = solved[row], solved[min(row + 1, rows - 1)], ratios[row]
        for column in range(width):
            here[column] = here[column] / pivots[row] - ratio * below[column]
    for row in range(rows):
        up = beside[row - 1] if row else 0.0
        down = beside[row] if row < rows - 1 else 0.0
        above, here, below, total = solved[max(row - 1, 0)], solved[row], solved[min(row + 1, rows - 1)], product[row]
        for column in range(width):
            total[column] = up * above[column] + diagonal[row] * here[column] + down * below[column]
    return pivots, solved, product


def log_hyperprior(prior: Prior) -> float:
    """Of log sqrt(c) and log sqrt(z), up to a constant; a variance of 0 is one that the model lacks.

    Where there are several blocks of features, they share the variance that one block is expected to have.
    """
    terms = [(prior.coefficients, _LOG_DEVIATION.coefficients, _SPREAD.coefficients)]
    if prior.blocks:
        mean = _LOG_DEVIATION.coefficients - 0.5 * math.log(len(prior.blocks))
        terms = [(prior.coefficients * one / len(prior.blocks), mean, _BLOCK_SPREAD) for one in prior.blocks]
    terms.append((prior.items, _LOG_DEVIATION.items, _SPREAD.items))
    total = 0.0
    for variance, mean, deviation in terms:
        if variance > 0.0:
            total -= 0.5 * ((0.5 * math.log(variance) - mean) / deviation) ** 2
    return total
