"""BALD: how much an answer tells about the two scores, in bits (Houlsby et al. 2011).

    h  entropy of a coin, in bits, of its log-odds     m, v  mean and variance of f_i - f_j

The mutual information h(E sigma(f)) - E h(sigma(f)) under f ~ N(m, v) has no closed form; here it is interpolated in a
table, to within 1e-6 bits. The paper's approximation of it is in `bald_paper`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ordinate.choosing.search import MonotoneUtility
from ordinate.compiled import compiled
from ordinate.data.arrays import Floats


def entropy(log_odds: Floats) -> Floats:
    """h(sigma(x)) in bits."""
    size = np.abs(log_odds)
    decay = np.exp(-size)
    bits: Floats = (np.log1p(decay) + size * decay / (1.0 + decay)) / math.log(2.0)
    return bits


# The table holds g = log(I (v + 4) / v) over a = |m| / sqrt(v + 4) and w = 1 / sqrt(v + 4): smooth from v = 0 (w = 1/2)
# to v = infinity (w = 0), and of the same relative accuracy for large and small information.
_FLOOR = 4.0
_WIDEST = 12.0
_ROWS, _COLUMNS = 121, 61


@dataclass(frozen=True)
class Information(MonotoneUtility):
    """The mutual information in bits, within 1e-6 and a relative 1e-5.

    It increases with v, the table up to its own accuracy. In nats, with f ~ N(m, v), p = E sigma(f) and
    l = log(p / (1 - p)):

    1. dI/dm = E[(f - l) sigma'(f)], by (h o sigma)'(f) = -f sigma'(f).
    2. dI/dv = E[(f - m) (f - l) sigma'(f)] / (2 v), by the heat equation d/dv E g = E g'' / 2 and Stein's lemma. With
       the mean a and the variance b of f under the density ~ sigma'(f) N(f; m, v), that has the sign of
       b + (a - m) (a - l).
    3. Let m >= 0. Then a <= m, and a <= l wherever dI/dm <= 0, by 1. So I increases with v where it decreases with |m|.
    4. dI/dv = d2I/dm2 / 2 + J / 2 with J = (E sigma'(f))^2 / (p (1 - p)), and I = 0 at v = 0: I is an integral over
       earlier v of J smoothed by Gaussians in m, and these preserve even functions that decrease with |m|.
    5. J, what an answer tells about m, decreases with |m|. A test checks this by quadrature; it is not proved here.
    """

    # At most its slope at m = 0, v = 0: 1 / (8 ln 2).
    max_slope = 0.2
    relative_tolerance = 3e-5
    absolute_tolerance = 1e-9

    def __call__(self, margin: Floats, variance: Floats) -> Floats:
        widened = variance + _FLOOR
        root = np.sqrt(widened)
        place = np.abs(margin) / root
        row = np.minimum(place, _WIDEST) * ((_ROWS - 1) / _WIDEST)
        logs = interpolate(_table(), row, (_COLUMNS - 1) * math.sqrt(_FLOOR) / root)
        # Beyond the table, below 1e-10 bits, all that matters is that farther pairs have less.
        bits: Floats = np.exp(logs - _WIDEST * np.maximum(place - _WIDEST, 0.0)) * (variance / widened)
        return bits


@cache
def _table() -> Floats:
    """(rows, columns) of g, by the trapezoid rule: for an analytic integrand its error falls exponentially."""
    from scipy.special import expit, ndtr

    places = np.linspace(0.0, _WIDEST, _ROWS)
    widths = np.linspace(0.0, 1.0 / math.sqrt(_FLOOR), _COLUMNS)
    table = np.empty((_ROWS, _COLUMNS))
    for column, width in enumerate(widths[1:-1], start=1):
        variance = width**-2 - _FLOOR
        deviation = math.sqrt(variance)
        step = min(0.2, 0.6 / deviation)
        for row, place in enumerate(places):
            margin = place / width
            # The tail that matters where the answer is nearly certain lies about here below the mean.
            reach = 10.0 + min(deviation, margin / deviation)
            nodes = np.arange(math.floor(-reach / step), math.ceil(9.0 / step) + 1) * step
            weights = step / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * nodes**2)
            scores = margin + deviation * nodes
            surprise = float(weights @ expit(-scores))
            bits = _coin(surprise) - float(weights @ entropy(scores))
            table[row, column] = math.log(bits * (1.0 + _FLOOR / variance))
    # The limits: v -> infinity, where the answer tells the sign; v -> 0, where I -> sigma'(m) v / (2 ln 2).
    table[:, 0] = [math.log(_coin(float(ndtr(-place)))) for place in places]
    slopes = expit(places * math.sqrt(_FLOOR)) * expit(-places * math.sqrt(_FLOOR))
    table[:, -1] = np.log(_FLOOR * slopes / (2.0 * math.log(2.0)))
    return table


def _coin(chance: float) -> float:
    """The entropy, in bits, of a chance that may be tiny."""
    return -(chance * math.log(chance) + (1.0 - chance) * math.log1p(-chance)) / math.log(2.0)


@compiled
def interpolate(table: Floats, x: Floats, y: Floats) -> Floats:
    """(P,) values between the nodes of a table, at coordinates in units of its cells: Lagrange, 6 x 6 nodes."""
    values = np.empty(x.shape[0])
    across, along = np.empty(6), np.empty(6)
    for point in range(x.shape[0]):
        row = min(max(int(x[point]) - 2, 0), table.shape[0] - 6)
        column = min(max(int(y[point]) - 2, 0), table.shape[1] - 6)
        _lagrange_weights(x[point] - row, across)
        _lagrange_weights(y[point] - column, along)
        total = 0.0
        for a in range(6):
            inner = 0.0
            for b in range(6):
                inner += along[b] * table[row + a, column + b]
            total += across[a] * inner
        values[point] = total
    return values


@compiled
def _lagrange_weights(place: float, weights: Floats) -> None:
    """The weights (6,) of nodes at 0..5 for a value at `place`."""
    zero, one, two, three, four, five = place, place - 1.0, place - 2.0, place - 3.0, place - 4.0, place - 5.0
    weights[0] = one * two * three * four * five / -120.0
    weights[1] = zero * two * three * four * five / 24.0
    weights[2] = zero * one * three * four * five / -12.0
    weights[3] = zero * one * two * four * five / 12.0
    weights[4] = zero * one * two * three * five / -24.0
    weights[5] = zero * one * two * three * four / 120.0
