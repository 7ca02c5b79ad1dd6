"""The compiled loops over distinct pairs: counting them, and products with their Laplacian.

n  items     p  distinct pairs, left < right, sorted     k  columns     L = sum of weight * z z^T,  z = e_left - e_right
"""

from __future__ import annotations

import numpy as np

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers

_FINE = 1e-25
"""Of r^T z, a squared residual in posterior standard deviations as the preconditioner knows them. True ones are larger
where few or weak pairs hold items together, so the error left is larger there. Much less than this may be rounding."""


@compiled
def count_pairs(
    left: Integers, right: Integers, outcome: Floats, items: int
) -> tuple[Integers, Integers, Floats, Floats]:
    """Distinct pairs low < high in ascending order, how often each was asked, and the wins of its low item.

    Two passes of a counting sort: O(T + items), and the sums of a pair run in log order.
    """
    total = left.shape[0]
    by_high, by_both = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    for digit in range(2):
        place = np.zeros(items + 1, dtype=np.int64)
        for answer in range(total):
            key = max(left[answer], right[answer]) if digit == 0 else min(left[answer], right[answer])
            place[key + 1] += 1
        for item in range(items):
            place[item + 1] += place[item]
        for step in range(total):
            answer = step if digit == 0 else by_high[step]
            key = max(left[answer], right[answer]) if digit == 0 else min(left[answer], right[answer])
            if digit == 0:
                by_high[place[key]] = answer
            else:
                by_both[place[key]] = answer
            place[key] += 1
    low, high = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    asked, wins = np.zeros(total), np.zeros(total)
    last = -1
    for step in range(total):
        answer = by_both[step]
        swapped = left[answer] > right[answer]
        i, j = (right[answer], left[answer]) if swapped else (left[answer], right[answer])
        if last < 0 or low[last] != i or high[last] != j:
            last += 1
            low[last], high[last] = i, j
        asked[last] += 1.0
        wins[last] += 1.0 - outcome[answer] if swapped else outcome[answer]
    count = last + 1
    return low[:count].copy(), high[:count].copy(), asked[:count].copy(), wins[:count].copy()


@compiled
def centre(features: Floats, left: Integers, right: Integers) -> None:
    """Take from features (n, k), in place, their mean over each set of items that the pairs connect."""
    items, columns = features.shape
    # Each item points to one of its set that comes before it; the first one of a set to itself.
    number = np.arange(items)
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        while number[i] != i:
            number[i] = number[number[i]]
            i = number[i]
        while number[j] != j:
            number[j] = number[number[j]]
            j = number[j]
        number[max(i, j)] = min(i, j)
    sets = 0
    for item in range(items):
        if number[item] == item:
            number[item] = sets
            sets += 1
        else:
            number[item] = number[number[item]]
    size, mean = np.zeros(sets), np.zeros((sets, columns))
    # Rows on their own, since two indices in the inner loop would keep it from being vectorised.
    for item in range(items):
        size[number[item]] += 1.0
        row, total = features[item], mean[number[item]]
        for column in range(columns):
            total[column] += row[column]
    for one in range(sets):
        for column in range(columns):
            mean[one, column] /= size[one]
    for item in range(items):
        row, middle = features[item], mean[number[item]]
        for column in range(columns):
            row[column] -= middle[column]


@compiled
def laplacian_product(left: Integers, right: Integers, weight: Floats, vector: Floats, product: Floats) -> None:
    """product (n,) = L @ vector."""
    product[:] = 0.0
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        flow = weight[pair] * (vector[i] - vector[j])
        product[i] += flow
        product[j] -= flow


@compiled
def conjugate_gradients(
    features: Floats,
    left: Integers,
    right: Integers,
    weight: Floats,
    degree: Floats,
    theta_precision: float,
    item_variance: float,
    schur_inverse: Floats,
    theta_gradient: Floats,
    item_gradient: Floats,
    slope: Floats,
    tolerance: float,
    most: int,
) -> tuple[Floats, Floats, Floats]:
    """The Newton direction x of theta (k,), of the items' tensions and of the scores (n,), by conjugate gradients.

    features (n, k); left, right, weight (p,) and degree (n,) of the Laplacian L; an item's term is item_variance * its
    tension. Solves H x = g for x = (theta, terms) by products with
        H = [[theta_precision I + X^T L X, X^T L], [L X, I / item_variance + L]]
        g = (theta_gradient + X^T slope, item_gradient + slope),   (k,) and (n,)
    The preconditioner M has the diagonal of L in its place, and is solved by blocks: schur_inverse (k, k) is the
    inverse of theta_precision I + X^T diag(degree / (1 + item_variance degree)) X, or near it. With item_variance 0
    there are no terms, and all of this is of theta alone.
    In the usual letters: r = g - H x, z = M^-1 r, p the search direction, alpha its step, beta what is kept of it.
    Stops once r^T z is `tolerance` times what it was or, with tolerance 0, a hundredth of it and, closer to the
    maximum, as much less as keeps Newton's convergence quadratic; or after `most` products.
    The gradient by item must sum to 0, as H keeps it: constants are eigenvectors that the preconditioner knows.
    """
    # Loops, one for all that is done with an item, where array expressions would make several passes.
    items, columns = features.shape
    share, removed = np.empty(items), np.empty(items)
    theta, tension, scores = np.zeros(columns), np.zeros(items), np.zeros(items)
    # r = (r_theta + X^T r_score, r_item). Its parts are kept apart, and so are the scores that theta moves: a step then
    # takes one product with X^T and one with X.
    r_theta, r_score, r_item, r_left = theta_gradient.copy(), slope.copy(), np.empty(items), np.empty(items)
    p_theta, p_tension, p_score = np.zeros(columns), np.zeros(items), np.zeros(items)
    z_tension, laplacian_p, r_z_before, r_z_first = np.empty(items), np.empty(items), 0.0, 0.0
    for item in range(items):
        share[item] = 1.0 / (1.0 + item_variance * degree[item])
        removed[item] = item_variance * degree[item] * share[item]
        r_item[item] = item_gradient[item] + slope[item]
    for step in range(most):
        for item in range(items):
            r_left[item] = r_score[item] - removed[item] * r_item[item]
        z_theta = schur_inverse @ (r_theta + features.T @ r_left)
        z_linear = features @ z_theta
        total = 0.0
        for item in range(items):
            z_tension[item] = share[item] * (r_item[item] - degree[item] * z_linear[item])
            total += z_tension[item]
        mean = total / max(items, 1)
        for item in range(items):
            z_tension[item] -= mean
        r_z = float(r_theta @ z_theta + r_score @ z_linear + item_variance * (r_item @ z_tension))
        if step == 0:
            r_z_first = r_z
        if r_z <= (r_z_first * tolerance if tolerance > 0.0 else max(0.01 * r_z_first * min(1.0, r_z_first), _FINE)):
            break
        beta = r_z / r_z_before if step else 0.0
        for column in range(columns):
            p_theta[column] = z_theta[column] + beta * p_theta[column]
        for item in range(items):
            p_tension[item] = z_tension[item] + beta * p_tension[item]
            p_score[item] = z_linear[item] + item_variance * z_tension[item] + beta * p_score[item]
        laplacian_product(left, right, weight, p_score, laplacian_p)
        prior_curvature = theta_precision * (p_theta @ p_theta) + item_variance * (p_tension @ p_tension)
        alpha = r_z / float(prior_curvature + p_score @ laplacian_p)
        for column in range(columns):
            theta[column] += alpha * p_theta[column]
            r_theta[column] -= alpha * theta_precision * p_theta[column]
        for item in range(items):
            tension[item] += alpha * p_tension[item]
            scores[item] += alpha * p_score[item]
            r_score[item] -= alpha * laplacian_p[item]
            r_item[item] -= alpha * (p_tension[item] + laplacian_p[item])
        r_z_before = r_z
    return theta, tension, scores


@compiled
def laplacian_columns(left: Integers, right: Integers, weight: Floats, columns: Floats) -> Floats:
    """(n, c) L @ columns, from the differences of rows, so that an offset of all rows costs no digits."""
    product = np.zeros_like(columns)
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        for column in range(columns.shape[1]):
            flow = weight[pair] * (columns[i, column] - columns[j, column])
            product[i, column] += flow
            product[j, column] -= flow
    return product


def solve_columns(
    left: Integers, right: Integers, weight: Floats, degree: Floats, item_variance: float, columns: Floats, most: int
) -> Floats:
    """(n, c) (I / item_variance + L)^-1 @ columns, for columns that each sum to 0; most: products for each."""
    items, none = len(degree), np.empty(0)
    features, inverse, solved = np.empty((items, 0)), np.empty((0, 0)), np.empty_like(columns)
    # Not compiled: with the solver in it that takes more than a second, and a call takes microseconds.
    for column, given in enumerate(columns.T):
        _, tension, _ = conjugate_gradients(
            features,
            left,
            right,
            weight,
            degree,
            0.0,
            item_variance,
            inverse,
            none,
            np.zeros(items),
            np.ascontiguousarray(given),
            1e-26,
            most,
        )
        solved[:, column] = item_variance * tension
    return solved
