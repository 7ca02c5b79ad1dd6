"""The diagonal of A = (precision I + L)^-1 for a sparse Laplacian L, without the n^3 of an inverse: compiled.

With D the diagonal of A^-1 and W its off-diagonal weights, A^-1 = D - W, and with b = (W D^-1)^2 e_i

    A_ii = e_i^T (D^-1 + D^-1 W D^-1 + D^-1 W D^-1 W D^-1 + D^-1 W D^-1 W D^-1 W D^-1) e_i + b^T A b

The four terms (the second is 0) are sparse and summed in float64. For b^T A b, conjugate gradients add one positive
term per product (Golub and Meurant 2010, chapter 5), and converge twice as fast as for A b. They take 64 items at a
time. Constants are eigenvectors, A 1 = 1 / precision, and are removed first: they would slow down convergence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordinate.compiled import compiled
from ordinate.data.arrays import Floats, Integers

_TOGETHER = 64
"""Items side by side, so that each weight that is read is used 64 times and the loops over them are vectorised."""


@compiled
def adjacency(left: Integers, right: Integers, weight: Floats, items: int) -> tuple[Integers, Integers, Floats]:
    """W as compressed rows: item i's neighbours are other[start[i]:start[i + 1]], with their weights."""
    start = np.zeros(items + 1, dtype=np.int64)
    for pair in range(left.shape[0]):
        start[left[pair] + 1] += 1
        start[right[pair] + 1] += 1
    for item in range(items):
        start[item + 1] += start[item]
    place = start[:-1].copy()
    other, value = np.empty(start[-1], dtype=np.int64), np.empty(start[-1])
    for pair in range(left.shape[0]):
        for here, there in ((left[pair], right[pair]), (right[pair], left[pair])):
            other[place[here]], value[place[here]] = there, weight[pair]
            place[here] += 1
    return start, other, value


@compiled
def sparse_terms(
    start: Integers, other: Integers, value: Floats, diagonal: Floats, item: int, r: Floats, lane: int
) -> float:
    """The four sparse terms of A_ii; writes b into r[:, lane], which must be 0."""
    second, third = 0.0, 0.0
    for edge in range(start[item], start[item + 1]):
        near = other[edge]
        step = value[edge] / diagonal[item]
        second += step * step / diagonal[near]
        for further in range(start[near], start[near + 1]):
            r[other[further], lane] += value[further] * step / diagonal[near]
    for edge in range(start[item], start[item + 1]):
        third += value[edge] / diagonal[item] / diagonal[other[edge]] * r[other[edge], lane]
    total: float = 1.0 / diagonal[item] + second + third
    return total


def _product(start: Integers, other: Integers, value: Floats, diagonal: Floats, x: Floats, product: Floats) -> None:
    """product (n, 64) = A^-1 x."""
    for item in range(x.shape[0]):
        for lane in range(_TOGETHER):
            product[item, lane] = diagonal[item] * x[item, lane]
        edge = start[item]
        # Four neighbours at a time: the sums stay in registers longer.
        while edge + 4 <= start[item + 1]:
            a, b, c, d = other[edge], other[edge + 1], other[edge + 2], other[edge + 3]
            va, vb, vc, vd = value[edge], value[edge + 1], value[edge + 2], value[edge + 3]
            for lane in range(_TOGETHER):
                product[item, lane] -= va * x[a, lane] + vb * x[b, lane] + vc * x[c, lane] + vd * x[d, lane]
            edge += 4
        while edge < start[item + 1]:
            a, va = other[edge], value[edge]
            for lane in range(_TOGETHER):
                product[item, lane] -= va * x[a, lane]
            edge += 1


_fast_product = compiled(_product, fastmath=True, nogil=True)


def _inverse_diagonal(
    start: Integers,
    other: Integers,
    value: Floats,
    diagonal: Floats,
    precision: float,
    r: NDArray[Any],
    rounding: float,
    tolerance: float,
    most: int,
) -> tuple[Floats, bool]:
    """A_ii (n,), and whether each came within `tolerance`, relatively, in at most `most` products.

    r (n, 64) is work space; its type is that of the conjugate gradients: float32 for what is left after four terms.
    `rounding` is what that type may cost, relatively, of what they add; gives up where that is above the tolerance.
    """
    items = diagonal.shape[0]
    kind = r.dtype
    found = np.empty(items)
    scaled, whole, inverse = value.astype(kind), diagonal.astype(kind), (1.0 / diagonal).astype(kind)
    p, product = np.empty_like(r), np.empty_like(r)
    totals, exact, sums, r_z, r_z_before = np.empty((5, _TOGETHER))
    largest = diagonal.max() if items else 0.0
    alpha, beta, shift = np.empty((3, _TOGETHER), dtype=kind)
    for first in range(0, items, _TOGETHER):
        count = min(_TOGETHER, items - first)
        r[:] = 0.0
        sums[:] = 0.0
        totals[:] = 1.0
        for lane in range(count):
            totals[lane] = sparse_terms(start, other, value, diagonal, first + lane, r, lane)
        for item in range(items):
            for lane in range(_TOGETHER):
                sums[lane] += r[item, lane]
        totals += sums * sums / (items * precision)
        exact[:] = totals
        shift[:] = sums / items
        for item in range(items):
            for lane in range(_TOGETHER):
                r[item, lane] -= shift[lane]
        p[:] = 0.0
        beta[:] = 0.0
        converged = False
        for step in range(most + 1):
            r_z[:] = 0.0
            sums[:] = 0.0
            for item in range(items):
                for lane in range(_TOGETHER):
                    z = r[item, lane] * inverse[item]
                    r_z[lane] += r[item, lane] * z
                    sums[lane] += z
            worst = 0.0
            for lane in range(_TOGETHER):
                worst = max(worst, r_z[lane] / totals[lane])
            # A is at most 1 / precision, so this is the most that is still to come.
            if worst * largest / precision <= tolerance:
                converged = True
                break
            shift[:] = sums / items
            for lane in range(_TOGETHER):
                beta[lane] = r_z[lane] / r_z_before[lane] if step > 0 and r_z_before[lane] > 0.0 else 0.0
            for item in range(items):
                for lane in range(_TOGETHER):
                    p[item, lane] = r[item, lane] * inverse[item] - shift[lane] + beta[lane] * p[item, lane]
            _fast_product(start, other, scaled, whole, p, product)
            sums[:] = 0.0
            for item in range(items):
                for lane in range(_TOGETHER):
                    sums[lane] += p[item, lane] * product[item, lane]
            for lane in range(_TOGETHER):
                alpha[lane] = r_z[lane] / sums[lane] if sums[lane] > 0.0 else 0.0
                totals[lane] += alpha[lane] * r_z[lane]
                r_z_before[lane] = r_z[lane]
                if rounding * (totals[lane] - exact[lane]) > tolerance * totals[lane]:
                    return found, False
            for item in range(items):
                for lane in range(_TOGETHER):
                    r[item, lane] -= alpha[lane] * product[item, lane]
        if not converged:
            return found, False
        found[first : first + count] = totals[:count]
    return found, True


inverse_diagonal = compiled(_inverse_diagonal, fastmath=True, nogil=True)
