"""From raw features to the numbers the models see. The rule belongs to a study; new items go through the same map.

The prior on the coefficients is isotropic, so the unit of the features matters. A matrix (an embedding, pixels) is
centred and divided by one scalar that makes the mean squared norm of an item 1: whitening it would blow its noise up.
Named columns have units of their own, so each is divided by its standard deviation first. Constant columns drop out.

Where an item has more columns than there are items, features are rotated onto the span of the study's items, and one
more column holds the length of what sticks out of it: 0 for the study's own items. Under an isotropic prior this
changes no posterior, and it makes the cost depend on n instead of d.

    n, m  items     d  raw columns     k  columns after the map
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ordinate.types import Floats

Scaling = Literal["auto", "none"]

_CONSTANT = 1e-12
"""A column whose spread is below this share of its magnitude is rounding noise around a constant."""


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
        seen = features[active] if not active.all() else features
        if scaling == "none":
            kept = np.arange(seen.shape[1])
            centre, divisor = np.zeros(len(kept)), np.ones(len(kept))
        else:
            kept, centre, divisor = _one_unit(seen, named)
        basis = None
        if len(kept) > len(seen):
            basis = np.linalg.qr(((seen[:, kept] - centre) / divisor).T)[0]
        return cls(kept, centre, divisor, basis)

    def transform(self, features: Floats) -> Floats:
        """(m, d) raw features -> (m, k)."""
        scaled: Floats = (features[:, self.kept] - self.centre) / self.divisor
        if self.basis is None:
            return scaled
        inside = scaled @ self.basis
        outside = np.linalg.norm(scaled - inside @ self.basis.T, axis=1)
        # The study's own items lie in the span; what is left of them is rounding.
        outside[outside <= 1e-9 * np.linalg.norm(scaled, axis=1)] = 0.0
        return np.column_stack([inside, outside])


def _one_unit(features: Floats, named: bool) -> tuple[NDArray[np.intp], Floats, Floats]:
    # Each column relative to its largest value: squares of 1e200 would overflow, of 1e-200 vanish.
    magnitude = np.abs(features).max(axis=0, initial=0.0)
    unit = np.where(magnitude > 0, magnitude, 1.0)
    relative = features / unit
    centre = relative.mean(axis=0)
    spread = np.sqrt(np.square(relative - centre).mean(axis=0))
    kept = np.flatnonzero(spread > _CONSTANT)
    deviation = spread[kept] * unit[kept]
    if named:
        divisor = deviation * np.sqrt(len(kept))
    else:
        largest = deviation.max(initial=0.0)
        norm = largest * np.sqrt(np.square(deviation / largest).sum()) if len(kept) else 1.0
        divisor = np.full(len(kept), norm)
    return kept, centre[kept] * unit[kept], divisor
