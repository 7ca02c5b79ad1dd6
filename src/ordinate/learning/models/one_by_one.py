"""The compiled loops that process one answer after another: factored covariance, sequential updates, TrueSkill.

n  items     k  columns of the features     outcome 1: left won, 0: right won, 0.5: a tie
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.logistic import logistic_slope, sigmoid


@compiled
def replay_factored(
    features: Floats, left: Integers, right: Integers, slope: Floats, theta_covariance: Floats, residual: Floats
) -> None:
    """Rank-one updates, in place, of the factored hybrid for every answer in turn, cross terms dropped.

    features (n, k), slope (T,) = sigma' at the MAP, theta_covariance (k, k), residual (n,).
    """
    columns = features.shape[1]
    contrast = np.empty(columns)
    for answer in range(left.shape[0]):
        i, j, weight = left[answer], right[answer], slope[answer]
        for column in range(columns):
            contrast[column] = features[i, column] - features[j, column]
        direction = theta_covariance @ contrast
        variance = residual[i] + residual[j]
        for column in range(columns):
            variance += direction[column] * contrast[column]
        shrink = weight / (1.0 + weight * variance)
        for row in range(columns):
            scaled = shrink * direction[row]
            for column in range(columns):
                theta_covariance[row, column] -= scaled * direction[column]
        residual[i] -= shrink * residual[i] * residual[i]
        residual[j] -= shrink * residual[j] * residual[j]


@compiled
def replay_trueskill(
    left: Integers,
    right: Integers,
    outcome: Floats,
    beta: float,
    tau: float,
    draw_margin: float,
    mean: Floats,
    variance: Floats,
) -> None:
    """TrueSkill's moment matching, in place, for every answer in turn (Herbrich, Minka and Graepel 2006, table 1).

    mean, variance (n,); outcome 1 left won, 0 right won, 0.5 a draw.
    """
    for answer in range(left.shape[0]):
        i, j = left[answer], right[answer]
        if outcome[answer] == 0.0:
            i, j = j, i
        own, other = variance[i] + tau * tau, variance[j] + tau * tau
        scale = math.sqrt(2.0 * beta * beta + own + other)
        gap, margin = (mean[i] - mean[j]) / scale, draw_margin / scale
        if outcome[answer] == 0.5:
            shift, shrink = draw_correction(gap, margin)
        else:
            shift, shrink = win_correction(gap - margin)
        mean[i] += own / scale * shift
        mean[j] -= other / scale * shift
        variance[i] = own * (1.0 - own / (scale * scale) * shrink)
        variance[j] = other * (1.0 - other / (scale * scale) * shrink)


@compiled
def win_correction(place: float) -> tuple[float, float]:
    """V = phi / Phi and W = V (V + place) at a standardised place; stable far into the lower tail."""
    if place > -5.0:
        density = math.exp(-0.5 * place * place) / math.sqrt(2.0 * math.pi)
        shift = density / (0.5 * math.erfc(-place / math.sqrt(2.0)))
        return shift, shift * (shift + place)
    # Laplace's continued fraction: V = y + 1 / (y + 2 / (y + 3 / ...)), y = -place.
    excess = 0.0
    for term in range(80, 0, -1):
        excess = term / (excess - place)
    return excess - place, min((excess - place) * excess, 1.0)


@compiled
def draw_correction(gap: float, margin: float) -> tuple[float, float]:
    """V and W of a draw: the difference, standard normal around `gap`, lies within `margin` of 0."""
    distance = abs(gap)
    upper, lower = margin - distance, -margin - distance
    mass = 0.5 * (math.erfc(-upper / math.sqrt(2.0)) - math.erfc(-lower / math.sqrt(2.0)))
    if margin < 1e-5:
        # A draw margin of 0: the difference is seen to be 0, up to the noise.
        return -gap, 1.0
    if mass < 1e-200:
        # Only the nearer end of the margin matters.
        shift, shrink = win_correction(upper)
        return math.copysign(1.0, -gap) * shift, shrink
    at_upper = math.exp(-0.5 * upper * upper) / math.sqrt(2.0 * math.pi)
    at_lower = math.exp(-0.5 * lower * lower) / math.sqrt(2.0 * math.pi)
    shift = (at_lower - at_upper) / mass
    shrink = shift * shift + (upper * at_upper - lower * at_lower) / mass
    return (shift if gap >= 0.0 else -shift), shrink


@compiled
def replay_sequential(
    features: Floats,
    left: Integers,
    right: Integers,
    outcome: Floats,
    theta: Floats,
    theta_covariance: Floats,
    zeta: Floats,
    residual: Floats,
) -> None:
    """Sequential Laplace updates, in place: each answer's MAP under the Gaussian that the answers before it left.

    features (n, k), theta (k,), theta_covariance (k, k), zeta and residual (n,); cross terms are dropped.
    """
    columns = features.shape[1]
    contrast = np.empty(columns)
    for answer in range(left.shape[0]):
        i, j = left[answer], right[answer]
        margin = zeta[i] - zeta[j]
        for column in range(columns):
            contrast[column] = features[i, column] - features[j, column]
            margin += contrast[column] * theta[column]
        direction = theta_covariance @ contrast
        variance = residual[i] + residual[j]
        for column in range(columns):
            variance += direction[column] * contrast[column]
        after = margin_after(margin, variance, outcome[answer])
        push = outcome[answer] - sigmoid(after)
        slope = logistic_slope(after)
        shrink = slope / (1.0 + slope * variance)
        for row in range(columns):
            theta[row] += push * direction[row]
            scaled = shrink * direction[row]
            for column in range(columns):
                theta_covariance[row, column] -= scaled * direction[column]
        zeta[i] += push * residual[i]
        zeta[j] -= push * residual[j]
        residual[i] -= shrink * residual[i] * residual[i]
        residual[j] -= shrink * residual[j] * residual[j]


@compiled
def margin_after(margin: float, variance: float, outcome: float) -> float:
    """The root x of x = margin + variance (outcome - sigma(x)): the MAP of one answer is a problem in one unknown."""
    low, high = margin + variance * (outcome - 1.0), margin + variance * outcome
    place, step = margin, np.inf
    for _ in range(200):
        excess = place - margin - variance * (outcome - sigmoid(place))
        if excess > 0.0:
            high = place
        else:
            low = place
        moved = place - excess / (1.0 + variance * logistic_slope(place))
        # Newton steps that do not halve may go to and fro between the flat parts of sigma for ever.
        if not low <= moved <= high or abs(moved - place) > 0.5 * step:
            moved = 0.5 * (low + high)
        step = abs(moved - place)
        if step <= 1e-14 * (1.0 + abs(place)):
            return moved
        place = moved
    return place
