"""TrueSkill against moments by quadrature, and against the numbers of the package `trueskill` (0.4.5)."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from ordinate.data.items import Items
from ordinate.learning.models import Answers
from ordinate.learning.models.one_by_one import draw_correction, win_correction
from ordinate.learning.models.trueskill import TrueSkill
from ordinate.study.study import Study

USUAL = TrueSkill(beta=25 / 6, deviation=25 / 3, tau=25 / 300, draw_probability=0.1)


def fit(model: TrueSkill, items: int, *games: tuple[int, int, float]) -> tuple[np.ndarray, np.ndarray]:
    rows = np.array(games, dtype=float).reshape(-1, 3)
    answers = Answers(rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2])
    belief = model.fit(np.ones((items, 2)), answers).belief
    return belief.mean, np.sqrt(belief.variance)


def test_numbers_of_the_package_trueskill() -> None:
    """Its ratings less the 25 it starts from; its normal quantile is good to seven digits."""
    games = [(0, 1, 1), (2, 1, 0), (0, 2, 0.5), (3, 0, 1), (3, 0, 1), (3, 1, 0.5), (1, 2, 0)]
    mean, deviation = fit(USUAL, 4, *games)
    np.testing.assert_allclose(
        mean, [-3.116155678396119, -0.6536080144428809, 1.5551969882920318, 4.8028958497413115], atol=2e-6
    )
    np.testing.assert_allclose(
        deviation, [4.855374477681769, 4.47861223594894, 4.781495602713782, 4.949026247116615], atol=2e-6
    )


@pytest.mark.parametrize("outcome", [1.0, 0.0, 0.5])
@pytest.mark.parametrize("draw_probability", [0.0, 0.1, 0.6])
def test_one_answer_has_the_moments_of_the_exact_posterior(outcome: float, draw_probability: float) -> None:
    """Two items of unequal means and variances; the posterior by quadrature over both scores."""
    model = TrueSkill(beta=1.0, deviation=2.0, tau=0.3, draw_probability=draw_probability)
    if outcome == 0.5 and draw_probability == 0.0:
        pytest.skip("without a draw margin a draw has no probability")
    before = [(0, 2, 1), (0, 3, 1), (1, 2, 0)]
    means, deviations = fit(model, 4, *before)
    spread = np.sqrt(deviations[:2] ** 2 + 0.3**2)
    margin = norm.ppf((draw_probability + 1) / 2) * math.sqrt(2)

    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    x, y = means[0] + spread[0] * nodes[:, None], means[1] + spread[1] * nodes[None, :]
    high, low = norm.cdf((x - y - margin) / math.sqrt(2)), norm.cdf((y - x - margin) / math.sqrt(2))
    weight = np.outer(weights, weights) * {1.0: high, 0.0: low, 0.5: 1.0 - high - low}[outcome]
    weight /= weight.sum()

    after, deviation = fit(model, 4, *before, (0, 1, outcome))
    for item, score in enumerate((x, y)):
        first = (weight * score).sum()
        assert after[item] == pytest.approx(first, abs=1e-9)
        assert deviation[item] ** 2 == pytest.approx((weight * score**2).sum() - first**2, abs=1e-9)


def test_corrections_stay_finite_and_join_far_out() -> None:
    """Upsets beyond what erfc can hold: V -> distance, W -> 1."""
    for place in (-5.0, -30.0, -300.0, -1e6):
        shift, shrink = win_correction(place)
        assert shift >= -place
        assert 0.9 < shrink <= 1.0
    assert win_correction(-5.0) == pytest.approx(win_correction(np.nextafter(-5.0, 0.0)), rel=1e-9)
    for gap in (0.0, 1.0, 30.0, 45.0, 1e5):
        for margin in (0.0, 1e-7, 0.1, 2.0):
            shift, shrink = draw_correction(gap, margin)
            assert shift == pytest.approx(-draw_correction(-gap, margin)[0])
            assert -gap <= shift <= 0.0
            assert 0.0 <= shrink <= 1.0
    for below, above in ((9.9e-6, 1.01e-5), (1e-7, 1e-4)):
        assert draw_correction(1.3, below) == pytest.approx(draw_correction(1.3, above), rel=1e-4)


def test_the_usual_ratios_whatever_the_scale() -> None:
    games = [(0, 1, 1.0), (1, 2, 0.5), (2, 0, 1.0)] * 4
    mean, deviation = fit(TrueSkill(), 3, *games)
    usual_mean, usual_deviation = fit(USUAL, 3, *games)
    scale = (25 / 6) / TrueSkill().beta
    np.testing.assert_allclose(scale * mean, usual_mean, rtol=1e-9)
    np.testing.assert_allclose(scale * deviation, usual_deviation, rtol=1e-9)


def test_new_items_start_at_the_prior() -> None:
    """Added in the middle of a study, or never added at all; whatever their features are."""
    study = Study.create(Items(["a", "b"], np.eye(2)), algorithm="trueskill")
    for _ in range(5):
        study.tell(study.ask().id, "left")
    study.add_items(Items(["c"], np.array([[3.0, -7.0]])))
    assert study.scores()[2] == 0.0
    query = study.ask()
    assert "c" in (query.left, query.right), "the least known item is asked about"
    ordering = study.ordering(Items(["x", "y"], np.array([[9.0, 9.0], [-9.0, 9.0]])))
    assert ordering.scores[0] == ordering.scores[1]
    assert (ordering.standard_errors >= TrueSkill().deviation).all()


def test_the_belief_takes_in_each_answer_at_once() -> None:
    """TrueSkill has no refits to wait for, whatever the study's schedule is."""
    study = Study.create(Items(list("abcdef"), np.eye(6)), algorithm="trueskill", refit_every=50)
    asked = set()
    for _ in range(12):
        query = study.ask("crowd")
        asked |= {query.left, query.right}
        study.tell(query.id, "left" if query.left < query.right else "right")
    assert asked == set("abcdef")
    assert study.ordering().ids[0] in "ab"
