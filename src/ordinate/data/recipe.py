"""How features were computed from the content of the items, so that new items get theirs in the same way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.feature_blocks import COLUMNS, side_by_side
from ordinate.data.items import Items
from ordinate.data.joining import require_same_features
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
        features = np.asarray(items.features[:])
        fit = Projection.fit if items.feature_names is None else Projection.of_measurements
        recipe = cls(GIVEN, "text", json.dumps(items.feature_names), fit(features, keep))
        return recipe.projected(items), recipe

    @property
    def given_names(self) -> list[str]:
        """The names of the given features that were reduced; none of a matrix, or where an encoder made them."""
        return list(json.loads(self.fingerprint) or ()) if self.encoder == GIVEN else []

    def require_given(self, items: Items) -> None:
        assert self.projection is not None
        reduced = np.empty((0, len(self.projection.mean)))
        require_same_features(Items([], reduced, self.given_names or None), items)

    def projected(self, items: Items) -> Items:
        """Items that come with features, these reduced as those of the study were. Raises InvalidInput where they are
        not those, by name, that were given and reduced."""
        assert self.projection is not None
        features, wanted = np.asarray(items.features[:]), len(self.projection.mean)
        if features.shape[1] != wanted:
            raise InvalidInput(
                f"these items have {features.shape[1]} feature columns; the study's principal components are those of "
                f"{wanted}: give the same ones, in that order"
            )
        self.require_given(items)
        return replace(items, features=self.projection.apply(features), feature_names=None)

    def beside_columns(self, items: Items, made: Floats) -> Items:
        """The items with the features (n, d) that this recipe made of their content. Columns that they have by name
        stay, as blocks of their own. Raises InvalidInput for others, which would be lost."""
        require_named(items, self.content)
        kept: list[tuple[str, Floats, Sequence[str]]] = []
        if items.feature_names is not None:
            kept = [(COLUMNS, items.features, items.feature_names)]
        blocks = items.blocks or ()
        ends = list(accumulate(block.columns for block in blocks))
        for block, features in zip(blocks, np.split(items.features, ends, axis=1), strict=False):  # a last one is empty
            if block.names is not None:
                kept.append((block.name, features, block.names))
        if not kept:
            return replace(items, features=made, feature_names=None, blocks=None)
        together, made_blocks = side_by_side([(self.content, made, None), *kept])
        return replace(items, features=together, feature_names=None, blocks=made_blocks)

    def made_of(self, items: Items) -> Floats:
        """Those of the features of these items that this recipe made: all, or the first of several blocks. Raises
        InvalidInput where they cannot come from it."""
        made, blocks = items.features, items.blocks
        if blocks is None:
            fits = items.feature_names is None
        else:
            first, *others = blocks
            fits = self.encoder != GIVEN and (first.name, first.names) == (self.content, None)
            fits = fits and all(block.names for block in others)
            made = made[:, : first.columns]
        if not fits or not made.shape[1]:
            raise InvalidInput(
                "a recipe makes one feature matrix, with named columns beside it at most; these items have other "
                "blocks, named columns alone, or no features"
            )
        return made

    def require_made(self, items: Items) -> None:
        """Raise InvalidInput if the features of these items cannot come from this recipe."""
        columns = self.made_of(items).shape[1]
        if self.projection is not None and columns != len(self.projection.components):
            raise InvalidInput(f"this recipe makes {len(self.projection.components)} columns; the items have {columns}")


def require_named(items: Items, content: str) -> None:
    """Raise InvalidInput where the items have features without names, which those made of their content would replace.

    A block that is called after this content was made of it before, and is replaced.
    """
    if items.blocks is None:
        lost = 0 if items.feature_names is not None else items.features.shape[1]
    else:
        lost = sum(block.columns for block in items.blocks if block.names is None and block.name != content)
    if lost:
        raise InvalidInput(
            f"these items have {lost} feature columns without names, which the features made of their {content}s would "
            "replace; leave them out, or give them names, then they stay beside the others"
        )
