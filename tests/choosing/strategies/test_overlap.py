"""The overlap of ranges against the formula for single pairs, and the pair it leads to."""

import numpy as np
import pytest

from ordinate.choosing.search import best_scored
from ordinate.choosing.strategies.overlap import overlaps
from ordinate.data.pairs import AllPairs
from ordinate.learning.belief.factored import FactoredBelief


def belief(mean: list[float], deviation: list[float]) -> FactoredBelief:
    return FactoredBelief(np.array(mean), np.empty((len(mean), 0)), np.square(deviation))


@pytest.mark.parametrize(
    ("mean", "deviation", "expected"),
    [
        ([0.0, 0.0], [1.0, 1.0], 6.0),  # the same range of 6: all of it in common
        ([0.0, 3.0], [1.0, 1.0], 3.0 / 9.0 * 6.0),  # half in common, 9 together
        ([0.0, 0.0], [1.0, 2.0], 6.0 / 12.0 * 12.0),  # one inside the other
        ([0.0, 12.0], [1.0, 1.0], -6.0 / 18.0 * 6.0),  # 6 apart
        ([1.0, 1.0], [0.0, 0.0], 0.0),
    ],
)
def test_overlap_of_two_ranges(mean: list[float], deviation: list[float], expected: float) -> None:
    values = overlaps(belief(mean, deviation))
    assert values(np.array([0]), np.array([1]))[0] == pytest.approx(expected)
    assert values(np.array([0]), np.array([1]))[0] == values(np.array([1]), np.array([0]))[0]


def test_close_and_little_known_items_are_asked() -> None:
    known = belief([0.0, 0.1, 0.2, 5.0, 5.1], [0.1, 0.1, 0.1, 1.0, 1.0])
    pool = AllPairs.of(np.zeros(5, dtype=np.int64))
    assert best_scored(pool, overlaps(known), np.random.default_rng(0))[:2] == (3, 4)
