"""A data set: items with true scores, or with answers that people gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items and what is known about their order.

    truth        (n,) the true score of each item; the highest is first in the ordering. None if unknown
    comparisons  answers that people gave, in the order of the file; empty if answers are simulated
    notes        what was left out when the data were read, and why; a sentence each
    computed     "features", "truth": what they were computed from, where another machine may round them otherwise
    """

    items: Items
    truth: Floats | None = None
    comparisons: tuple[Comparison, ...] = ()
    notes: tuple[str, ...] = ()
    computed: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.truth is not None and np.shape(self.truth) != (len(self.items),):
            raise InvalidInput(f"there are {np.size(self.truth)} true scores for {len(self.items)} items")
        known = set(self.items.ids)
        groups = None if self.items.group is None else dict(zip(self.items.ids, self.items.group, strict=True))
        for row, comparison in enumerate(self.comparisons, start=1):
            for side, item in (("left", comparison.left), ("right", comparison.right)):
                if item not in known:
                    raise InvalidInput(f"comparison {row}: the {side} item {item!r} is not among the items")
            if groups and groups[comparison.left] != groups[comparison.right]:
                raise InvalidInput(
                    f"comparison {row}: {comparison.left!r} is in group {groups[comparison.left]!r} and "
                    f"{comparison.right!r} in {groups[comparison.right]!r}; items are compared within their group"
                )

    def describe(self) -> dict[str, Any]:
        """The sizes of the data set."""
        return {
            "items": len(self.items),
            "features": self.items.features.shape[1],
            "groups": 1 if self.items.group is None else len(set(self.items.group)),
            "answers": len(self.comparisons),
            "pairs": len({frozenset((c.left, c.right)) for c in self.comparisons}),
        }
