"""The spread of the ordering error over draws, against counting pairs by hand."""

import numpy as np
import pytest

from ordinate.learning.error_spread import doubt, error_interval, error_spread, inversions


def by_hand(values):
    return [sum(row[i] < row[j] for i in range(len(row)) for j in range(i + 1, len(row))) for row in values]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 16, 33])
def test_inversions_are_the_pairs_whose_lower_value_comes_first(size):
    values = np.random.default_rng(size).integers(0, 20, (5, size)).astype(float)
    assert inversions(values).tolist() == by_hand(values)


def test_the_spread_is_that_of_the_error_in_the_draws():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=30)
    group = np.array([0, 1, -1] * 10)
    draws = rng.normal(scores, 1.0, (400, 30))
    wrong = np.zeros(400)
    for one in (0, 1):
        rows = np.flatnonzero(group == one)
        wrong += by_hand(draws[:, rows[np.argsort(-scores[rows])]])
    # 60 answers about the 20 items in use. A log-normal number of this deviation has that mean and that variance.
    deviation = np.sqrt(error_spread(draws, scores, group, 60) ** 2 - doubt(3.0) ** 2)
    assert np.exp(deviation**2) - 1.0 == pytest.approx(wrong.var() / wrong.mean() ** 2)


def test_where_one_pair_of_few_is_open_the_interval_is_not_that_of_guessing():
    scores = np.linspace(5.0, 0.0, 6)
    draws = np.tile(scores, (1000, 1))
    draws[:120, [0, 1]] = draws[:120, [1, 0]]  # six models, of which the first two may be the wrong way round
    spread = error_spread(draws, scores, np.zeros(6, dtype=int), 2000)
    _, low, high = error_interval(0.12 / 15, spread)
    assert 0.0 < low < 0.12 / 15
    assert 1 / 15 < high < 2 / 15


def test_where_no_draw_is_wrong_only_the_belief_itself_may_be():
    scores = np.arange(4.0)
    assert error_spread(np.tile(scores, (10, 1)), scores, np.zeros(4, dtype=int), 16) == doubt(4.0) == 0.25


def test_doubt_falls_with_answers_within_bounds():
    assert [doubt(per_item) for per_item in (0.0, 0.25, 1.0, 25.0, 100.0)] == [1.0, 1.0, 0.5, 0.1, 0.1]


def test_the_interval_is_about_the_error_and_no_worse_than_guessing():
    error, low, high = error_interval(0.1, 0.2)
    assert error == 0.1
    assert high / error == pytest.approx(error / low) == pytest.approx(np.exp(1.6449 * 0.2))
    assert error_interval(0.45, 0.5).high == 0.5
