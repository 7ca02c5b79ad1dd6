"""The compiled loops over distinct pairs: counting them, their likelihood, and products with their Laplacian.

n  items     p  distinct pairs, left < right, sorted     k  columns     L = sum of weight * z z^T,  z = e_left - e_right
"""

from __future__ import annotations

import math

import numpy as np

from ordinate.kernels import compiled
from ordinate.types import Floats, Integers


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
def likelihood(
    left: Integers, right: Integers, asked: Floats, wins: Floats, scores: Floats
) -> tuple[float, Floats, Floats, Floats]:
    """log-likelihood, its gradient by item (n,), the weights asked * sigma'(m) (p,), their sums by item (n,)."""
    value = 0.0
    slope, degree, weight = np.zeros(scores.shape[0]), np.zeros(scores.shape[0]), np.empty(left.shape[0])
    for pair in range(left.shape[0]):
        i, j = left[pair], right[pair]
        margin = scores[i] - scores[j]
        decay = math.exp(-abs(margin))
        share = 1.0 / (1.0 + decay)
        chance = share if margin >= 0.0 else decay * share
        lost = wins[pair] if margin < 0.0 else asked[pair] - wins[pair]
        value -= lost * abs(margin) + asked[pair] * math.log1p(decay)
        push = wins[pair] - asked[pair] * chance
        slope[i] += push
        slope[j] -= push
        weight[pair] = asked[pair] * decay * share * share
        degree[i] += weight[pair]
        degree[j] += weight[pair]
    return value, slope, weight, degree


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
    item_precision: float,
    schur_inverse: Floats,
    theta_gradient: Floats,
    item_gradient: Floats,
    tolerance: float,
    most: int,
) -> tuple[Floats, Floats]:
    """The Newton direction of theta (k,) and of the items' terms (n,), by preconditioned conjugate gradients.

    H = [[theta_precision I + X^T L X, X^T L], [L X, item_precision I + L]]; the preconditioner has the diagonal of L in
    its place, solved by blocks: schur_inverse (k, k) is the inverse of
    theta_precision I + X^T diag(degree * item_precision / (item_precision + degree)) X.
    Stops once the squared preconditioned residual is `tolerance` times what it was or, with tolerance 0, a hundredth of
    it and, closer to the maximum, as much less as keeps Newton's convergence quadratic; or after `most` products.
    The gradient by item must sum to 0, as H keeps it: constants are eigenvectors that the preconditioner knows.
    """
    items, columns = features.shape
    own = 1.0 / (item_precision + degree)
    theta, terms = np.zeros(columns), np.zeros(items)
    theta_residual, item_residual = theta_gradient.copy(), item_gradient.copy()
    theta_way, item_way, score_way = np.zeros(columns), np.zeros(items), np.zeros(items)
    flow, before, first = np.empty(items), 0.0, 0.0
    for step in range(most):
        # The preconditioner by block elimination; the scores it moves are kept, which spares a product with X.
        theta_next = schur_inverse @ (theta_residual - features.T @ (degree * own * item_residual))
        moved = features @ theta_next
        item_next = own * (item_residual - degree * moved)
        item_next -= item_next.mean()
        size = float(theta_residual @ theta_next + item_residual @ item_next)
        if step == 0:
            first = size
        if size <= first * (tolerance or max(1e-16, 0.01 * min(1.0, first))):
            break
        keep = size / before if step else 0.0
        theta_way = theta_next + keep * theta_way
        item_way = item_next + keep * item_way
        score_way = moved + item_next + keep * score_way
        laplacian_product(left, right, weight, score_way, flow)
        theta_flow = theta_precision * theta_way + features.T @ flow
        item_flow = item_precision * item_way + flow
        length = size / float(theta_way @ theta_flow + item_way @ item_flow)
        theta += length * theta_way
        terms += length * item_way
        theta_residual -= length * theta_flow
        item_residual -= length * item_flow
        before = size
    return theta, terms


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


@compiled
def solve_columns(
    left: Integers, right: Integers, weight: Floats, degree: Floats, item_precision: float, columns: Floats
) -> Floats:
    """(n, c) (item_precision I + L)^-1 @ columns, for columns that each sum to 0."""
    nothing, solved = np.empty((degree.shape[0], 0)), np.empty_like(columns)
    for column in range(columns.shape[1]):
        _, terms = conjugate_gradients(
            nothing,
            left,
            right,
            weight,
            degree,
            0.0,
            item_precision,
            np.empty((0, 0)),
            np.empty(0),
            columns[:, column].copy(),
            1e-26,
            10_000,
        )
        solved[:, column] = terms
    return solved
