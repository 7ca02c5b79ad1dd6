"""Messages between items: against an inverse, exact on trees and close to it with rings."""

import numpy as np
import pytest
from numpy.typing import NDArray

from ordinate.learning.models.pair_messages import margins_without_the_pair


def by_an_inverse(
    left: NDArray[np.int64], right: NDArray[np.int64], weight: NDArray[np.float64], items: int, variance: float
) -> NDArray[np.float64]:
    precision = np.eye(items) / variance
    for one, other, of_pair in zip(left, right, weight, strict=True):
        contrast = np.zeros(items)
        contrast[one], contrast[other] = 1.0, -1.0
        precision += of_pair * np.outer(contrast, contrast)
    found = []
    for one, other, of_pair in zip(left, right, weight, strict=True):
        contrast = np.zeros(items)
        contrast[one], contrast[other] = 1.0, -1.0
        found.append(contrast @ np.linalg.solve(precision - of_pair * np.outer(contrast, contrast), contrast))
    return np.array(found)


@pytest.mark.parametrize("variance", [0.3, 1.5, 40.0])
def test_on_trees_they_are_exact(variance: float) -> None:
    rng = np.random.default_rng(0)
    right = np.arange(1, 40)
    left = np.array([int(rng.integers(0, one)) for one in right])
    weight = rng.uniform(0.0, 3.0, 39)
    found = margins_without_the_pair(left, right, weight, 42, variance)
    np.testing.assert_allclose(found, by_an_inverse(left, right, weight, 42, variance), rtol=1e-8)


@pytest.mark.parametrize("pairs", [70, 300, 900])
def test_with_rings_they_are_close(pairs: int) -> None:
    rng = np.random.default_rng(pairs)
    codes = rng.choice(60 * 60, pairs, replace=False)
    codes = codes[codes // 60 < codes % 60]
    left, right = np.divmod(codes, 60)
    weight = rng.uniform(0.05, 0.25, len(codes))
    found = margins_without_the_pair(left, right, weight, 60, 2.0) / by_an_inverse(left, right, weight, 60, 2.0)
    assert found.min() > 0.97
    assert found.max() < 1.06
