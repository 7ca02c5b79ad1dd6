"""Rules by which a Gaussian times the likelihood of a pair's answers is integrated.

Where answers are few and the Gaussian is narrow, the rules of `NORMAL` are the quicker ones: the narrower, the fewer
nodes. Else `ONE_SIDE` is stretched over either side of the mode, as far as exp(-`DEPTH`) of the density there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers


class Rule(NamedTuple):
    """Both (q,)."""

    nodes: Floats
    weights: Floats


ONE_SIDE = Rule(*(0.5 * (part + shift) for part, shift in zip(leggauss(32), (1.0, 0.0), strict=True)))
DEPTH = 30.0
HALVINGS = 8


class Rules(NamedTuple):
    """Rules for the standard normal distribution, one after another; each is for variances up to its own widest one.

    nodes, weights (q,)     begins (r + 1,)     widest (r,)
    """

    nodes: Floats
    weights: Floats
    begins: Integers
    widest: Floats

    @classmethod
    def of(cls, rules: Mapping[float, Rule]) -> Rules:
        begins = np.cumsum([0, *(len(rule.nodes) for rule in rules.values())])
        nodes, weights = (np.concatenate(part) for part in zip(*rules.values(), strict=True))
        return cls(nodes, weights, begins, np.array(list(rules)))


def hermite(nodes: int) -> Rule:
    places, weights = hermegauss(nodes)
    return Rule(places, weights / math.sqrt(2.0 * math.pi))


def trapezoidal(step: float, furthest: float) -> Rule:
    places = np.arange(-furthest, furthest + step, step)
    return Rule(places, step * np.exp(-0.5 * np.square(places)) / math.sqrt(2.0 * math.pi))


WIDEST, FURTHEST = 6.0, 20.0
NORMAL = Rules.of({0.1: hermite(16), 0.3: hermite(24), 0.5: trapezoidal(0.5, 9.0), WIDEST: trapezoidal(0.25, 10.0)})
"""Right to 11 digits for one answer, up to this variance and this |mean|: the logistic function's poles are pi from the
axis, so the error of a trapezoidal rule is about exp(-2 pi^2 / (step * standard deviation))."""
MOST_ANSWERS, MOST_PULL = 3.0, 3.0
"""For so many answers too (their poles are of a higher order), which move the mean by so many standard deviations."""


@compiled
def nodes_for(variance: float, rules: Rules) -> tuple[int, int]:
    """Of these rules, where the nodes of the narrowest that does begin and end."""
    rule = 0
    while rule < rules.widest.shape[0] - 1 and variance > rules.widest[rule]:
        rule += 1
    return rules.begins[rule], rules.begins[rule + 1]
