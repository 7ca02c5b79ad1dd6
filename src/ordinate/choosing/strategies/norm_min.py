"""NormMin: the pair whose difference is least known, however far apart (Das et al. 2024; the paper, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice, CurvaturePower
from ordinate.choosing.strategies import Situation
from ordinate.data.pairs import Pool


@dataclass(frozen=True)
class NormMin:
    """Asks where v is largest: GURO without its account of how noisy the answer will be."""

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        return situation.search().best(situation.answered(), situation.belief(), pool, CurvaturePower(0), rng)
