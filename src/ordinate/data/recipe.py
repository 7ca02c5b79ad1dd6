"""How features were computed from the content of the items, so that new items get theirs in the same way."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ordinate.data.items import Items
from ordinate.data.projection import Projection
from ordinate.errors import InvalidInput

GIVEN = "given"
"""In place of an encoder: the features come with the items, and only the projection is applied to them."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """An encoder, then a projection. `ordinate.embedding` makes and applies it.

    encoder      the encoder's name, such as "text:all-mpnet-base-v2"; or GIVEN
    content      what it reads of an item
    fingerprint  SHA-256 of its weights and of how it prepares its input: the name alone could change its meaning. Of
                 given features, their names as JSON
    projection   onto principal components; None: the encoder's output is used unchanged
    """

    encoder: str
    content: Literal["text", "image"]
    fingerprint: str
    projection: Projection | None = None

    @classmethod
    def of_given(cls, items: Items, keep: float | int) -> tuple[Items, Recipe]:
        """The items with their features reduced to principal components, and the recipe that does the same to others.

        Named columns are standardised first. `keep` as in `principal_components`.
        """
        if items.blocks is not None:
            raise InvalidInput("principal components are those of one matrix; reduce the blocks before, or give one")
        features = np.asarray(items.features)
        fit = Projection.fit if items.feature_names is None else Projection.of_measurements
        recipe = cls(GIVEN, "text", json.dumps(items.feature_names), fit(features, keep))
        return recipe.projected(items), recipe

    @property
    def given_names(self) -> list[str]:
        """The names of the given features that were reduced; none of a matrix, or where an encoder made them."""
        return list(json.loads(self.fingerprint) or ()) if self.encoder == GIVEN else []

    def projected(self, items: Items) -> Items:
        """Items that come with features, these reduced as those of the study were. Raises InvalidInput."""
        assert self.projection is not None
        features, wanted = np.asarray(items.features), len(self.projection.mean)
        if features.shape[1] != wanted:
            raise InvalidInput(
                f"these items have {features.shape[1]} feature columns; the study's principal components are those of "
                f"{wanted}: give the same ones, in that order"
            )
        return replace(items, features=self.projection.apply(features), feature_names=None)

    def require_made(self, items: Items) -> None:
        """Raise InvalidInput if the features of these items cannot come from this recipe."""
        columns = items.features.shape[1]
        if items.feature_names is not None or items.blocks is not None or columns == 0:
            raise InvalidInput("a recipe makes one feature matrix; these items have named columns, blocks or none")
        if self.projection is not None and columns != len(self.projection.components):
            raise InvalidInput(f"this recipe makes {len(self.projection.components)} columns; the items have {columns}")
