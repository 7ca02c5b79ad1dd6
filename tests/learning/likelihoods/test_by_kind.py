"""Likelihoods that tell ties and strengths apart: against plain probabilities, other optimisers, other packages."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import minimize
from scipy.special import expit
from tests.learning.likelihoods.conftest import require_derivatives

from ordinate.learning.expectation_propagation import tilted
from ordinate.learning.likelihoods.cumulative import Cumulative
from ordinate.learning.likelihoods.davidson import Davidson
from ordinate.learning.likelihoods.logistic import LOGISTIC
from ordinate.learning.models import Answers
from ordinate.learning.models.contextual import Contextual
from ordinate.learning.models.factored import FactoredHybrid
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.independent import Independent
from ordinate.learning.models.likelihood import MUCH, SLIGHTLY, PairCounts
from ordinate.learning.thresholds import fitted_likelihood

LIKELIHOODS = [Cumulative(0.7, 1.3), Cumulative(0.7), Cumulative(0.0, 1.3), Cumulative(), Davidson(0.9), Davidson()]
SIDES = {0.0: "right", 0.5: "tie", 1.0: "left"}


def chances(likelihood: Any, x: Any) -> dict[tuple[str, int], Any]:
    """(side, strength) -> probability at x, written out plainly; strength 0: the side alone."""
    if isinstance(likelihood, Davidson):
        total = np.exp(x / 2) + np.exp(-x / 2) + likelihood.tie
        sides = {"left": np.exp(x / 2) / total, "right": np.exp(-x / 2) / total, "tie": likelihood.tie / total}
        return {(side, strength): sides[side] for side in sides for strength in (0, SLIGHTLY, MUCH)}
    low, high = likelihood.tie, likelihood.tie + likelihood.slight
    left, right = expit(x - low), expit(-x - low)
    found = {("left", 0): left, ("right", 0): right, ("tie", 0): 1 - left - right}
    much = {"left": expit(x - high), "right": expit(-x - high)}
    for side in ("left", "right"):
        found[side, MUCH] = much[side] if likelihood.slight else found[side, 0]
        found[side, SLIGHTLY] = found[side, 0] - much[side] if likelihood.slight else found[side, 0]
    return found


def log_likelihood(likelihood: Any, answers: Answers, scores: Any) -> float:
    assert answers.strength is not None
    count = len(answers.outcome)
    sharpness = np.ones(count) if answers.sharpness is None else answers.sharpness
    share = np.ones(count) if answers.share is None else answers.share
    lean = np.zeros(count) if answers.lean is None else answers.lean
    total = 0.0
    for k in range(count):
        at = chances(likelihood, sharpness[k] * (scores[answers.left[k]] - scores[answers.right[k]]) + lean[k])
        side = SIDES[answers.outcome[k]]
        if side == "tie" and likelihood.tie == 0.0:
            total += share[k] * 0.5 * (np.log(at["left", 0]) + np.log(at["right", 0]))
        else:
            total += share[k] * np.log(at[side, int(answers.strength[k])])
    return float(total)


def drawn(rng: np.random.Generator, items: int, count: int, detailed: bool = True) -> Answers:
    left = rng.integers(0, items, count)
    outcome = rng.choice([0.0, 0.5, 1.0], count)
    strength = np.where(outcome == 0.5, 0, rng.integers(0, 3, count))
    return Answers(
        left,
        (left + rng.integers(1, items, count)) % items,
        outcome,
        strength,
        rng.choice([0.0, 0.4, 1.0, 2.5], count) if detailed else None,
        rng.choice([1.0, 0.5], count) if detailed else None,
        rng.choice([0.0, -0.6, 1.1], count) if detailed else None,
    )


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
@pytest.mark.parametrize("spread", [0.1, 1.0, 2.0])
def test_value_slopes_and_weights_are_those_of_the_plain_probabilities(likelihood: Any, spread: float) -> None:
    rng = np.random.default_rng(2)
    answers, scores = drawn(rng, 6, 60), spread * rng.normal(size=6)
    pairs = PairCounts.of(answers, 6)
    value, _, weight, _ = likelihood.evaluate(pairs, scores)
    assert value == pytest.approx(log_likelihood(likelihood, answers, scores), rel=1e-8)
    require_derivatives(likelihood, pairs, scores)
    alone = likelihood.weight(scores[answers.left] - scores[answers.right], answers)
    assert alone.sum() == pytest.approx(weight.sum(), rel=1e-9)
    assert (alone >= 0.0).all()


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
def test_it_stays_finite_far_into_the_tails(likelihood: Any) -> None:
    answers = drawn(np.random.default_rng(3), 4, 40)
    value, slope, weight, _ = likelihood.evaluate(PairCounts.of(answers, 4), np.array([-900.0, 0.0, 1.0, 900.0]))
    assert np.isfinite(value)
    assert np.isfinite(slope).all()
    assert (weight >= 0.0).all()


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
@pytest.mark.parametrize("kind", [Hybrid, Independent, Contextual, FactoredHybrid])
def test_a_fit_is_that_of_another_optimiser(likelihood: Any, kind: Any) -> None:
    rng = np.random.default_rng(4)
    answers, features = drawn(rng, 7, 50), rng.normal(size=(7, 2))
    model = kind(likelihood=likelihood)
    blocks = [] if kind is Independent else [features]
    blocks += [] if kind is Contextual else [np.eye(7)]
    design, columns = np.hstack(blocks), 0 if kind is Independent else 2
    precision = np.full(design.shape[1], 1.0)
    precision[:columns] = 0.5

    def loss(point: Any) -> float:
        return 0.5 * float(precision @ np.square(point)) - log_likelihood(likelihood, answers, design @ point)

    found = minimize(loss, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(model.fit(features, answers).mean, design @ found.x, atol=2e-6)


def test_kinds_are_counted_by_pair() -> None:
    answers = drawn(np.random.default_rng(5), 5, 200)
    pairs = PairCounts.of(answers, 5)
    assert pairs.kinds is not None
    found: Counter[tuple[float, ...]] = Counter()
    for pair in range(len(pairs.left)):
        for kind in range(pairs.kinds.begins[pair], pairs.kinds.begins[pair + 1]):
            _, outcome, strength, sharpness, lean, size = pairs.kinds
            what = outcome[kind], strength[kind], sharpness[kind], lean[kind]
            found[pairs.left[pair], pairs.right[pair], *what] = size[kind]
    expected: Counter[tuple[float, ...]] = Counter()
    for left, right, outcome, strength, sharpness, share, lean in zip(*answers, strict=True):  # type: ignore[arg-type]
        low, high, won, side = (left, right, outcome, lean) if left < right else (right, left, 1.0 - outcome, -lean)
        expected[low, high, won, strength, sharpness, side] += share
    assert found == pytest.approx(expected)


def test_where_nobody_counts_kinds_it_is_the_logistic_likelihood_to_the_last_bit() -> None:
    rng = np.random.default_rng(6)
    features, answers = rng.normal(size=(20, 3)), drawn(rng, 20, 80)._replace(strength=None)
    for likelihood in (Cumulative(), Davidson()):
        assert np.array_equal(
            Hybrid(likelihood=likelihood).fit(features, answers).mean, Hybrid().fit(features, answers).mean
        )


@pytest.mark.parametrize("likelihood", [Cumulative(0.7, 1.3), Cumulative(), Davidson(0.9)], ids=repr)
@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.01), (2.0, 3.0), (-8.0, 0.5), (19.0, 1.0), (1.0, 400.0)])
@pytest.mark.parametrize("kinds", [(0,), (1,), (2,), (4,), (0, 1, 4), (0, 2, 3), range(5), [*range(5)] * 40], ids=repr)
def test_moments_are_those_of_numerical_integration(likelihood: Any, mean: float, variance: float, kinds: Any) -> None:
    """Of pairs with few answers by one rule, of others by another."""
    outcome, strength = np.array([0.0, 0.5, 0.5, 1.0, 1.0]), np.array([0, 0, 0, SLIGHTLY, MUCH])
    sharpness, lean = np.array([1.0, 1.0, 0.5, 1.4, 1.0]), np.array([0.0, 0.3, 0.0, -0.5, 0.0])
    chosen = np.array(kinds)
    zero = np.zeros(len(chosen), dtype=np.int64)
    given = (part[chosen] for part in (outcome, strength, sharpness))
    answers = Answers(zero, zero + 1, *given, lean=lean[chosen])  # type: ignore[misc]
    width = 12 * np.sqrt(variance) + 12
    grid = np.linspace(mean - width, mean + width, 40_001)
    log = stats.norm.logpdf(grid, mean, np.sqrt(variance))
    for kind in set(chosen.tolist()):
        times, chance = np.count_nonzero(chosen == kind), chances(likelihood, sharpness[kind] * grid + lean[kind])
        if outcome[kind] == 0.5 and likelihood.tie == 0.0:
            log += times * 0.5 * (np.log(chance["left", 0]) + np.log(chance["right", 0]))
        else:
            with np.errstate(divide="ignore"):
                log += times * np.log(np.maximum(chance[SIDES[outcome[kind]], int(strength[kind])], 0.0))
    highest = log.max()
    mass = np.exp(log - highest)
    total = integrate.trapezoid(mass, grid)
    first = integrate.trapezoid(mass * grid, grid) / total
    second = integrate.trapezoid(mass * (grid - first) ** 2, grid) / total
    found = tilted(PairCounts.of(answers, 2), np.array([mean]), np.array([variance]), likelihood)
    assert [float(part[0]) for part in found] == pytest.approx([np.log(total) + highest, first, second], rel=2e-6)


SPRINGALL = """
1 2 2 16 7, 1 3 0 21 1, 1 4 5 10 10, 1 5 2 15 7, 1 6 0 22 2, 1 7 12 3 9, 1 8 13 9 5, 1 9 10 12 3, 2 3 6 11 5,
2 4 17 2 7, 2 5 9 6 8, 2 6 8 12 6, 2 7 24 2 0, 2 8 16 3 5, 2 9 15 2 7, 3 4 22 2 4, 3 5 14 4 5, 3 6 11 4 7,
3 7 24 1 3, 3 8 22 0 3, 3 9 17 2 6, 4 5 3 14 9, 4 6 2 18 4, 4 7 12 6 5, 4 8 10 6 6, 4 9 8 9 11, 5 6 5 11 9,
5 7 20 0 2, 5 8 15 2 5, 5 9 13 5 9, 6 7 27 1 0, 6 8 19 1 5, 6 9 18 2 2, 7 8 2 13 8, 7 9 2 21 5, 8 9 6 8 8
"""
"""Springall (1973): nine samples by flavour strength; two samples, wins of the first and of the second, ties."""
# By statsmodels 0.14: OrderedModel of each answer and its mirror image, and a Poisson log-linear model.
PUBLISHED: list[tuple[Any, float, list[float]]] = [
    (
        Cumulative(0.69709302),
        -730.0043614750002,
        [
            -0.82835639,
            0.84571624,
            1.59759456,
            -0.50948774,
            0.55940142,
            1.29981724,
            -1.79145983,
            -0.81889359,
            -0.3543319,
        ],
    ),
    (
        Davidson(0.8655486541580585),
        -732.0672554482248,
        [
            -1.11336672,
            1.15986283,
            2.17738322,
            -0.71575626,
            0.78142271,
            1.72948057,
            -2.39483340,
            -1.11826459,
            -0.50592838,
        ],
    ),
]


def springall() -> Answers:
    left, right, outcome = [], [], []
    for row in SPRINGALL.replace("\n", " ").split(","):
        i, j, *counts = map(int, row.split())
        for won, count in zip((1.0, 0.0, 0.5), counts, strict=True):
            left += [i - 1] * count
            right += [j - 1] * count
            outcome += [won] * count
    strength = np.zeros(len(left), dtype=np.int64)
    return Answers(np.array(left), np.array(right), np.array(outcome), strength)


@pytest.mark.parametrize(("likelihood", "value", "scores"), PUBLISHED, ids=lambda given: type(given).__name__)
def test_on_published_ties_the_maximum_is_that_of_other_packages(
    likelihood: Any, value: float, scores: list[float]
) -> None:
    pairs = PairCounts.of(springall(), 9)
    found, slope, _, _ = likelihood.evaluate(pairs, np.array(scores))
    assert found == pytest.approx(value, abs=1e-6)
    assert np.abs(slope).max() < 1e-5
    for factor in (0.99, 1.01):
        assert type(likelihood)(likelihood.tie * factor).evaluate(pairs, np.array(scores))[0] < value
    fit = Independent(1e6, likelihood=likelihood).fit(np.empty((9, 0)), springall()).mean
    np.testing.assert_allclose(fit - fit.mean(), scores, atol=1e-5)


@pytest.mark.parametrize(("likelihood", "value", "scores"), PUBLISHED, ids=lambda given: type(given).__name__)
def test_fitted_thresholds_are_those_of_other_packages_to_the_grid(
    likelihood: Any, value: float, scores: list[float]
) -> None:
    model = Independent(4.0, likelihood=type(likelihood)())
    found: Any = fitted_likelihood(model, np.empty((9, 0)), springall())
    assert found.tie == pytest.approx(likelihood.tie, rel=0.06)


def test_simulated_thresholds_are_found_and_what_has_no_answers_is_left_out() -> None:
    rng = np.random.default_rng(7)
    scores, count = 1.5 * rng.normal(size=40), 3000
    left = rng.integers(0, 40, count)
    right = (left + rng.integers(1, 40, count)) % 40
    place = scores[left] - scores[right] + rng.logistic(size=count)
    outcome = np.where(np.abs(place) < 0.5, 0.5, (place > 0) * 1.0)
    strength = np.where(outcome == 0.5, 0, np.where(np.abs(place) > 2.0, MUCH, SLIGHTLY))
    model = Independent(2.0, likelihood=Cumulative())
    found: Any = fitted_likelihood(model, np.empty((40, 0)), Answers(left, right, outcome, strength))
    assert found.tie == pytest.approx(0.5, rel=0.1)
    assert found.slight == pytest.approx(1.5, rel=0.1)
    decided = outcome != 0.5
    sides = Answers(left, right, outcome, 0 * strength)
    assert fitted_likelihood(model, np.empty((40, 0)), sides.those(decided)) == Cumulative()
    assert fitted_likelihood(model, np.empty((40, 0)), sides._replace(strength=None)) == Cumulative()
    assert fitted_likelihood(Independent(likelihood=LOGISTIC), np.empty((40, 0)), sides) is LOGISTIC


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_the_slope_of_an_answer_is_the_difference_of_its_log_likelihood(likelihood: Any) -> None:
    answers = drawn(np.random.default_rng(3), 8, 40)
    scores, step = np.random.default_rng(4).normal(size=8), 1e-5
    found = likelihood.slope(scores[answers.left] - scores[answers.right], answers)
    for row in range(40):
        one = answers.those(np.array([row]))
        up, down = scores.copy(), scores.copy()
        up[one.left[0]] += step
        down[one.left[0]] -= step
        rise = log_likelihood(likelihood, one, up) - log_likelihood(likelihood, one, down)
        assert found[row] == pytest.approx(rise / (2.0 * step), abs=1e-6)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_a_win_is_predicted_given_that_there_is_no_tie(likelihood: Any) -> None:
    answers = drawn(np.random.default_rng(5), 8, 30)
    assert answers.sharpness is not None
    assert answers.lean is not None
    margin, variance = np.random.default_rng(6).normal(size=30), np.random.default_rng(7).uniform(0.1, 1.5, 30)
    exact, averaged = likelihood.wins(margin, np.zeros(30), answers), likelihood.wins(margin, variance, answers)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    for row in range(30):
        at = chances(likelihood, answers.sharpness[row] * margin[row] + answers.lean[row])
        assert exact[row] == pytest.approx(at["left", 0] / (at["left", 0] + at["right", 0]))
        place = answers.sharpness[row] * (margin[row] + variance[row] ** 0.5 * nodes) + answers.lean[row]
        spread = chances(likelihood, place)
        left, right = (weights @ spread[side, 0] for side in ("left", "right"))
        assert averaged[row] == pytest.approx(left / (left + right), abs=0.03)
