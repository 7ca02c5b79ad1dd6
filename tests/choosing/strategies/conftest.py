"""A situation for strategies, without a study."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ordinate.choosing.search import LazySearch, Search
from ordinate.data.arrays import Floats, Integers
from ordinate.learning.belief import Belief
from ordinate.learning.membership import Wanted, item_weights

NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Known:
    """A situation that is what it is given as."""

    given: Belief
    aim: Wanted | None = None
    group: Integers = field(default_factory=lambda: NONE)
    theta: Floats = field(default_factory=lambda: np.empty(0))
    pairs: tuple[Integers, Integers] = (NONE, NONE)

    def belief(self) -> Belief:
        return self.given

    def answered(self) -> Belief:
        return self.given

    def search(self) -> Search:
        return LazySearch()

    def weights(self) -> Floats | None:
        return None if self.aim is None else item_weights(self.given, self.group, self.aim)

    def coefficients(self) -> Floats:
        return self.theta

    def features(self) -> Floats:
        return np.random.default_rng(1).normal(size=(len(self.given.mean), len(self.theta)))

    def asked(self) -> tuple[Integers, Integers]:
        return self.pairs
