"""Greedy uncertainty reduction for ordering: the paper's criterion, sigma'(m) sqrt(v) at its largest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ordinate.belief import Belief
from ordinate.search import Choice, CurvaturePower, Pool, best_pair


@dataclass(frozen=True)
class Guro:
    """Asks where the answer is uncertain both because items are close and because little is known about them.

    sigma'(m)^2 v has the same maximum as the paper's sigma'(m) sqrt(v).
    """

    def choose(self, belief: Callable[[], Belief], pool: Pool, rng: np.random.Generator) -> Choice:
        return best_pair(belief(), pool, CurvaturePower(2), rng)
