"""Likelihoods that tell kinds of answers apart: ties, strengths, and answers of people of different sharpness.

G  kinds of answers, those of a pair together     x = sharpness * m + lean     size: how many answers a kind has

A likelihood says of each kind which factor it is, by two numbers a and b:
    INTERVAL   sigma(x - a) sigma(b - x), that x plus logistic noise is between a and b, up to a constant
    BALANCE    exp(a x / 2) / (2 cosh(x / 2) + b), of Davidson (1970), up to a constant
Both are log-concave in x. With a = 0 and b infinite, an interval is the logistic likelihood of a win.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models.likelihood import Kinds, PairCounts
from ordinate.learning.quadrature import (
    DEPTH,
    FURTHEST,
    HALVINGS,
    MOST_ANSWERS,
    MOST_PULL,
    NORMAL,
    ONE_SIDE,
    WIDEST,
    Rule,
    Rules,
    nodes_for,
)

if TYPE_CHECKING:
    from ordinate.learning.models import Answers

INTERVAL, BALANCE = 0, 1


class Factors(NamedTuple):
    """The factor of each kind (G,): a, b, the logarithm of the constant, and how many answers it stands for."""

    a: Floats
    b: Floats
    constant: Floats
    size: Floats


@dataclass(frozen=True)
class ByKind:
    """A likelihood with `factors`; of pairs whose kinds nobody counted it is logistic, a tie half a win for each side.

    form  INTERVAL or BALANCE
    """

    form = INTERVAL

    def factors(self, kinds: Kinds) -> Factors:
        raise NotImplementedError

    def thresholds(self, kinds: Kinds) -> tuple[bool, bool]:
        """Whether these answers tell anything of the first threshold, and of the second."""
        raise NotImplementedError

    def at(self, place: tuple[int, ...], used: tuple[bool, bool]) -> Self:
        """With those thresholds that are used at these places of the grid."""
        raise NotImplementedError

    def evaluate(self, pairs: PairCounts, scores: Floats) -> tuple[float, Floats, Floats, Floats]:
        if pairs.kinds is None:
            return LOGISTIC.evaluate(pairs, scores)
        kinds, factors = pairs.kinds, self.factors(pairs.kinds)
        value, slope, weight, degree = by_kind(
            self.form,
            pairs.left,
            pairs.right,
            kinds.begins,
            kinds.sharpness,
            kinds.lean,
            *factors[:2],
            factors.size,
            scores,
        )
        return value + float(factors.size @ factors.constant), slope, weight, degree

    def weight(self, margin: Floats, answers: Answers) -> Floats:
        kinds = Kinds.single(answers)
        if kinds is None:
            return LOGISTIC.weight(margin, answers)
        a, b, _, size = self.factors(kinds)
        return singles(self.form, a, b, size, kinds.sharpness, kinds.lean, margin)[1]

    def slope(self, margin: Floats, answers: Answers) -> Floats:
        kinds = Kinds.single(answers)
        if kinds is None:
            return LOGISTIC.slope(margin, answers)
        a, b, _, size = self.factors(kinds)
        return singles(self.form, a, b, size, kinds.sharpness, kinds.lean, margin)[0]

    def wins(self, margin: Floats, variance: Floats, answers: Answers) -> Floats:
        from scipy.special import expit, log_expit

        kinds = Kinds.single(answers)
        if kinds is None:
            return LOGISTIC.wins(margin, variance, answers)
        place = kinds.sharpness * margin + kinds.lean
        scale = np.sqrt(1.0 + np.pi * np.square(kinds.sharpness) * variance / 8.0)
        odds: Floats = place / scale
        if self.shift != 0.0:
            left, right = (log_expit((side * place - self.shift) / scale) for side in (1.0, -1.0))
            odds = left - right
        chance: Floats = expit(odds)
        return chance

    @property
    def shift(self) -> float:
        """The odds of left and right, where it is no tie, are those of sigma(x - shift) and sigma(-x - shift)."""
        return 0.0

    def tilted(self, pairs: PairCounts, mean: Floats, variance: Floats) -> Tilted:
        """(p,) each of N(mean, variance) times the likelihood of a pair: log integral, mean and variance."""
        assert pairs.kinds is not None
        kinds, factors = pairs.kinds, self.factors(pairs.kinds)
        each = (kinds.sharpness, kinds.lean, factors.a, factors.b, factors.size)
        logarithm, first, second = integrate(self.form, kinds.begins, *each, mean, variance, ONE_SIDE, NORMAL)
        if len(kinds.begins) > 1:
            logarithm += np.add.reduceat(factors.size * factors.constant, kinds.begins[:-1])
        return logarithm, first, second


Tilted = tuple[Floats, Floats, Floats]


@compiled
def log_factor(form: int, a: float, b: float, x: float) -> float:
    """The logarithm of the factor, without its constant."""
    if form == 1:
        decay = math.exp(-0.5 * abs(x))
        return 0.5 * a * x - 0.5 * abs(x) - math.log1p(decay * decay + b * decay)
    low, high = a - x, x - b
    value = -math.log1p(math.exp(-abs(low))) - math.log1p(math.exp(-abs(high)))
    return value - max(low, 0.0) - max(high, 0.0)


@compiled
def factor(form: int, a: float, b: float, x: float) -> float:
    """The factor, without its constant, where x is not so large that it would overflow."""
    if form == 1:
        decay = math.exp(-0.5 * x)
        return math.exp(0.5 * (a - 1.0) * x) / (1.0 + decay * decay + b * decay)
    return 1.0 / ((1.0 + math.exp(a - x)) * (1.0 + math.exp(x - b)))


@compiled
def derivatives(form: int, a: float, b: float, x: float) -> tuple[float, float]:
    """The first derivative of the logarithm by x, and minus the second."""
    if form == 1:
        decay = math.exp(-0.5 * abs(x))
        total = 1.0 + decay * decay + b * decay  # 2 cosh + b, times the decay
        sinh = math.copysign(0.5 * (1.0 - decay * decay), x)
        cosh = 0.5 * (1.0 + decay * decay)
        return 0.5 * a - sinh / total, decay * (decay + 0.5 * b * cosh) / (total * total)
    down, up = math.exp(-abs(a - x)), math.exp(-abs(x - b))
    below, above = 1.0 / (1.0 + down), 1.0 / (1.0 + up)
    slope = (below if a > x else down * below) - (above if x > b else up * above)
    return slope, down * below * below + up * above * above


@compiled
def singles(
    form: int, a: Floats, b: Floats, size: Floats, sharpness: Floats, lean: Floats, margin: Floats
) -> tuple[Floats, Floats]:
    """(G,) the slope and the weight of each kind at its own margin."""
    slope, weight = np.empty(margin.shape[0]), np.empty(margin.shape[0])
    for kind in range(margin.shape[0]):
        first, curvature = derivatives(form, a[kind], b[kind], sharpness[kind] * margin[kind] + lean[kind])
        slope[kind] = size[kind] * sharpness[kind] * first
        weight[kind] = size[kind] * sharpness[kind] * sharpness[kind] * curvature
    return slope, weight


@compiled
def by_kind(
    form: int,
    left: Integers,
    right: Integers,
    begins: Integers,
    sharpness: Floats,
    lean: Floats,
    a: Floats,
    b: Floats,
    size: Floats,
    scores: Floats,
) -> tuple[float, Floats, Floats, Floats]:
    """As `Likelihood.evaluate`, without constants. The sum keeps what its rounding drops, as in `logistic`."""
    value, dropped = 0.0, 0.0
    slope, degree, weight = np.zeros(scores.shape[0]), np.zeros(scores.shape[0]), np.zeros(left.shape[0])
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        margin, push = scores[i] - scores[j], 0.0
        for kind in range(begins[pair], begins[pair + 1]):
            place = sharpness[kind] * margin + lean[kind]
            term = dropped + size[kind] * log_factor(form, a[kind], b[kind], place)
            before, value = value, value + term
            dropped = term - (value - before)
            first, second = derivatives(form, a[kind], b[kind], place)
            push += size[kind] * sharpness[kind] * first
            weight[pair] += size[kind] * sharpness[kind] * sharpness[kind] * second
        slope[i] += push
        slope[j] -= push
        degree[i] += weight[pair]
        degree[j] += weight[pair]
    return value, slope, weight, degree


@compiled
def integrate(
    form: int,
    begins: Integers,
    sharpness: Floats,
    lean: Floats,
    a: Floats,
    b: Floats,
    size: Floats,
    mean: Floats,
    variance: Floats,
    one_side: Rule,
    normal: Rules,
) -> tuple[Floats, Floats, Floats]:
    """As `ByKind.tilted`, without constants. Most pairs have few answers; these take a fifth of the time."""
    nodes, weights = one_side
    total_pairs = mean.shape[0]
    logarithm, first, second = np.empty(total_pairs), np.empty(total_pairs), np.empty(total_pairs)
    for pair in range(total_pairs):
        start, stop, centre, spread = begins[pair], begins[pair + 1], mean[pair], variance[pair]
        pull, answers, sharpest, furthest = 0.0, 0.0, 0.0, 0.0  # no factor's slope is above its sharpness
        for kind in range(start, stop):
            pull += size[kind] * sharpness[kind]
            answers += size[kind]
            sharpest = max(sharpest, sharpness[kind])
            furthest = max(furthest, abs(sharpness[kind] * centre + lean[kind]))
        if (
            answers <= MOST_ANSWERS
            and pull * math.sqrt(spread) <= MOST_PULL
            and sharpest * sharpest * spread <= WIDEST
            and furthest <= FURTHEST
        ):
            logarithm[pair], first[pair], second[pair] = integrate_few_answers(
                form, start, stop, sharpness, lean, a, b, size, centre, spread, sharpest, normal
            )
            continue
        reach = pull * spread
        low, high, mode = centre - reach, centre + reach, centre
        for _ in range(100):
            slope, curvature = (centre - mode) / spread, 1.0 / spread
            for kind in range(start, stop):
                by_x, by_x_twice = derivatives(form, a[kind], b[kind], sharpness[kind] * mode + lean[kind])
                slope += size[kind] * sharpness[kind] * by_x
                curvature += size[kind] * sharpness[kind] * sharpness[kind] * by_x_twice
            if slope > 0.0:
                low = mode
            else:
                high = mode
            moved = mode + slope / curvature
            if not low < moved < high:
                moved = 0.5 * (low + high)
            change, mode = abs(moved - mode), moved
            if change < 1e-6 * math.sqrt(spread):
                break
        highest = log_density(form, start, stop, sharpness, lean, a, b, size, centre, spread, mode)
        total, moment, square = 0.0, 0.0, 0.0
        for side in (-1.0, 1.0):
            # The density falls at least as fast as the Gaussian's.
            near, far = 0.0, math.sqrt(2.0 * DEPTH * spread)
            for _ in range(HALVINGS):
                point = mode + side * 0.5 * (near + far)
                at = log_density(form, start, stop, sharpness, lean, a, b, size, centre, spread, point)
                if at > highest - DEPTH:
                    near = 0.5 * (near + far)
                else:
                    far = 0.5 * (near + far)
            for node in range(nodes.shape[0]):
                step = side * far * nodes[node]
                at = log_density(form, start, stop, sharpness, lean, a, b, size, centre, spread, mode + step)
                mass = far * weights[node] * math.exp(at - highest)
                total += mass
                moment += mass * step
                square += mass * step * step
        offset = moment / total
        logarithm[pair] = highest + math.log(total / math.sqrt(2.0 * math.pi * spread))
        first[pair], second[pair] = mode + offset, square / total - offset * offset
    return logarithm, first, second


@compiled
def integrate_few_answers(
    form: int,
    start: int,
    stop: int,
    sharpness: Floats,
    lean: Floats,
    a: Floats,
    b: Floats,
    size: Floats,
    mean: float,
    variance: float,
    sharpest: float,
    normal: Rules,
) -> tuple[float, float, float]:
    """As `ByKind.tilted`, of one pair; `sharpest` times its margin has the largest variance."""
    nodes, weights = normal.nodes, normal.weights
    begin, end = nodes_for(sharpest * sharpest * variance, normal)
    deviation = math.sqrt(variance)
    total, moment, square = 0.0, 0.0, 0.0
    for node in range(begin, end):
        point, mass = mean + deviation * nodes[node], weights[node]
        for kind in range(start, stop):
            one = factor(form, a[kind], b[kind], sharpness[kind] * point + lean[kind])
            mass *= one if size[kind] == 1.0 else one ** size[kind]
        total += mass
        moment += mass * nodes[node]
        square += mass * nodes[node] * nodes[node]
    offset = moment / total
    return math.log(total), mean + deviation * offset, variance * (square / total - offset * offset)


@compiled
def log_density(
    form: int,
    start: int,
    stop: int,
    sharpness: Floats,
    lean: Floats,
    a: Floats,
    b: Floats,
    size: Floats,
    centre: float,
    spread: float,
    point: float,
) -> float:
    """log of N(centre, spread) times the factors of the kinds from `start` to `stop`, up to a constant."""
    value = -0.5 * (point - centre) ** 2 / spread
    for kind in range(start, stop):
        value += size[kind] * log_factor(form, a[kind], b[kind], sharpness[kind] * point + lean[kind])
    return value
