"""The mutual information against adaptive quadrature, and what the paper's approximation does to far pairs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, ndtr

from ordinate.choosing.utilities.bald import Information
from ordinate.choosing.utilities.bald_paper import PaperInformation
from ordinate.data.pairs import AllPairs

information, paper_information = Information(), PaperInformation()


def coin(chance: float) -> float:
    return (
        0.0 if chance in (0.0, 1.0) else -(chance * math.log(chance) + (1 - chance) * math.log1p(-chance)) / math.log(2)
    )


def exact(margin: float, variance: float) -> float:
    """h(E sigma(f)) - E h(sigma(f)), in bits, by adaptive quadrature over f."""
    margin, deviation = abs(margin), math.sqrt(variance)

    def mean_of(function: object) -> float:
        def weighted(place: float) -> float:
            surprise = 1.0 / (1.0 + math.exp(min(margin + deviation * place, 700.0)))
            density = math.exp(-0.5 * place * place) / math.sqrt(2 * math.pi)
            return density * (coin(surprise) if function is coin else surprise)

        breaks = sorted({max(-margin / deviation, -14.0), max(-deviation, -14.0), 0.0})
        return float(quad(weighted, -15.0, 10.0, points=breaks, epsabs=1e-13, epsrel=1e-11, limit=500)[0])

    return coin(mean_of(None)) - mean_of(coin)


MARGINS = [0.0, 0.3, 1.0, 2.7, 6.0, 15.0]
VARIANCES = [1e-3, 0.03, 0.4, 1.0, 5.0, 40.0, 900.0]


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("margin", MARGINS)
def test_information_is_that_of_quadrature(margin: float, variance: float) -> None:
    found = information(np.array([margin, -margin]), np.array([variance, variance]))
    assert found[0] == found[1]
    assert found[0] == pytest.approx(exact(margin, variance), rel=1e-5, abs=1e-10)


def test_random_points_are_within_a_millionth_of_a_bit() -> None:
    rng = np.random.default_rng(0)
    margins, variances = rng.uniform(-12, 12, 200), 10 ** rng.uniform(-3, 3, 200)
    wanted = [exact(m, v) for m, v in zip(margins, variances, strict=True)]
    np.testing.assert_allclose(information(margins, variances), wanted, rtol=0, atol=1e-6)


def test_its_limits() -> None:
    """v -> 0: sigma'(m) v / (2 ln 2); v -> infinity: the whole bit; far pairs: nothing, in the right order."""
    margins = np.array([0.0, 1.0, 4.0])
    slopes = 1.0 / (2.0 + np.exp(margins) + np.exp(-margins))
    small = information(margins, np.full(3, 1e-8))
    np.testing.assert_allclose(small, slopes * 1e-8 / (2 * math.log(2)), rtol=1e-6)
    assert information(np.array([0.0]), np.array([1e12]))[0] == pytest.approx(1.0, abs=1e-5)
    assert information(np.array([3.0]), np.array([0.0]))[0] == 0.0
    for place in (0.5, 2.0, 4.0):  # v -> infinity at m / sqrt(v): the answer tells the sign
        sign = information(np.array([place * 1e6]), np.array([1e12]))[0]
        assert sign == pytest.approx(coin(float(ndtr(-place))), rel=1e-4)
    far = information(np.array([20.0, 30.0, 40.0, 100.0, 1e4]), np.ones(5))
    assert (np.diff(far) < 0).all()
    assert far[-1] == 0.0


def test_the_papers_form_is_its_formula_and_overrates_far_pairs() -> None:
    """At m = 4, v = 0.1 it sees 0.077 bits where there are 0.0013."""
    point = np.array([4.0]), np.array([0.1])
    assert paper_information(*point)[0] == pytest.approx(0.077, abs=5e-4)
    assert information(*point)[0] == pytest.approx(0.0013, abs=5e-5)
    c2 = 4 * math.log(2)
    expected = coin(1 / (1 + math.exp(-1 / math.sqrt(1 + math.pi / 4)))) - math.sqrt(c2 / (2 + c2)) * math.exp(
        -1 / (2 * (2 + c2))
    )
    assert paper_information(np.array([-1.0]), np.array([2.0]))[0] == pytest.approx(expected, rel=1e-12)


def test_far_pairs_do_not_attract_exact_bald() -> None:
    """Among well-known scores, the exact form asks close items, the paper's form far ones."""
    pool = AllPairs.of(np.zeros(9, dtype=np.int64)).sample(99, np.random.default_rng(0))
    scores = np.arange(9.0)
    margins, variances = scores[pool.left] - scores[pool.right], np.full(36, 0.01)
    assert abs(margins[np.argmax(information(margins, variances))]) == 1.0
    assert abs(margins[np.argmax(paper_information(margins, variances))]) >= 3.0


def test_information_rises_with_the_variance_as_closely_as_it_says() -> None:
    """What lazy search rests on: no fall beyond the accuracy of the table, and no slope above the one it states."""
    rng = np.random.default_rng(0)
    margins = np.concatenate([np.zeros(50), rng.uniform(0, 8, 400), rng.uniform(0, 60, 200)])
    variances = np.concatenate([[0.0], np.geomspace(1e-8, 1e4, 3000)])
    for margin in margins:
        bits = information(np.full(len(variances), margin), variances)
        highest = np.maximum.accumulate(bits)
        assert (highest <= bits * (1.0 + information.relative_tolerance) + information.absolute_tolerance).all()
        slopes = np.diff(bits) / np.diff(variances)
        assert slopes.max() <= information.max_slope


def test_an_answer_tells_less_of_the_middle_of_scores_the_farther_apart_they_are() -> None:
    """The step of the proof in `Information` that is not proved: (E sigma'(f))^2 / (p (1 - p)) falls with m >= 0."""
    noise = np.arange(-60.0, 60.05, 0.1)
    density = 0.1 / (2.0 + np.exp(noise) + np.exp(-noise))
    for variance in np.geomspace(1.0, 1e4, 25):
        margins = np.linspace(0.0, 10.0 + 6.0 * math.sqrt(variance), 400)
        places = (margins[:, None] - noise) / math.sqrt(variance)
        chance, other = ndtr(places) @ density, ndtr(-places) @ density
        slope = np.exp(-0.5 * places**2) @ density / math.sqrt(2.0 * math.pi * variance)
        assert (np.diff(np.log(slope**2 / (chance * other))) < 0.0).all()
    # A small variance needs the integral over the scores instead.
    nodes = np.arange(-9.0, 9.05, 0.1)
    weights = 0.1 / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * nodes**2)
    for variance in np.geomspace(1e-4, 1.0, 15):
        scores = np.linspace(0.0, 30.0, 400)[:, None] + math.sqrt(variance) * nodes
        chance, other = expit(scores) @ weights, expit(-scores) @ weights
        slope = (expit(scores) * expit(-scores)) @ weights
        assert (np.diff(np.log(slope**2 / (chance * other))) < 0.0).all()


@settings(max_examples=300)
@given(
    margin=st.one_of(st.floats(0.0, 80.0), st.floats(0.0, 1.0)),
    log_variance=st.floats(-12.0, 8.0),
    log_rise=st.floats(-9.0, 2.0),
)
def test_nothing_found_breaks_what_lazy_search_rests_on(margin: float, log_variance: float, log_rise: float) -> None:
    """The search for a fall is steered to where the utility falls most, beyond what it says of itself."""
    lower = 10.0**log_variance
    variances = np.array([lower, lower * (1.0 + 10.0**log_rise)])
    before, after = information(np.full(2, margin), variances)
    excess = before - after * (1.0 + information.relative_tolerance)
    target(float(excess))
    assert excess <= information.absolute_tolerance
    assert after - before <= information.max_slope * (variances[1] - variances[0]) * (1.0 + 1e-6) + 1e-12
