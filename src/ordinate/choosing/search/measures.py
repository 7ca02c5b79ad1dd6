"""What bounds the pairs of an item: its score and the variance it adds. Of many items, only the widest are measured.

    x_i = features_i - centre, with the centre of the item's group     w_i = x_i @ root
    g  the direction of w that scores follow     across_i  the length of w_i without its part along g
    width_i = across_i^2 + residual_i, times the item's weight
    n  all items     u  some of them     k  columns

To find the widest of a million items, w is not computed for all of them at each refit. across_i^2 is x_i M x_i^T for a
matrix M, which changes little from one refit to the next, and mostly in as many directions as there are new answers.
So a matrix A and x_i A x_i^T of each item are kept. The directions in which M and A differ most are added to A, which
takes one product per item and direction. What is left of M - A bounds each width from above and from below by its
largest and its smallest eigenvalue, times |x_i|^2. Only the items that these bounds leave open are then compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.choosing.search.limits import SINGLE_ROUNDING, Limits
from ordinate.compiled import fast
from ordinate.data.arrays import Floats, Integers, Singles
from ordinate.data.pairs import Division
from ordinate.learning.belief import ManyItemsBelief
from ordinate.learning.belief.projected import mean_row, row_blocks

_HEAVY = 0.5
"""Items of more than this share of the largest weight are in blocks of their own: a mark in a block of lighter items
would raise the bounds of all pairs with that block."""
_NEAR = 0.005
"""Directions in which M and A differ by a smaller share of the largest eigenvalue of M are left to the bounds."""


class Measures(NamedTuple):
    """Of items: rows, groups, scores, residuals, weights, and whether these are heavy; of their w the squared length,
    g w and the length across g; all (u,)."""

    rows: Integers
    group: Integers
    score: Floats
    residual: Floats
    weight: Floats
    heavy: NDArray[np.bool_]
    squared: Floats
    along: Floats
    across: Floats

    @property
    def width(self) -> Floats:
        width: Floats = (np.square(self.across) + self.residual) * self.weight
        return width

    def at(self, places: Integers) -> Measures:
        return Measures(
            self.rows[places],
            self.group[places],
            self.score[places],
            self.residual[places],
            self.weight[places],
            self.heavy[places],
            self.squared[places],
            self.along[places],
            self.across[places],
        )


class Measuring:
    """For one set of features and one division into groups. What is kept may be dropped: it changes no result.

    centres (groups, k): any points; bounds are tighter the nearer they are to the means of the groups.
    """

    def __init__(self, division: Division, centres: Singles, limits: Limits) -> None:
        self._division, self._centres, self._limits = division, centres, limits
        self._rows = np.sort(division.order)
        self._group = division.number[self._rows]
        self._kept: _Kept | None = None
        self._room = [np.empty((0, centres.shape[1]), dtype=np.float32) for _ in range(2)]

    def every(self, belief: ManyItemsBelief, weights: Floats | None) -> Measures:
        """Of all items, ascending; weights (n,): see `MonotoneUtility`."""
        return self._measured(belief, np.arange(len(self._rows)), self._direction(belief), weights)

    def searched(self, belief: ManyItemsBelief, most: int, weights: Floats | None) -> tuple[Measures, Singles]:
        """Of the `most` widest items, ascending, and their w (u, k), which the next call overwrites."""
        direction = self._direction(belief)
        places = self._widest(belief, direction, most, weights)
        factor = self.room(0, len(places))
        return self._measured(belief, places, direction, weights, factor), factor

    def room(self, number: int, rows: int) -> Singles:
        """(rows, k) of one of two pieces of memory: a new one of this size takes longer to get than to fill."""
        if len(self._room[number]) < rows:
            self._room[number] = np.empty((rows, self._centres.shape[1]), dtype=np.float32)
        return self._room[number][:rows]

    def widest(self, belief: ManyItemsBelief, most: int, weights: Floats | None) -> Integers:
        """The places of the `most` widest items among all, ascending; of equal ones the first.

        A few heavy items are among them however narrow they are: what an answer is to tell is of the other item.
        """
        return self._widest(belief, self._direction(belief), most, weights)

    def _widest(self, belief: ManyItemsBelief, direction: Singles, most: int, weights: Floats | None) -> Integers:
        if len(self._rows) <= most:
            return np.arange(len(self._rows))
        weight, heavy = self._weights(weights)
        lower, upper = self._bounds(belief, direction, weight)
        if 2 * np.count_nonzero(heavy) <= most:
            lower[heavy] = upper[heavy] = np.inf
        inside = lower > np.partition(upper, -most - 1)[-most - 1]
        maybe = np.flatnonzero((upper >= np.partition(lower, -most)[-most]) & ~inside)
        inside[maybe[largest(self._widths(belief, direction, maybe) * weight[maybe], most - inside.sum())]] = True
        return np.flatnonzero(inside)

    def _bounds(self, belief: ManyItemsBelief, direction: Singles, weight: Floats) -> tuple[Floats, Floats]:
        """(n,) of the widths, from below and from above."""
        self._kept, least, greatest = self._moved(belief, direction)
        width = self._kept.squares + belief.residual[self._rows]
        return (width + least * self._kept.norms) * weight, (width + greatest * self._kept.norms) * weight

    def _moved(self, belief: ManyItemsBelief, direction: Singles) -> tuple[_Kept, float, float]:
        """What is kept, nearer to x M x^T; how much less and more that may be, over |x|^2."""
        root = _across(belief.root, direction)
        form = root @ root.T
        scale, kept = float(np.linalg.eigvalsh(form).max(initial=0.0)), self._kept
        if kept is None or kept.rounding > _NEAR * scale:
            norms = self._norms(belief) if kept is None else kept.norms
            # Before any answers, M differs from this in one direction.
            kept = _Kept(scale * np.eye(len(form)), scale * norms, norms, SINGLE_ROUNDING * scale)
        values, vectors = np.linalg.eigh(form - kept.form)
        far = np.abs(values) > _NEAR * scale
        values, vectors, rest = values[far], vectors[:, far], values[~far]
        squares, single = kept.squares.copy(), vectors.astype(np.float32)
        for block in self._blocks(len(self._rows)):
            squares[block] += np.square(self._times(belief, self._rows[block], single)) @ values
        rounding = kept.rounding + SINGLE_ROUNDING * float(np.abs(values).max(initial=0.0))
        kept = _Kept(kept.form + (vectors * values) @ vectors.T, squares, kept.norms, rounding)
        # The widths that these bounds are for are in float32, too.
        rounding += SINGLE_ROUNDING * scale
        return kept, float(rest.min(initial=0.0)) - rounding, float(rest.max(initial=0.0)) + rounding

    def _widths(self, belief: ManyItemsBelief, direction: Singles, places: Integers) -> Floats:
        """(u,) without the weights, the same bits among whichever other items."""
        rows = self._rows[places]
        columns = np.ascontiguousarray(_across(belief.root, direction).T.astype(np.float32))
        numbers = self._division.number[rows] if len(self._centres) > 1 else np.zeros(len(rows), dtype=np.int64)
        widths: Floats = squared_lengths(belief.features, rows, self._centres, numbers, columns) + belief.residual[rows]
        return widths

    def _measured(
        self,
        belief: ManyItemsBelief,
        places: Integers,
        direction: Singles,
        weights: Floats | None,
        factor: Singles | None = None,
    ) -> Measures:
        """Of the items at some places, ascending; writes their w into a factor (u, k)."""
        rows, root = self._rows[places], belief.root.astype(np.float32)
        squared, along = np.empty((2, len(rows)))
        for block in self._blocks(len(rows)):
            w = self._times(belief, rows[block], root)
            squared[block], along[block] = np.einsum("nk,nk->n", w, w), w @ direction
            if factor is not None:
                factor[block] = w
        across = np.sqrt(np.maximum(squared - along * along, 0.0) + SINGLE_ROUNDING * squared)
        weight, heavy = self._weights(weights)
        return Measures(
            rows,
            self._group[places],
            belief.mean[rows],
            belief.residual[rows],
            weight[places],
            heavy[places],
            squared,
            along,
            across,
        )

    def _norms(self, belief: ManyItemsBelief) -> Floats:
        """(n,) |x|^2."""
        norms = np.empty(len(self._rows))
        for block in self._blocks(len(norms)):
            rows = self._rows[block]
            x = _features(belief, rows) - self._centre(rows)
            norms[block] = np.einsum("nk,nk->n", x, x)
        return norms

    def _times(self, belief: ManyItemsBelief, rows: Integers, matrix: Singles) -> Singles:
        """(r, c) x @ matrix of some rows, ascending."""
        features, centre = _features(belief, rows), self._centre(rows)
        # One centre that is no longer than most x: this rounds hardly more, and takes half of the time.
        if len(centre) == 1 and 2.0 * len(rows) * np.vdot(centre, centre) <= np.vdot(features, features):
            product: Singles = features @ matrix
            product -= centre @ matrix
            return product
        centred: Singles = features - centre
        return centred @ matrix

    def _centre(self, rows: Integers) -> Singles:
        """(r, k) of the group of each row, or (1, k) of the only group."""
        return self._centres[self._division.number[rows]] if len(self._centres) > 1 else self._centres

    def _blocks(self, count: int) -> Iterator[slice]:
        """As many items at a time as stay in a core's cache."""
        for start in range(0, count, self._limits.rows_at_once):
            yield slice(start, min(start + self._limits.rows_at_once, count))

    def _weights(self, weights: Floats | None) -> tuple[Floats, NDArray[np.bool_]]:
        """(n,) of all items, and which of them are heavy."""
        weight = np.ones(len(self._rows)) if weights is None else weights[self._rows]
        return weight, weight > _HEAVY * weight.max()

    def _direction(self, belief: ManyItemsBelief) -> Singles:
        """(k,) g of length 1, by least squares over some items; 0 where no direction says anything about the scores."""
        score = belief.mean[self._rows]
        sample = slice(None, None, max(len(score) // self._limits.direction_sample, 1))
        within = score[sample] - (np.bincount(self._group, score) / self._division.sizes)[self._group[sample]]
        factor = self._times(belief, self._rows[sample], belief.root.astype(np.float32)).astype(np.float64)
        slope = np.linalg.lstsq(factor.T @ factor, factor.T @ within, rcond=None)[0]
        length = max(float(np.linalg.norm(slope)), float(np.finfo(np.float64).tiny))
        unit: Singles = (slope / length).astype(np.float32)
        return unit


class _Kept(NamedTuple):
    """A from the last refits.

    form      (k, k) A
    squares   (n,) x A x^T
    norms     (n,) |x|^2
    rounding  by how much the squares may be off, relative to the norms
    """

    form: Floats
    squares: Floats
    norms: Floats
    rounding: float


def _features(belief: ManyItemsBelief, rows: Integers) -> Singles:
    """(r, k) of some rows, ascending; those that follow one another are not copied."""
    in_a_row = rows[-1] - rows[0] == len(rows) - 1
    features: Singles = belief.features[rows[0] : rows[-1] + 1] if in_a_row else belief.features[rows]
    return features


def largest(values: Floats, count: int) -> Integers:
    """The places of so many of the largest values (n,), ascending; of equal values the first."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, -count)[-count]
    chosen = values > least
    chosen[np.flatnonzero(values == least)[: count - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


def group_centres(features: Singles, division: Division) -> Singles:
    """(groups, k) the mean of each group's features."""
    if len(division.rows) == 1:
        return mean_row(features, division.order)[None].astype(np.float32)
    means = np.zeros((len(division.rows), features.shape[1]), dtype=np.float32)
    for block in row_blocks(len(division.order)):
        rows = division.order[block]
        starts = np.flatnonzero(np.diff(division.number[rows], prepend=-1))
        groups = division.number[rows[starts]]
        means[groups] += np.add.reduceat(features[rows], starts, dtype=np.float64) / division.sizes[groups, None]
    return means


def _across(root: Floats, direction: Singles) -> Floats:
    """(k, k) the root of M: x @ it has the length across, a little more than that of w without its part along g."""
    along = (np.sqrt(SINGLE_ROUNDING) - np.sqrt(1.0 + SINGLE_ROUNDING)) * np.outer(root @ direction, direction)
    across: Floats = np.sqrt(1.0 + SINGLE_ROUNDING) * root + along
    return across


@fast
def squared_lengths(features: Singles, rows: Integers, centres: Singles, numbers: Integers, columns: Singles) -> Floats:
    """(u,) |x @ root|^2 of some rows: x = features less the centre of that number (u,); columns (k, k) of the root.

    The bits depend on the row alone, not on the rows around it as those of a matrix product do.
    """
    squared, x = np.empty(len(rows)), np.empty(columns.shape[1], dtype=np.float32)
    for place in range(len(rows)):
        for column in range(columns.shape[1]):  # an assignment of arrays takes seconds to compile
            x[column] = features[rows[place], column] - centres[numbers[place], column]
        total = np.float32(0.0)
        for column in range(columns.shape[0]):
            product = np.float32(0.0)
            for term in range(columns.shape[1]):
                product += x[term] * columns[column, term]
            total += product * product
        squared[place] = total
    return squared
