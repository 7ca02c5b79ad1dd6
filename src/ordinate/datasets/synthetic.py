"""The synthetic task of the paper (appendix E): scores that are a linear function of standard normal features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.formats.files import require_file
from ordinate.data.items import Items
from ordinate.datasets.dataset import Dataset
from ordinate.errors import InvalidInput


def draw_synthetic(n: int, d: int, rng: np.random.Generator) -> Dataset:
    """n items with d standard normal features; theta is uniform in [-3, 3], and the truth is features @ theta."""
    if n < 2 or d < 1:
        raise InvalidInput(f"a synthetic task needs at least 2 items and 1 feature; got n = {n}, d = {d}")
    features = rng.standard_normal((n, d))
    return linear_dataset(features, rng.uniform(-3.0, 3.0, d))


def read_synthetic(path: str | Path) -> Dataset:
    """The task in an .npz file with the arrays `features` (n, d) and `theta` (d,)."""
    require_file(path)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            missing = [name for name in ("features", "theta") if name not in arrays]
            if missing:
                raise InvalidInput(f"{path} has no array {' and no array '.join(map(repr, missing))}")
            features, theta = arrays["features"], arrays["theta"]
    except (OSError, EOFError, ValueError, AttributeError, TypeError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path} is not an .npz file with the arrays 'features' and 'theta'") from error
    return linear_dataset(features, theta)


def linear_dataset(features: Floats, theta: Floats) -> Dataset:
    """Items s000, s001, ... with the given features (n, d) and the truth features @ theta."""
    if features.ndim != 2 or theta.shape != features.shape[1:]:
        raise InvalidInput(f"features must have shape (n, d) and theta (d,); got {features.shape} and {theta.shape}")
    digits = len(str(len(features) - 1))
    ids = [f"s{row:0{digits}d}" for row in range(len(features))]
    return Dataset(Items(ids=ids, features=features), truth=features @ theta, computed={"truth": theta})
