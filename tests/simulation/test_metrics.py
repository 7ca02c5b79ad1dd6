import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from ordinate.data.comparisons import Comparison
from ordinate.errors import InvalidInput
from ordinate.learning.membership import Wanted
from ordinate.simulation.metrics import held_out_error, hold_out, ordering_error, share_right


def brute_force(scores, truth, group):
    wrong = pairs = 0.0
    for i in range(len(scores)):
        for j in range(i):
            if group[i] == group[j] and truth[i] != truth[j]:
                pairs += 1
                agreement = (scores[i] - scores[j]) * (truth[i] - truth[j])
                wrong += 0.5 if agreement == 0 else float(agreement < 0)
    return wrong / pairs if pairs else np.nan


few_values = st.integers(-3, 3).map(float)  # so that ties are common


@given(st.lists(st.tuples(few_values, few_values, st.integers(0, 2)), max_size=25))
def test_ordering_error_is_that_of_all_pairs_counted_one_by_one(rows):
    scores, truth, group = (np.array(column) for column in (zip(*rows, strict=True) if rows else ([], [], [])))
    np.testing.assert_allclose(ordering_error(scores, truth, group), brute_force(scores, truth, group), rtol=1e-12)
    alone = np.zeros(len(rows))
    np.testing.assert_allclose(ordering_error(scores, truth), brute_force(scores, truth, alone), rtol=1e-12)


def test_ordering_error_without_ties_is_kendalls_tau_rescaled():
    scores, truth = np.random.default_rng(0).standard_normal((2, 300))
    assert ordering_error(scores, truth) == pytest.approx((1 - kendalltau(scores, truth).statistic) / 2, abs=1e-12)


def test_ordering_error_of_known_orders():
    truth = np.arange(6, dtype=np.float64)
    assert ordering_error(truth, truth) == 0.0
    assert ordering_error(-truth, truth) == 1.0
    assert ordering_error(np.zeros(6), truth) == 0.5
    assert np.isnan(ordering_error(truth, np.zeros(6)))


def test_ordering_error_is_exact_for_many_items():
    truth = np.arange(3000, dtype=np.float64)
    scores = truth.copy()
    scores[[0, 1]] = scores[[1, 0]]
    assert ordering_error(scores, truth) == 2 / (3000 * 2999)


def test_held_out_error_counts_equal_scores_half_and_leaves_ties_out():
    scores = np.array([2.0, 1.0, 1.0])
    left, right = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 0])
    assert held_out_error(scores, left, right, np.array([1.0, 0.0, 1.0, 0.5])) == pytest.approx((0 + 1 + 0.5) / 3)
    assert np.isnan(held_out_error(scores, left[3:], right[3:], np.array([0.5])))


ANSWERS = [Comparison(str(k % 7), str(7 + k % 5), "left") for k in range(100)]


@pytest.mark.parametrize(("by", "held"), [("answers", 10), ("pairs", None)])
def test_hold_out_splits_once_in_order_and_by_seed(by, held):
    learn, out = hold_out(ANSWERS, 0.1, by, np.random.default_rng(3))
    again = hold_out(ANSWERS, 0.1, by, np.random.default_rng(3))
    assert (learn, out) == again
    assert sorted(learn + out) == sorted(ANSWERS)
    assert held is None or len(out) == held


def test_hold_out_by_pairs_never_splits_a_pair_whichever_side_it_is_shown_on():
    answers = [*ANSWERS, *(Comparison(c.right, c.left, "right") for c in ANSWERS)]
    learn, out = hold_out(answers, 0.2, "pairs", np.random.default_rng(0))
    pairs = [{frozenset((c.left, c.right)) for c in part} for part in (learn, out)]
    assert not pairs[0] & pairs[1]
    assert len(pairs[1]) == 7  # of 35


@pytest.mark.parametrize(("share", "by"), [(0.0, "answers"), (1.0, "answers"), (0.1, "annotators"), (0.001, "pairs")])
def test_hold_out_refuses_what_leaves_nothing_to_do(share, by):
    with pytest.raises(InvalidInput):
        hold_out(ANSWERS, share, by, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(first=2), 1 / 2),  # b and a are shown, b and c are wanted
        (Wanted(last=2), 1 / 2),  # c and d are shown, d and a are wanted
        (Wanted(marks=np.array([2])), 1 / 3),  # of a, b and d only d is on the right side of c
        (Wanted(marks=np.array([2, 0])), 1 / 2),  # of b and d, only d is in the right grade
    ],
)
def test_the_share_of_an_aim_that_is_right(wanted: Wanted, expected: float) -> None:
    scores, truth = np.array([2.0, 3.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0, 0.0])
    assert share_right(scores, truth, None, wanted) == pytest.approx(expected)


def test_the_share_of_an_aim_counts_the_wanted_items_of_all_groups() -> None:
    scores, truth = np.array([1.0, 2.0, 3.0, 1.0, 2.0]), np.array([2.0, 1.0, 3.0, 1.0, 2.0])
    assert share_right(scores, truth, np.array([0, 0, 1, 1, 1]), Wanted(first=1)) == 0.5
