"""A pair near the best among too many pairs to look at them all; the same one for the same belief, whatever was kept.

1. The universe: every item, or of more than 2^17 those furthest from the middle and a random part.
2. The candidates: those of the universe with the largest variance, overall and at each level of the score, and some
   random ones. All pairs of the former are looked at, and all pairs within two neighbouring levels.
3. The items of the best pairs met look for their best partners in the whole universe, and all pairs of partners are
   looked at.

The best pairs met are scored again by the canonical formula. How much is lost against a look at every pair is measured
by benchmarks/large.py; `ceiling` bounds it for one belief.

    v_ij = |w_i - w_j|^2 + residual_i + residual_j,  w = features @ root;  moving all w at once changes nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ordinate import kernels
from ordinate.belief import ProjectedBelief, blocks, difference, mean_row
from ordinate.search import scans
from ordinate.search.choice import Choice, CurvaturePower, floor_of
from ordinate.search.pools import AllPairs
from ordinate.types import Floats, Integers, Singles

MOST_PAIRS = 200_000_000
"""Pools of more pairs than this (20,000 items in one group) are searched this way."""

_UNIVERSE = 1 << 17
_LEVELS = 24
_PER_LEVEL = 128
_OVERALL = 512
_RANDOM = 128
_STARTS = 32
_PARTNERS = 24
_TILE = 128
_BLOCK = 16
_WIDEST = 20.0
"""Half a score no further than this from the centre keeps exp and its products inside float32."""
_BOUND_LEVELS = 1000
_SINGLE = 1e-4
"""More than what a variance in float32 is off by, relatively."""


class _Met(NamedTuple):
    """Pairs that were the best of a row, each (p,), and what they are worth in float32."""

    left: Integers
    right: Integers
    value: Floats

    @classmethod
    def of(cls, parts: list[_Met]) -> _Met:
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class _Universe:
    """Rows (u,) of items, ascending; place (n,) of each item among them, -1 of others; and of the universe's items

    chunks  their features minus the middle, as `scans` has them
    group   (u,) the number of each one's group
    """

    rows: Integers
    place: Integers
    features: Singles
    middle: Singles
    chunks: Singles
    group: Integers

    @classmethod
    def of(cls, features: Singles, group: Integers) -> _Universe:
        rows = np.flatnonzero(group >= 0)
        middle = mean_row(features, rows).astype(np.float32)
        if len(rows) > _UNIVERSE:
            length = np.concatenate([scans.lengths(features[rows[block]] - middle) for block in blocks(len(rows))])
            order = np.argsort(-length, kind="stable")
            others = np.random.default_rng(len(rows)).choice(order[_UNIVERSE // 2 :], _UNIVERSE // 2, replace=False)
            rows = rows[np.sort(np.concatenate([order[: _UNIVERSE // 2], others]))]
        place = np.full(len(group), -1)
        place[rows] = np.arange(len(rows))
        return cls(rows, place, features, middle, scans.chunked(features, rows, middle), group[rows])

    def factor(self, places: Integers, root: Singles) -> Singles:
        """(p, k) w of some of the items."""
        about: Any = self.features[self.rows[places]]
        product: Singles = (about - self.middle) @ root
        return product


class _Variances:
    """(u,) squared lengths of w, as the answers since the covariance was renewed took them down."""

    def __init__(self, universe: _Universe, belief: ProjectedBelief) -> None:
        self.start, self._universe = belief.start, universe
        chunks, root = universe.chunks, np.ascontiguousarray(belief.start.T.astype(np.float32))
        self._at_start = np.empty((len(chunks), scans.CHUNK))
        for block, product in _products(root, chunks):
            scans.add_squares(product, self._at_start[block])
        self._taken: tuple[tuple[Floats, float], ...] = ()
        self._values = self._at_start

    def keep(self, taken: tuple[tuple[Floats, float], ...]) -> None:
        """Build on these from now on."""
        done = len(self._taken)
        # A piece was made from the belief with all pieces before it, so the last one tells.
        if done > len(taken) or (done and taken[done - 1] is not self._taken[-1]):
            self._taken, self._values = (), self._at_start
        self._values, self._taken = self._less(taken), taken

    def after(self, taken: tuple[tuple[Floats, float], ...]) -> Floats:
        """(u,) after these, of which the first ones are kept."""
        return self._less(taken).ravel()[: len(self._universe.rows)]

    def _less(self, taken: tuple[tuple[Floats, float], ...]) -> Floats:
        if not (new := taken[len(self._taken) :]):
            return self._values
        directions = np.array([direction for direction, _ in new], dtype=np.float32)
        values = self._values.copy()
        scans.take_off(self._universe.chunks, directions, np.array([rate for _, rate in new]), values)
        return values


@dataclass(frozen=True, eq=False)
class _Fit:
    """What holds between two refits: the scores of the universe from their centre, exp(+-score / 2), levels of scores.

    levels  each with the places of its items
    """

    of_mean: Floats
    scores: Floats
    growth: Singles
    decay: Singles
    levels: list[Integers]

    @classmethod
    def of(cls, mean: Floats, universe: _Universe) -> _Fit:
        scores = mean[universe.rows]
        scores = scores - 0.5 * (scores.max() + scores.min())
        half = np.clip(0.5 * scores, -_WIDEST, _WIDEST).astype(np.float32)
        levels = np.array_split(np.argsort(scores), min(_LEVELS, len(scores)))
        return cls(mean, scores, np.exp(half), np.exp(-half), levels)

    @property
    def wide(self) -> bool:
        """Whether exp(+-score / 2) does not serve."""
        return bool(self.scores.max() > 2.0 * _WIDEST)


class Large:
    """For one division into groups; what is kept may be dropped at any moment without changing a choice."""

    def __init__(self, pool: AllPairs, belief: ProjectedBelief) -> None:
        self._division, self._features = pool.rows, belief.features
        self._universe = _Universe.of(belief.features, pool.group)
        self._variances = _Variances(self._universe, belief)
        self._fit: _Fit | None = None

    def serves(self, pool: AllPairs, belief: ProjectedBelief) -> bool:
        return pool.rows is self._division and belief.features is self._features

    def best(
        self,
        answered: ProjectedBelief,
        belief: ProjectedBelief,
        pool: AllPairs,
        utility: CurvaturePower,
        rng: np.random.Generator,
    ) -> Choice | None:
        """A pair near the best under `belief`, which is `answered` with any open queries taken off.

        None where the pool has no pair in the universe.
        """
        universe, seed = self._universe, rng.integers(0, 2**64, dtype=np.uint64)
        fit = self._fitted(answered)
        self._variances.keep(answered.taken)
        variance = self._variances.after(belief.taken) + belief.residual[universe.rows]
        scan = _Scan(universe, fit, variance, belief.root, utility.exponent, _Barred.of(pool, universe))

        count = len(universe.rows)
        drawn = rng.choice(count, min(_RANDOM, count), replace=False)
        levels = [level[_largest(variance[level], _PER_LEVEL)] for level in fit.levels]
        candidates = [np.union1d(_largest(variance, _OVERALL), drawn), *map(np.concatenate, pairwise(levels))]
        # In random order, since of equal ones the first is taken.
        met = _Met.of([scan.among(rng.permutation(places)) for places in candidates])
        order = np.argsort(-met.value, kind="stable")
        ends = np.stack([met.left[order], met.right[order]], axis=1).ravel()
        starts = ends[np.sort(np.unique(ends, return_index=True)[1])][:_STARTS]
        partners = scan.rows(starts)
        met = _Met.of([met, partners, scan.among(np.union1d(starts, partners.right))])
        items = _Met(universe.rows[met.left], universe.rows[met.right], met.value)
        return _settled(belief, items, utility, seed, scan.looked)

    def _fitted(self, answered: ProjectedBelief) -> _Fit:
        if self._variances.start is not answered.start:
            self._variances = _Variances(self._universe, answered)
            self._fit = None
        if self._fit is None or self._fit.of_mean is not answered.mean:
            self._fit = _Fit.of(answered.mean, self._universe)
        return self._fit


def _largest(variance: Floats, count: int) -> Integers:
    """Places of the `count` largest ones, in no order."""
    return np.argpartition(-variance, min(count, len(variance)) - 1)[:count]


class _Barred:
    """The pairs of the universe that the pool lacks, by places: both ways round, sorted by the first."""

    def __init__(self, first: Integers, second: Integers) -> None:
        both = np.concatenate([first, second])
        order = np.argsort(both, kind="stable")
        self._first, self._second = both[order], np.concatenate([second, first])[order]

    @classmethod
    def of(cls, pool: AllPairs, universe: _Universe) -> _Barred:
        pairs = pool.pairs_of(pool.masked)
        first, second = universe.place[pairs.left], universe.place[pairs.right]
        inside = (first >= 0) & (second >= 0)
        return cls(first[inside], second[inside])

    def partners(self, places: Integers) -> tuple[Integers, Integers]:
        """Indices into `places`, and the places each of them may not be paired with."""
        begin, end = np.searchsorted(self._first, [places, places + 1])
        size = end - begin
        numbers = np.repeat(np.arange(len(places)), size)
        offsets = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        return numbers, self._second[np.repeat(begin, size) + offsets]


class _Scan:
    """Looks at rows of pairs under one belief, and counts them."""

    def __init__(
        self, universe: _Universe, fit: _Fit, variance: Floats, root: Floats, exponent: int, barred: _Barred
    ) -> None:
        self._universe, self._scores = universe, fit.scores
        self._root, self._barred = root.astype(np.float32), barred
        self._wide = fit.wide and exponent != 0
        # Where the curvature does not count, e_i / e_j + e_j / e_i has to be 1.
        even = np.full(len(variance), np.sqrt(0.5), dtype=np.float32)
        around = (fit.growth, fit.decay) if exponent else (even, even)
        self._items = np.stack([variance.astype(np.float32), *around])
        self.looked = 0

    def rows(self, places: Integers) -> _Met:
        """The best partners of each of these in the whole universe, at most one in each chunk of it."""
        universe, chunks = self._universe, self._universe.chunks
        # Both roots onto the few rows, and not onto the universe.
        directions = universe.factor(places, self._root) @ np.ascontiguousarray(self._root.T)
        numbers, partners = self._barred.partners(places)
        barred = np.append(partners, places), np.append(numbers, np.arange(len(places)))
        order = np.argsort(barred[1], kind="stable")
        barred_from = np.searchsorted(barred[1][order], np.arange(len(places) + 1))
        values = np.empty((len(chunks), len(places)), dtype=np.float32)
        found = np.empty((len(chunks), len(places)), dtype=np.int64)
        for block, worths in _products(directions, chunks):
            scans.worths_of_rows(
                worths,
                block.start,
                self._items[:, places],
                self._scores[places],
                self._items,
                self._scores,
                self._wide,
                universe.group,
                universe.group[places],
                barred[0][order],
                barred_from,
            )
            found[block] = worths.argmax(axis=2)
            values[block] = np.take_along_axis(worths, found[block][:, :, None], axis=2)[:, :, 0]
        found += scans.CHUNK * np.arange(len(chunks))[:, None]
        if len(chunks) > _PARTNERS:
            best = np.argpartition(-values, _PARTNERS - 1, axis=0)[:_PARTNERS]
            values, found = np.take_along_axis(values, best, axis=0), np.take_along_axis(found, best, axis=0)
        self.looked += len(places) * len(universe.rows)
        kept = values != scans.NONE
        return _Met(np.broadcast_to(places, found.shape)[kept], found[kept], values[kept])

    def among(self, places: Integers) -> _Met:
        """The best partner of each of these among those after it."""
        universe, count = self._universe, len(places)
        factor = universe.factor(places, self._root)
        position = np.full(len(universe.rows), -1)
        position[places] = np.arange(count)
        numbers, partners = self._barred.partners(places)
        inside = position[partners] >= 0
        barred, barred_from = position[partners[inside]], np.searchsorted(numbers[inside], np.arange(count + 1))
        items, scores, group = self._items[:, places], self._scores[places], universe.group[places]
        values, found = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.int64)
        for begin in range(0, count, _TILE):
            rows = slice(begin, min(begin + _TILE, count))
            worths = factor[rows] @ factor[begin:].T
            scans.worths_with_later(worths, begin, items, scores, self._wide, group, barred, barred_from)
            best = worths.argmax(axis=1)
            values[rows], found[rows] = worths[np.arange(len(worths)), best], begin + best
        self.looked += count * (count - 1) // 2
        kept = values != scans.NONE
        return _Met(places[kept], places[found[kept]], values[kept])


def _products(matrix: Singles, chunks: Singles) -> Iterator[tuple[slice, Singles]]:
    """matrix (m, k) @ chunks (some, k, CHUNK), some at a time in the same place: they stay in a core's cache."""
    place = np.empty((min(_BLOCK, len(chunks)), len(matrix), scans.CHUNK), dtype=np.float32)
    for begin in range(0, len(chunks), _BLOCK):
        block = slice(begin, min(begin + _BLOCK, len(chunks)))
        yield block, np.matmul(matrix, chunks[block], out=place[: block.stop - begin])


def _settled(
    belief: ProjectedBelief, met: _Met, utility: CurvaturePower, seed: np.uint64, looked: int
) -> Choice | None:
    """Of the pairs met that come near the best, the one that the canonical formula finds best; ties at random."""
    if not len(met.value):
        return None
    near = np.flatnonzero(met.value >= floor_of(float(met.value.max()), _SINGLE))
    left, right = met.left[near], met.right[near]
    values = utility(*difference(belief, left, right))
    tied = np.flatnonzero(values >= floor_of(float(values.max())))
    place = tied[np.argmax(kernels.pair_priorities(seed, left[tied], right[tied]))]
    return Choice(int(left[place]), int(right[place]), float(values[place]), looked)


def ceiling(belief: ProjectedBelief, group: Integers, exponent: int) -> float:
    """An upper bound of sigma'(m)^exponent v over all pairs of items of any group: no pair can be worth more.

    By the triangle inequality v <= (|w_i| + |w_j|)^2 + residual_i + residual_j, with w from their middle; the items are
    cut into levels of the score, and two levels are as near to each other as their nearest items.
    """
    rows = np.flatnonzero(group >= 0)
    root = belief.root.astype(np.float32)
    middle = mean_row(belief.features, rows).astype(np.float32)
    about: Any = belief.features
    parts = [scans.lengths((about[rows[block]] - middle) @ root) for block in blocks(len(rows))]
    reach = np.sqrt(np.concatenate(parts)) * (1.0 + _SINGLE)
    order = np.argsort(belief.mean[rows], kind="stable")
    levels = [level for level in np.array_split(order, _BOUND_LEVELS) if len(level)]
    scores = belief.mean[rows]
    low, high = (np.array([scores[level[end]] for level in levels]) for end in (0, -1))
    widest = np.array([reach[level].max() for level in levels])
    residual = np.array([belief.residual[rows[level]].max() for level in levels])
    gap = np.maximum(low[:, None] - high[None, :], 0.0)
    spread = np.square(widest[:, None] + widest[None, :]) + residual[:, None] + residual[None, :]
    bounds = kernels.power_utilities((gap + gap.T).ravel(), spread.ravel(), exponent)
    return float(bounds.max())
