"""From raw features to the numbers that the models use. The map belongs to a study; new items go through it, too.

The prior on the coefficients is isotropic, so the unit of the features matters. A study has one of these rules:

    robust     as standard, after outlying values are clipped, and rare values have their own scale (`Limits`)
    standard   a matrix (an embedding, pixels) is centred and divided by one scalar that makes the mean squared norm of
               an item 1: whitening it would amplify its noise. Named columns have units of their own, so each is
               divided by its standard deviation first. Constant columns drop out
    none       features are only centred: no answer depends on their means, but the last digits would
    uncentred  features stay as they are; only studies that an earlier version made with "none" have this rule

Where an item has more columns than there are items, features are rotated onto the span of the study's items, and one
more column holds the norm of the part outside that span: 0 for the study's own items. Under an isotropic prior this
changes no posterior, and the cost then depends on n instead of d.

    n, m  items     d  raw columns     k  columns after the map
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats
from ordinate.data.matrices import row_blocks
from ordinate.errors import InvalidInput

Scaling = Literal["robust", "standard", "none"]
"""What a new study may have; `FeatureMap.fit` also takes "uncentred"."""

_FAR = 5.0
"""A value is outlying where it is so many times as far from the median as nine in ten values."""
_MOST = 0.9
_FEWEST = 10
"""Of fewer items than this, none is called an outlier."""
_SAMPLE = 1 << 11
"""Medians and quantiles are those of so many items, evenly spaced."""
_LARGEST = 1e15
"""Larger differences of features that are not scaled would overflow in products of four of them."""
_BLOCK = 1 << 17
"""Numbers per block of rows: few enough that a block stays in the cache of a core, and its memory is used again."""
_CONSTANT = 1e-12
"""A column whose standard deviation is below this share of its largest value is constant up to rounding."""


@dataclass(frozen=True, eq=False)
class Limits:
    """How far from the middle features may be: a named column's value, or a row of a matrix; others are clipped.

    middle  (d,) the median of each column
    reach   (d,) of each column, or (1,) of a row's distance from the middle
    spread  (d,) the scale of a named column where nine in ten items have one value, else 0: half of what the others are
            away from it, so that a flag has the scale of a flag that half of the items have
    """

    named: bool
    middle: Floats
    reach: Floats
    spread: Floats

    @classmethod
    def of(cls, features: Floats, named: bool, active: NDArray[np.bool_]) -> Limits | None:
        """None where there are too few active items."""
        rows = np.flatnonzero(active)
        if len(rows) < _FEWEST or not features.shape[1]:
            return None
        sampled = features[rows[:: -(-len(rows) // _SAMPLE)]].astype(np.float64, copy=False)
        middle = np.median(sampled, axis=0)
        gaps = np.abs(sampled - middle) if named else _distances(sampled - middle)[:, None]
        reach = _FAR * np.quantile(gaps, _MOST, axis=0, method="lower")
        spread = np.zeros(features.shape[1])
        if not named:
            return cls(named, middle, np.where(reach > 0.0, reach, np.inf), spread)
        for column in np.flatnonzero(reach == 0.0):
            gap = np.abs(features[:, column] - middle[column])[rows]
            if (others := gap[gap > 0.0]).size:
                spread[column] = 0.5 * np.median(others)
                reach[column] = _FAR * np.quantile(others, _MOST, method="lower")
        return cls(named, middle, reach, spread)

    def outlying(self, features: Floats) -> NDArray[np.bool_]:
        """(m, d) which values of named columns (m, d) are outlying, or (m, 1) which rows of a matrix."""
        gaps = features - self.middle
        far: NDArray[np.bool_] = (np.abs(gaps) if self.named else _distances(gaps)[:, None]) > self.reach
        return far

    def clipped(self, features: Floats) -> Floats:
        """(m, d) the features, with outlying ones at their limit."""
        if self.named:
            inside: Floats = np.clip(features, self.middle - self.reach, self.middle + self.reach)
            return inside
        far = np.flatnonzero(self.outlying(features))
        if not far.size:
            return features
        gaps, inside = features[far] - self.middle, np.array(features, dtype=np.float64)
        inside[far] = self.middle + gaps * (self.reach / _distances(gaps))[:, None]
        return inside


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """features -> (features[:, kept] - centre) / divisor, then onto `basis` where there is one."""

    kept: NDArray[np.intp]
    centre: Floats
    divisor: Floats
    basis: Floats | None
    limits: Limits | None = None

    @classmethod
    def fit(cls, features: Floats, named: bool, scaling: str, active: NDArray[np.bool_]) -> FeatureMap:
        """The map for a study whose items have these features (n, d); only the active items count."""
        limits = Limits.of(features, named, active) if scaling == "robust" else None
        if scaling in ("none", "uncentred"):
            kept = np.arange(features.shape[1])
            centre = _centre(features, active) if scaling == "none" else np.zeros(len(kept))
            divisor = np.ones(len(kept))
        else:
            kept, centre, divisor = _one_unit(features, named, active, limits)
        found = cls(kept, centre, divisor, None, limits)
        if len(kept) > np.count_nonzero(active):
            basis = np.linalg.qr(found._scaled(features[np.flatnonzero(active)]).T)[0]
            return cls(kept, centre, divisor, basis, limits)
        return found

    @property
    def widths(self) -> tuple[int, ...]:
        """How many columns there are after the map: those of one block."""
        return (len(self.kept) if self.basis is None else self.basis.shape[1] + 1,)

    def transform(self, features: Floats, kept: type[np.floating[Any]] = np.float64) -> Floats:
        """(m, d) raw features -> (m, k) of the type `kept`."""
        scaled: Floats = np.empty((len(features), *self.widths), dtype=kept)
        for start, block in _blocks(features):
            scaled[start : start + len(block)] = self._transformed(block)
        return scaled

    def _transformed(self, features: Floats) -> Floats:
        scaled = self._scaled(features)
        if self.basis is None:
            return scaled
        inside = scaled @ self.basis
        outside = np.linalg.norm(scaled - inside @ self.basis.T, axis=1)
        # The study's own items lie in the span; any remainder is rounding.
        outside[outside <= 1e-9 * np.linalg.norm(scaled, axis=1)] = 0.0
        return np.column_stack([inside, outside])

    def _scaled(self, features: Floats) -> Floats:
        if self.limits is not None:
            features = self.limits.clipped(features)
        every = len(self.kept) == features.shape[1]
        scaled: Floats = (features if every else features[:, self.kept]) - self.centre
        scaled /= self.divisor
        return scaled


def require_differences(features: Floats) -> None:
    """Raise InvalidInput where differences of features that are not scaled would overflow."""
    active = np.ones(len(features), dtype=np.bool_)
    least, most = np.full(features.shape[1], np.inf), np.full(features.shape[1], -np.inf)
    for block in _active_blocks(features, active):
        least, most = np.minimum(least, block.min(axis=0)), np.maximum(most, block.max(axis=0))
    far = np.flatnonzero(0.5 * most - 0.5 * least > 0.5 * _LARGEST)
    if far.size:
        raise InvalidInput(
            f"feature column {far[0] + 1} runs from {least[far[0]]:g} to {most[far[0]]:g}, too far apart to compute "
            "with; take another unit, or let the study scale the features"
        )


def _blocks(features: Floats) -> Iterator[tuple[int, Floats]]:
    return row_blocks(features, max(_BLOCK // max(features.shape[1], 1), 1))


def _active_blocks(features: Floats, active: NDArray[np.bool_]) -> Iterator[Floats]:
    for start, block in _blocks(features):
        here = active[start : start + len(block)]
        yield (block if here.all() else block[here]).astype(np.float64, copy=False)


def _centre(features: Floats, active: NDArray[np.bool_]) -> Floats:
    """(d,) the mean, from differences, so that it is exact for constant columns however large."""
    rows = np.flatnonzero(active)
    first = np.array(features[rows[:1]], dtype=np.float64).sum(axis=0)
    total = np.zeros(features.shape[1])
    for block in _active_blocks(features, active):
        total += (block - first).sum(axis=0)
    centre: Floats = first + total / max(len(rows), 1)
    return centre


def _distances(gaps: Floats) -> Floats:
    """(m,) norms of rows (m, d): squares of 1e200 would overflow, of 1e-200 vanish."""
    with np.errstate(over="ignore"):
        squares: Floats = np.einsum("md,md->m", gaps, gaps)
    norms = np.sqrt(squares)
    extreme = np.flatnonzero(~((squares > 1e-280) & (squares < 1e300)))
    unit = np.abs(gaps[extreme]).max(axis=1, initial=0.0)
    unit[unit == 0.0] = 1.0
    norms[extreme] = unit * np.sqrt(np.square(gaps[extreme] / unit[:, None]).sum(axis=1))
    return norms


def _one_unit(
    features: Floats, named: bool, active: NDArray[np.bool_], limits: Limits | None
) -> tuple[NDArray[np.intp], Floats, Floats]:
    blocks = _active_blocks(features, active)
    unit, centre, spread = _spreads(features.shape[1], blocks if limits is None else map(limits.clipped, blocks))
    kept = np.flatnonzero(spread > _CONSTANT)
    deviation = spread[kept] * unit[kept]
    if limits is not None:
        deviation = np.where(limits.spread[kept] > 0.0, limits.spread[kept], deviation)
    if named:
        divisor = deviation * np.sqrt(len(kept))
    else:
        largest = deviation.max(initial=0.0)
        norm = largest * np.sqrt(np.square(deviation / largest).sum()) if len(kept) else 1.0
        divisor = np.full(len(kept), norm)
    return kept, centre[kept] * unit[kept], divisor


def _spreads(columns: int, blocks: Iterable[Floats]) -> tuple[Floats, Floats, Floats]:
    """(d,) the largest value of each column; its mean and its standard deviation, both divided by that.

    Means and squares of blocks (m, d) are put together (Chan, Golub and LeVeque 1979), so each is read once. They are
    relative to the largest value so far: squares of 1e200 would overflow, of 1e-200 vanish.
    """
    count = 0
    largest, centre, squares = np.zeros((3, columns))
    for block in blocks:
        if not len(block):
            continue
        before, largest = largest, np.maximum(largest, np.maximum(block.max(axis=0), -block.min(axis=0)))
        unit = np.where(largest > 0.0, largest, 1.0)
        centre *= before / unit
        squares *= np.square(before / unit)
        gaps = block / unit
        mean = gaps.mean(axis=0)
        gaps -= mean
        moved, share = mean - centre, len(block) / (count + len(block))
        squares += np.einsum("md,md->d", gaps, gaps) + count * share * np.square(moved)
        centre += share * moved
        count += len(block)
    return largest, centre, np.sqrt(squares / max(count, 1))
