"""The forecast of the expected error, against laws that it must find and against draws from its own distribution."""

import math

import numpy as np
import pytest

from ordinate.learning.forecast import _EXPONENT, ROUND_TARGETS, Decline, round_target

SPREAD = 0.15


def law(exponent, counts):
    return [(count, 0.3 * (count / 100) ** -exponent) for count in counts]


def test_the_exponent_is_half_way_between_the_slope_and_the_anchor():
    assert Decline.of(law(0.6, range(50, 301, 50)), SPREAD).exponent == pytest.approx(0.6)
    assert Decline.of(law(0.4, range(50, 301, 50)), SPREAD).exponent == pytest.approx(0.5)
    # Of the earlier half of the answers nothing is used.
    assert Decline.of([(10, 0.01), *law(0.8, (150, 300))], SPREAD).exponent == pytest.approx(0.7)
    assert Decline.of([(300, 0.2)], SPREAD).exponent == pytest.approx(0.6)
    # An error that rises still falls some day.
    assert Decline.of([(150, 0.1), (300, 0.2)], SPREAD).exponent == pytest.approx(0.2)


def test_the_estimate_is_the_power_law():
    decline = Decline(1000, 0.2, 0.5, SPREAD)
    assert decline.answers_for(0.1).estimate == pytest.approx(3000)
    assert decline.error_after(4000).estimate == pytest.approx(0.1)


@pytest.mark.parametrize("target", [0.18, 0.1, 0.03])
@pytest.mark.parametrize("exponent", [0.3, 0.6])
def test_at_the_ends_of_the_answers_the_target_is_at_an_end_of_the_error(target, exponent):
    decline = Decline(1000, 0.2, exponent, SPREAD)
    more = decline.answers_for(target)
    assert 0 <= more.low < more.estimate < more.high < math.inf
    assert decline.error_after(1000 + math.ceil(more.high)).high == pytest.approx(target, rel=2e-3)
    if more.low > 0.0:
        assert decline.error_after(1000 + math.floor(more.low)).low == pytest.approx(target, rel=2e-3)


def test_the_intervals_hold_80_percent_of_what_they_describe():
    rng = np.random.default_rng(0)
    decline = Decline(500, 0.2, 0.55, SPREAD)
    level, slope = rng.normal(0.0, SPREAD, 20_000), rng.normal(0.55, _EXPONENT, 20_000)
    error = 0.2 * np.exp(level) * 2.0**-slope
    found = decline.error_after(1000)
    assert ((error > found.low) & (error < found.high)).mean() == pytest.approx(0.8, abs=0.01)
    needed = 500 * np.expm1((np.log(0.2 / 0.1) + level) / slope)
    more = decline.answers_for(0.1)
    assert ((needed > more.low) & (needed < more.high)).mean() == pytest.approx(0.8, abs=0.02)


def test_a_target_that_is_reached_takes_no_more_answers():
    decline = Decline(1000, 0.1, 0.6, SPREAD)
    assert decline.answers_for(0.3) == (0.0, 0.0, 0.0)
    near = decline.answers_for(0.105)
    assert near.estimate == near.low == 0.0 < near.high
    assert decline.error_after(10) == decline.error_after(1000)


def test_the_next_round_target_is_clearly_below():
    assert round_target(0.5) == 0.4
    assert round_target(0.13) == 0.1
    assert round_target(0.0001) == ROUND_TARGETS[-1]
