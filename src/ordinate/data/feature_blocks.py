"""Features in several blocks, such as an embedding beside measurements: each is brought to a unit of its own.

n, m  items     d  raw columns     k  columns after the map
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.data.arrays import Floats
from ordinate.data.scaling import FeatureMap
from ordinate.errors import InvalidInput

MATRIX, COLUMNS = "features", "columns"
"""Names of a matrix and of named columns, where they stand side by side and nobody names them."""


class FeatureBlock(NamedTuple):
    """names  of the columns, where they are separate measurements; None: those of a matrix, which share one unit"""

    name: str
    columns: int
    names: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.names) if self.names else f'{self.columns:,} columns'})"


def checked_blocks(blocks: Sequence[FeatureBlock], columns: int) -> tuple[FeatureBlock, ...]:
    """Raise InvalidInput where they are not the blocks of a matrix of so many columns."""
    found = tuple(
        FeatureBlock(str(name), int(width), names and tuple(map(str, names))) for name, width, names in blocks
    )
    for block in found:
        if [one.name for one in found].count(block.name) > 1:
            raise InvalidInput(f"two blocks of features are called {block.name!r}; give each a name of its own")
        if block.columns < 1:
            raise InvalidInput(f"the block {block.name!r} has no feature columns; leave it out")
        if block.names is not None and len(block.names) != block.columns:
            raise InvalidInput(f"the block {block.name!r} has {block.columns} columns and {len(block.names)} names")
    if sum(block.columns for block in found) != columns:
        raise InvalidInput(f"the blocks have {sum(block.columns for block in found)} columns; the features {columns}")
    return found


def side_by_side(blocks: Sequence[tuple[str, Any, Sequence[str] | None]]) -> tuple[Floats, list[FeatureBlock]]:
    """One matrix (n, d) of the blocks, each a name, a matrix and the names of its columns. Raises InvalidInput."""
    matrices: list[Floats] = []
    for name, given, _ in blocks:
        matrix = np.asarray(given)
        if matrix.dtype.kind not in "biuf" or matrix.ndim != 2:
            raise InvalidInput(f"the block {name!r} of the features must be an (items, columns) matrix of numbers")
        if matrices and len(matrix) != len(matrices[0]):
            raise InvalidInput(
                f"the block {name!r} of the features has {len(matrix):,} rows and the block {blocks[0][0]!r} has "
                f"{len(matrices[0]):,}; row k belongs to item k in each"
            )
        matrices.append(matrix.astype(np.float64))
    made = [
        FeatureBlock(name, matrix.shape[1], None if names is None else tuple(names))
        for (name, _, names), matrix in zip(blocks, matrices, strict=True)
    ]
    return np.hstack(matrices), made


@dataclass(frozen=True, eq=False)
class BlockMap:
    """A map for each block; together they have the mean squared norm that a single one has."""

    maps: tuple[FeatureMap, ...]
    columns: tuple[slice, ...]
    divisor: float

    @classmethod
    def fit(cls, features: Floats, blocks: Sequence[FeatureBlock], scaling: str, active: NDArray[np.bool_]) -> BlockMap:
        """The map for a study whose items have these features (n, d); only the active items count."""
        columns = tuple(slice(*ends) for ends in pairwise(accumulate((one.columns for one in blocks), initial=0)))
        maps = tuple(
            FeatureMap.fit(features[:, those], block.names is not None, scaling, active)
            for block, those in zip(blocks, columns, strict=True)
        )
        return cls(maps, columns, 1.0 if scaling in ("none", "uncentred") else math.sqrt(len(blocks)))

    @property
    def widths(self) -> tuple[int, ...]:
        """How many columns each block has after the map."""
        return tuple(width for one in self.maps for width in one.widths)

    def transform(self, features: Floats, kept: type[np.floating[Any]] = np.float64) -> Floats:
        """(m, d) raw features -> (m, k) of the type `kept`."""
        parts = zip(self.maps, self.columns, strict=True)
        return np.hstack([one.transform(features[:, those], kept) for one, those in parts]) / kept(self.divisor)


def feature_map(
    features: Floats,
    names: Sequence[str] | None,
    blocks: Sequence[FeatureBlock] | None,
    scaling: str,
    active: NDArray[np.bool_],
) -> FeatureMap | BlockMap:
    """The map for a study whose items have these features (n, d), by their names or in these blocks."""
    if blocks is None:
        return FeatureMap.fit(features, names is not None, scaling, active)
    return BlockMap.fit(features, blocks, scaling, active)
