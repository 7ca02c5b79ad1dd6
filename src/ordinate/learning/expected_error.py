"""The expected ordering error under a belief."""

from __future__ import annotations

import math

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import members
from ordinate.learning.belief import Belief, tiles
from ordinate.learning.belief.projected import row_blocks
from ordinate.learning.posterior import Posterior

_ROUNDING = 1e-12
"""Differences below this share of their terms are rounding."""
_MOST_PAIRS = 20_000_000
"""Those of 6,300 items in one group, in about a second."""
_SAMPLED_PAIRS = 1 << 18


def expected_error(posterior: Posterior, group: Integers, most_pairs: int = _MOST_PAIRS) -> float:
    """The mean, over all pairs within a group, of the probability that the pair is in the wrong order.

    This is the expected ordering error of sorting by the mean, if the posterior is right. nan without a pair. Above
    `most_pairs`, 20 million, the mean is over 262,144 random ones, always the same ones, and accurate to 0.001; the
    covariance of all items with all is not computed for these.
    """
    pairs = sum(len(rows) * (len(rows) - 1) // 2 for rows in members(group))
    if pairs > most_pairs:
        return _sampled_error(posterior, members(group))
    # Not the posterior's own, which would be kept.
    return error_of(posterior.covariance.belief(posterior.mean), group)


def error_of(belief: Belief, group: Integers) -> float:
    """`expected_error` under a belief, over all pairs."""
    total, pairs = 0.0, 0
    variance = belief.variance
    for rows in members(group):
        pairs += len(rows) * (len(rows) - 1) // 2
        mean = belief.mean[rows]
        for first, covariance in tiles(belief, rows):
            total += wrong_order_sum(covariance, first, variance[rows], mean)
    return total / pairs if pairs else math.nan


def _sampled_error(posterior: Posterior, division: list[Integers]) -> float:
    rng = np.random.default_rng(0)
    sizes = np.array([len(rows) for rows in division], dtype=np.float64)
    share = sizes * (sizes - 1.0)
    counts = rng.multinomial(_SAMPLED_PAIRS, share / share.sum())
    total = 0.0
    for rows, count in zip(division, counts.tolist(), strict=True):
        first = rng.integers(0, len(rows), count)
        second = (first + rng.integers(1, len(rows), count)) % len(rows) if count else first
        for block in row_blocks(count):
            left, right = rows[first[block]], rows[second[block]]
            variance = posterior.covariance.random_pairs(left, right)
            total += wrong_order_of(posterior.mean[left] - posterior.mean[right], variance)
    return total / _SAMPLED_PAIRS


@compiled
def wrong_order_sum(covariance: Floats, first_row: int, variance: Floats, mean: Floats) -> float:
    """Sum over the pairs of a tile of the probability that the sign of m is wrong, Phi(-|m| / sqrt(v))."""
    total = 0.0
    for tile_row in range(covariance.shape[0]):
        row = first_row + tile_row
        for column in range(tile_row + 1, covariance.shape[1]):
            other = first_row + column
            both = variance[row] + variance[other]
            gap_variance = both - 2.0 * covariance[tile_row, column]
            gap = abs(mean[row] - mean[other])
            if gap_variance > _ROUNDING * both:
                total += 0.5 * math.erfc(gap / math.sqrt(2.0 * gap_variance))
            elif gap <= _ROUNDING * (1.0 + abs(mean[row])):
                # The model cannot distinguish these items: their difference is rounding.
                total += 0.5
    return total


@compiled
def wrong_order_of(margin: Floats, variance: Floats) -> float:
    """Sum over pairs of Phi(-|m| / sqrt(v)); one half where nothing distinguishes the two items."""
    total = 0.0
    for pair in range(margin.shape[0]):
        if variance[pair] > 0.0:
            total += 0.5 * math.erfc(abs(margin[pair]) / math.sqrt(2.0 * variance[pair]))
        elif margin[pair] == 0.0:
            total += 0.5
    return total
