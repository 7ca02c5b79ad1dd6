"""Greedy uncertainty reduction for ordering: the paper's criterion, sigma'(m) sqrt(v) at its largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice, CurvaturePower
from ordinate.choosing.strategies import Situation
from ordinate.data.pairs import Pool


@dataclass(frozen=True)
class Guro:
    """Asks where the answer is uncertain both because items are close and because little is known about them.

    sigma'(m)^2 v has the same maximum as the paper's sigma'(m) sqrt(v).
    """

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        return situation.search().best(situation.answered(), situation.belief(), pool, CurvaturePower(2), rng)
