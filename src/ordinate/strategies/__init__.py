"""Strategies: a belief and a pool -> the next pair. Each is a frozen dataclass with one method, `choose`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ordinate.belief import Belief
from ordinate.search import Choice, Pool


class Strategy(Protocol):
    def choose(self, belief: Callable[[], Belief], pool: Pool, rng: np.random.Generator) -> Choice:
        """The next pair to ask. `belief` is called only if it is needed, since making one takes a fit.

        Raises PoolExhausted on an empty pool.
        """
