"""Principal components as a map: fitted on some items, applied to others.

n, m  items     d  columns     k  components
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Projection:
    """features -> (features - mean) @ components.T

    mean        (d,)
    components  (k, d) rows by falling variance; orthonormal unless the columns have units of their own
    """

    mean: Floats
    components: Floats

    @classmethod
    def fit(cls, features: Floats, keep: float | int) -> Projection:
        """The first principal components of these features (n, d); `keep` as in `principal_components`."""
        return _decomposed(features, keep)[0]

    @classmethod
    def of_measurements(cls, features: Floats, keep: float | int) -> Projection:
        """The same of columns that have units of their own: each is divided by its standard deviation first."""
        spread = features.std(axis=0)
        spread[spread == 0.0] = 1.0
        fitted = cls.fit(features / spread, keep)
        return cls(fitted.mean * spread, fitted.components / spread)

    def apply(self, features: Floats) -> Floats:
        """(m, d) -> (m, k)."""
        projected: Floats = (features - self.mean) @ self.components.T
        return projected


def require_number(keep: object) -> None:
    """Raise InvalidInput where what is to be kept is neither a share of the variance nor a number of components."""
    number = 0.0 if keep is True or not isinstance(keep, Real) else float(keep)
    if not (0.0 < number < 1.0 or (number >= 1.0 and number.is_integer())):
        raise InvalidInput(
            f"keep a share of the variance between 0 and 1, such as 0.9, or a number of components; got {keep!r}"
        )


def principal_components(features: Floats, keep: float | int) -> Floats:
    """The features on their first principal components: centred, not whitened.  (n, d) -> (n, k)

    keep  a share of the variance in (0, 1) such as 0.9 (the fewest components that reach it), or a whole number of
          components

    Components keep their variance: after whitening, the many small ones would drown out the few that distinguish the
    items. The sign of each is fixed (its largest loading is positive), so that it does not depend on the linear algebra
    library.
    """
    return _decomposed(features, keep)[1]


def _decomposed(features: Floats, keep: float | int) -> tuple[Projection, Floats]:
    """The map, and the features projected by it."""
    require_number(keep)
    share = 0.0 < keep < 1.0
    if features.shape[1] == 0:
        raise InvalidInput("there are no features to reduce; leave out the principal components or give features")
    mean = features.mean(axis=0)
    left, singular, loadings = np.linalg.svd(features - mean, full_matrices=False)
    variance = singular**2
    rank = int(np.sum(singular > singular[0] * max(features.shape) * np.finfo(float).eps)) if singular[0] > 0 else 0
    if share:
        reached = np.cumsum(variance) / variance.sum() if rank else np.ones(1)
        count = int(np.searchsorted(reached, keep - 1e-12)) + 1
    else:
        count = int(keep)
        if count > min(features.shape):
            raise InvalidInput(f"{features.shape} features have at most {min(features.shape)} components; got {count}")
    sign = np.sign(loadings[np.arange(len(loadings)), np.abs(loadings).argmax(axis=1)])
    sign = np.where(sign == 0, 1.0, sign)
    return Projection(mean, (sign[:, None] * loadings)[:count]), left[:, :count] * (singular * sign)[:count]
