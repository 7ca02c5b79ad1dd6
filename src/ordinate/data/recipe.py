"""How features were computed from the content of the items, so that new items get theirs in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ordinate.data.items import Items
from ordinate.data.projection import Projection
from ordinate.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Recipe:
    """An encoder, then a projection. `ordinate.embedding` makes and applies it.

    encoder      the encoder's name, such as "text:all-mpnet-base-v2"
    content      what it reads of an item
    fingerprint  SHA-256 of its weights and of how it prepares its input: the name alone could change its meaning
    projection   onto principal components; None: the encoder's output is used unchanged
    """

    encoder: str
    content: Literal["text", "image"]
    fingerprint: str
    projection: Projection | None = None

    def require_made(self, items: Items) -> None:
        """Raise InvalidInput if the features of these items cannot come from this recipe."""
        columns = items.features.shape[1]
        if items.feature_names is not None or columns == 0:
            raise InvalidInput("a recipe makes a feature matrix; these items have named feature columns or none")
        if self.projection is not None and columns != len(self.projection.components):
            raise InvalidInput(f"this recipe makes {len(self.projection.components)} columns; the items have {columns}")
