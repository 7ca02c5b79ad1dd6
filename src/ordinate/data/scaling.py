"""From raw features to the numbers that the models use. The map belongs to a study; new items go through it, too.

The prior on the coefficients is isotropic, so the unit of the features matters. A matrix (an embedding, pixels) is
centred and divided by one scalar that makes the mean squared norm of an item 1: whitening it would amplify its noise.
Named columns have units of their own, so each is divided by its standard deviation first. Constant columns drop out.

Where an item has more columns than there are items, features are rotated onto the span of the study's items, and one
more column holds the norm of the part outside that span: 0 for the study's own items. Under an isotropic prior this
changes no posterior, and the cost then depends on n instead of d.

    n, m  items     d  raw columns     k  columns after the map
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats
from ordinate.data.matrices import row_blocks

Scaling = Literal["auto", "none"]

_BLOCK = 1 << 11
"""Rows per block: few enough that a block stays in the cache of a core."""
_CONSTANT = 1e-12
"""A column whose standard deviation is below this share of its largest value is constant up to rounding."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """features -> (features[:, kept] - centre) / divisor, then onto `basis` where there is one."""

    kept: NDArray[np.intp]
    centre: Floats
    divisor: Floats
    basis: Floats | None

    @classmethod
    def fit(cls, features: Floats, named: bool, scaling: Scaling, active: NDArray[np.bool_]) -> FeatureMap:
        """The map for a study whose items have these features (n, d); only the active items count."""
        if scaling == "none":
            kept = np.arange(features.shape[1])
            centre, divisor = np.zeros(len(kept)), np.ones(len(kept))
        else:
            kept, centre, divisor = _one_unit(features, named, active)
        basis = None
        if len(kept) > np.count_nonzero(active):
            basis = np.linalg.qr(((features[np.flatnonzero(active)][:, kept] - centre) / divisor).T)[0]
        return cls(kept, centre, divisor, basis)

    def transform(self, features: Floats, kept: type[np.floating[Any]] = np.float64) -> Floats:
        """(m, d) raw features -> (m, k) of the type `kept`."""
        columns = len(self.kept) if self.basis is None else self.basis.shape[1] + 1
        scaled: Floats = np.empty((len(features), columns), dtype=kept)
        for start, block in row_blocks(features, _BLOCK):
            scaled[start : start + len(block)] = self._transformed(block)
        return scaled

    def _transformed(self, features: Floats) -> Floats:
        every = len(self.kept) == features.shape[1]
        scaled: Floats = (features if every else features[:, self.kept]) - self.centre
        scaled /= self.divisor
        if self.basis is None:
            return scaled
        inside = scaled @ self.basis
        outside = np.linalg.norm(scaled - inside @ self.basis.T, axis=1)
        # The study's own items lie in the span; any remainder is rounding.
        outside[outside <= 1e-9 * np.linalg.norm(scaled, axis=1)] = 0.0
        return np.column_stack([inside, outside])


def _one_unit(features: Floats, named: bool, active: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Floats, Floats]:
    def seen() -> Iterator[Floats]:
        for start, block in row_blocks(features, _BLOCK):
            here = active[start : start + len(block)]
            yield (block if here.all() else block[here]).astype(np.float64, copy=False)

    count = max(int(np.count_nonzero(active)), 1)
    # Each column relative to its largest value: squares of 1e200 would overflow, of 1e-200 vanish.
    magnitude: Floats = np.zeros(features.shape[1])
    for block in seen():
        for end in (block.max(axis=0, initial=0.0), -block.min(axis=0, initial=0.0)):
            magnitude = np.maximum(magnitude, end)
    unit = np.where(magnitude > 0, magnitude, 1.0)
    centre, spread = np.zeros(len(unit)), np.zeros(len(unit))
    for block in seen():
        centre += (block / unit).sum(axis=0)
    centre /= count
    for block in seen():
        spread += np.square(block / unit - centre).sum(axis=0)
    spread = np.sqrt(spread / count)
    kept = np.flatnonzero(spread > _CONSTANT)
    deviation = spread[kept] * unit[kept]
    if named:
        divisor = deviation * np.sqrt(len(kept))
    else:
        largest = deviation.max(initial=0.0)
        norm = largest * np.sqrt(np.square(deviation / largest).sum()) if len(kept) else 1.0
        divisor = np.full(len(kept), norm)
    return kept, centre[kept] * unit[kept], divisor
