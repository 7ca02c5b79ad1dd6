"""Two items side by side, against the posterior's covariance and a count by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, UnknownItem
from ordinate.study.pair import Through
from ordinate.study.study import Study

ANSWERS = [
    ("a", "b", "left"),
    ("b", "a", "left-much"),
    ("b", "a", "tie"),
    ("a", "c", "left"),
    ("c", "a", "tie"),
    ("c", "b", "left"),
    ("d", "a", "left"),
    ("e", "b", "right"),
]


@pytest.fixture
def study() -> Study:
    made = Study.create(Items(["a", "b", "c", "d", "e", "f"], np.random.default_rng(2).normal(size=(6, 2))))
    made.record(ANSWERS)
    return made


def test_the_probability_is_that_of_the_posterior(study: Study) -> None:
    posterior = study.posterior()
    covariance = posterior.scores_covariance()
    for left, right in (("a", "b"), ("b", "a"), ("e", "f")):
        i, j = study.rows([left, right])
        mean = posterior.mean[i] - posterior.mean[j]
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        found = study.compare(left, right)
        assert found.higher == (left if mean >= 0 else right)
        assert found.probability == pytest.approx(norm.cdf(abs(mean) / np.sqrt(variance)), rel=1e-6)


def test_direct_and_indirect_answers_are_counted(study: Study) -> None:
    found = study.compare("a", "b")
    assert (found.left_won, found.right_won, found.ties) == (1, 1, 1)
    assert found.through == [Through("c", 1.5, 2, 0.0, 1)]
    assert found.through_in_all == 1
    back = study.compare("b", "a")
    assert (back.left_won, back.right_won, back.ties) == (1, 1, 1)
    assert back.through == [Through("c", 0.0, 1, 1.5, 2)]
    study.exclude_item("c")
    assert study.compare("a", "b").through == []


def test_what_cannot_be_compared_is_refused(study: Study) -> None:
    with pytest.raises(InvalidInput, match="with another item"):
        study.compare("a", "a")
    with pytest.raises(UnknownItem):
        study.compare("a", "x")
    numbered = Study.create(Items(["0", "1", "2"]))
    for wrong in (1, None, ["1"]):
        with pytest.raises(UnknownItem, match="the study has no item"):
            numbered.compare("0", wrong)  # type: ignore[arg-type]
    study.exclude_item("b")
    with pytest.raises(InvalidInput, match="'b' is left out"):
        study.compare("a", "b")
    grouped = Study.create(Items(["a", "b", "c"], group=["1", "1", "2"]))
    with pytest.raises(InvalidInput, match="only items of one group"):
        grouped.compare("a", "c")
