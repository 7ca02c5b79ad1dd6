"""The compiled loops over rows of pairs: the sieve that finds rows' maxima, and what settles which of them ties.

b  rows of a tile     c  columns     mask_column[mask_start[i]:mask_start[i + 1]]  ascending columns that row i lacks
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.choice import pair_priority, power_utility
from ordinate.compiled import compiled, fast
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.belief_loops import difference_variance

NO_PAIR = -1e300
"""The maximum of a row that has no pair."""


@fast
def row_maxima(
    covariance: Floats,
    positions: Integers,
    first: int,
    variance: Floats,
    growth: Floats,
    decay: Floats,
    exponent: int,
    mask_start: Integers,
    mask_column: Integers,
    maxima: Floats,
) -> None:
    """The largest sigma'(m_ij)^exponent * v_ij of each row of a tile of covariances, over the columns after it.

    covariance (b, c): rows `positions` against columns first..; growth = exp(mean), decay = exp(-mean), so that
    sigma'(m) = r / (1 + r)^2 with r = growth_i * decay_j needs no exp per pair. Columns mask_column[mask_start[i]:
    mask_start[i + 1]] (ascending) are left out. Writes into maxima (n,) at the positions.
    """
    columns = covariance.shape[1]
    for tile_row in range(covariance.shape[0]):
        row = positions[tile_row]
        best = NO_PAIR
        begin = row + 1 - first
        mask = mask_start[row]
        while begin < columns:
            end = columns
            if mask < mask_start[row + 1]:
                end = mask_column[mask] - first
                mask += 1
            if exponent == 0:
                for column in range(begin, end):
                    spread = variance[row] + variance[first + column] - 2.0 * covariance[tile_row, column]
                    best = max(best, spread)
            else:
                for column in range(begin, end):
                    spread = variance[row] + variance[first + column] - 2.0 * covariance[tile_row, column]
                    ratio = growth[row] * decay[first + column]
                    share = 1.0 / (1.0 + ratio)
                    slope = ratio * share * share
                    best = max(best, slope * slope * spread)
            begin = end + 1
        maxima[row] = best


@fast
def row_maxima_wide(
    covariance: Floats,
    positions: Integers,
    first: int,
    variance: Floats,
    mean: Floats,
    exponent: int,
    mask_start: Integers,
    mask_column: Integers,
    maxima: Floats,
) -> None:
    """`row_maxima` for scores so far apart that exp(mean) would overflow: one exp per pair."""
    columns = covariance.shape[1]
    for tile_row in range(covariance.shape[0]):
        row = positions[tile_row]
        best = NO_PAIR
        begin = row + 1 - first
        mask = mask_start[row]
        while begin < columns:
            end = columns
            if mask < mask_start[row + 1]:
                end = mask_column[mask] - first
                mask += 1
            for column in range(begin, end):
                spread = variance[row] + variance[first + column] - 2.0 * covariance[tile_row, column]
                fall = math.exp(-abs(mean[row] - mean[first + column]))
                slope = fall / ((1.0 + fall) * (1.0 + fall))
                best = max(best, spread if exponent == 0 else slope * slope * spread)
            begin = end + 1
        maxima[row] = best


@compiled
def largest_in_rows(
    worths: Floats,
    positions: Integers,
    first: int,
    mask_start: Integers,
    mask_column: Integers,
    maxima: Floats,
) -> None:
    """`row_maxima` of worths (b, c) that are there already."""
    for tile_row in range(worths.shape[0]):
        row = positions[tile_row]
        best, mask = NO_PAIR, mask_start[row]
        for column in range(row + 1 - first, worths.shape[1]):
            if mask < mask_start[row + 1] and mask_column[mask] == first + column:
                mask += 1
            else:
                best = max(best, worths[tile_row, column])
        maxima[row] = best


@compiled
def could_win(
    upper: Floats,
    fresh: NDArray[np.bool_],
    known: NDArray[np.bool_],
    wobble: float,
    slack: float,
    faint: float,
    rounding: float,
    lower: float,
    tie: float,
    most: int,
) -> tuple[float, int, bool, Integers]:
    """Which rows might hold a pair that beats or ties with the best, without being `fresh`.

    A row's maximum is `upper` (n,) to within `rounding`, relatively, and `slack`, where it is fresh; elsewhere at most
    that, raised by `wobble`, relatively, and `faint` besides. Some pair is worth `lower`; worths as close as `tie`,
    relatively, tie.
    Returns what some pair is worth; how many such rows there are; whether some of them are not even `known`, in which
    case the number is that of those alone; and the up to `most` of them with the highest bounds, ascending.
    """
    best = NO_PAIR
    for row in range(upper.shape[0]):
        if fresh[row]:
            best = max(best, upper[row])
    if best > NO_PAIR:
        lower = max(lower, best - rounding * abs(best) - slack)
    floor = lower - tie * abs(lower)
    rows, bounds = np.empty(most, dtype=np.int64), np.empty(most)
    count, kept, unknown = 0, 0, False
    for row in range(upper.shape[0]):
        if fresh[row] or upper[row] == NO_PAIR:
            continue
        raised = upper[row] * (1.0 + wobble)
        if raised + rounding * abs(raised) + slack + faint < floor or (unknown and known[row]):
            continue
        if not known[row] and not unknown:
            count, kept, unknown = 0, 0, True
        count += 1
        place = kept
        while place > 0 and bounds[place - 1] < upper[row]:
            place -= 1
        if place < most:
            kept = min(kept + 1, most)
            for later in range(kept - 1, place, -1):
                rows[later], bounds[later] = rows[later - 1], bounds[later - 1]
            rows[place], bounds[place] = row, upper[row]
    return lower, count, unknown, np.sort(rows[:kept])


@compiled
def finalists(upper: Floats, fresh: NDArray[np.bool_], slack: float, rounding: float, reached: float) -> Integers:
    """The fresh rows whose maximum (`could_win`) may be worth `reached`, ascending."""
    rows = np.empty(upper.shape[0], dtype=np.int64)
    count = 0
    for row in range(upper.shape[0]):
        if fresh[row] and upper[row] > NO_PAIR and upper[row] + rounding * abs(upper[row]) + slack >= reached:
            rows[count] = row
            count += 1
    return rows[:count].copy()


@fast
def quick_variance(base: Floats, residual: Floats, factor: Floats, sign: float, i: int, j: int) -> float:
    """`difference_variance` up to rounding, its sum in whatever order is quickest."""
    # A text of its own: Numba's cache on disk does not tell two compilations of one function apart.
    squared = 0.0
    for column in range(factor.shape[1]):
        gap = factor[i, column] - factor[j, column]
        squared += gap * gap
    variance: float = residual[i] + residual[j] + sign * squared
    if base.shape[0]:
        variance += base[i, i] + base[j, j] - 2.0 * base[i, j]
    return variance


@compiled
def settle_near_ties(
    positions: Integers,
    rows: Integers,
    mean: Floats,
    variance: Floats,
    base: Floats,
    residual: Floats,
    factor: Floats,
    sign: float,
    exponent: int,
    mask_start: Integers,
    mask_column: Integers,
    reached: float,
    slack: float,
    elsewhere: float,
    tie: float,
    seed: np.uint64,
) -> tuple[float, int, int, float, np.uint64]:
    """The exact best value of the pairs whose first item is at one of `positions`; and the pair of highest priority
    among those that tie with it, or with a pair `elsewhere` that is worth more.

    positions index `rows` (c,), the ascending rows of the belief that make up the group; variance (n,) is marginal.
    Pairs not worth `reached`, by more than the `slack` of their rounding, are passed over. Returns (best, i, j, value,
    priority), with i = -1 where no pair ties.
    """
    best = NO_PAIR
    chosen_i, chosen_j, chosen_value, chosen_priority = -1, -1, NO_PAIR, np.uint64(0)
    for settled in range(2):
        for position in positions:
            mask = mask_start[position]
            i = rows[position]
            deviation = math.sqrt(variance[i])
            for other in range(position + 1, rows.shape[0]):
                if mask < mask_start[position + 1] and mask_column[mask] == other:
                    mask += 1
                    continue
                j = rows[other]
                widest = deviation + math.sqrt(variance[j])
                margin = mean[i] - mean[j]
                # The widest that a difference can be spares most pairs the sum over columns.
                if power_utility(margin, widest * widest, exponent) < reached - slack:
                    continue
                if (
                    power_utility(margin, quick_variance(base, residual, factor, sign, i, j), exponent)
                    < reached - slack
                ):
                    continue
                value = power_utility(margin, difference_variance(base, residual, factor, sign, i, j), exponent)
                if settled == 0:
                    best = max(best, value)
                elif value >= reached:
                    priority = pair_priority(seed, i, j)
                    if chosen_i < 0 or priority > chosen_priority:
                        chosen_i, chosen_j, chosen_value, chosen_priority = i, j, value, priority
        highest = max(best, elsewhere)
        reached = highest - tie * abs(highest)
        if best < reached:
            break
    return best, chosen_i, chosen_j, chosen_value, chosen_priority


@compiled
def sorted_difference(some: Integers, others: Integers) -> Integers:
    """The numbers of one ascending array that another does not hold."""
    kept = np.empty(some.shape[0], dtype=np.int64)
    count, other = 0, 0
    for number in some:
        while other < others.shape[0] and others[other] < number:
            other += 1
        if other == others.shape[0] or others[other] != number:
            kept[count] = number
            count += 1
    return kept[:count].copy()
