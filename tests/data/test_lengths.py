"""Lengths of items in standard deviations, where they differ enough to be preferred."""

import math

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.data.lengths import standard_lengths


def texts(lengths):
    return Items([f"i{row}" for row in range(len(lengths))], content={"text": ["x" * length for length in lengths]})


def test_a_doubling_is_in_standard_deviations_of_what_counts():
    items, counted = texts([10, 20, 40, 1000]), np.array([True, True, True, False])
    found = standard_lengths(items, counted)
    assert found is not None
    deviation = np.std(np.log([10, 20, 40]))
    assert found.doubling == pytest.approx(math.log(2.0) / deviation)
    assert found.values[1] - found.values[0] == pytest.approx(found.doubling)


def test_lengths_that_hardly_differ_are_none():
    """A column "longer" said 0 % of a person who judged texts of 13 and 14 characters."""
    every = np.ones(40, dtype=bool)
    assert standard_lengths(texts([13] * 10 + [14] * 30), every) is None
    assert standard_lengths(texts([13] * 40), every) is None
    assert standard_lengths(texts([100] * 20 + [150] * 20), every) is not None
