"""Greedy: the pair of the largest utility. GURO, NormMin and BALD differ in their utility alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice, Utility
from ordinate.choosing.strategies import Situation
from ordinate.data.pairs import Pool


@dataclass(frozen=True)
class Greedy:
    """Asks for the pair of the largest utility under the belief with the open queries taken off.

    GURO is `CurvaturePower(2)`: sigma'(m)^2 v has the same maximum as the paper's criterion sigma'(m) sqrt(v). It asks
    about items that are close to each other and little known. NormMin is `CurvaturePower(0)` (Das et al. 2024; the
    paper, section 5): it takes no account of how noisy the answer will be.
    """

    utility: Utility

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        return situation.search().best(situation.answered(), situation.belief(), pool, self.utility, rng)
