"""The rules for few answers, each where it is hardest: at the largest variance that it is used for."""

import numpy as np
import pytest
from scipy.special import expit

from ordinate.learning.quadrature import MOST_ANSWERS, MOST_PULL, NORMAL, Rule, nodes_for, trapezoidal

MEANS = np.linspace(-20.0, 20.0, 401)
FACTORS = {
    "a win": lambda x: expit(x),
    "three wins": lambda x: expit(x) ** 3,
    "two wins and a loss": lambda x: expit(x) ** 2 * expit(-x),
    "three narrow ties": lambda x: (expit(x + 0.1) * expit(0.1 - x)) ** 3,
    "three ties of Davidson": lambda x: (2.0 * np.cosh(0.5 * x) + 0.5) ** -3,
}


def moments(rule: Rule, variance: float, factor) -> np.ndarray:
    """(3, M) log integral, mean and variance of N(m, variance) times the factor, in standard deviations."""
    mass = factor(MEANS[:, None] + np.sqrt(variance) * rule.nodes) * rule.weights
    total = mass.sum(axis=1)
    first, second = mass @ rule.nodes / total, mass @ np.square(rule.nodes) / total
    return np.array([np.log(total), first, second - np.square(first)])


@pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
@pytest.mark.parametrize("rule", range(len(NORMAL.widest)))
def test_each_rule_is_right_up_to_its_widest_variance(rule, factor):
    widest = NORMAL.widest[rule]
    if factor is not FACTORS["a win"]:
        widest = min(widest, (MOST_PULL / MOST_ANSWERS) ** 2)
    begin, end = nodes_for(widest, NORMAL)
    used = Rule(NORMAL.nodes[begin:end], NORMAL.weights[begin:end])
    assert np.abs(moments(used, widest, factor) - moments(trapezoidal(0.05, 12.0), widest, factor)).max() < 1e-10


def test_the_narrowest_rule_that_does_is_used():
    ends = [nodes_for(variance, NORMAL) for variance in (0.0, *NORMAL.widest)]
    assert ends[0] == ends[1]
    assert [end - begin for begin, end in ends[1:]] == sorted({end - begin for begin, end in ends})
    assert ends[-1][1] == len(NORMAL.nodes) == len(NORMAL.weights)
