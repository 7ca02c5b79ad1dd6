"""NormMin: the pair whose difference is least known, however far apart (Das et al. 2024; the paper, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ordinate.belief import Belief
from ordinate.search import Choice, CurvaturePower, Pool, best_pair


@dataclass(frozen=True)
class NormMin:
    """Asks where v is largest: GURO without its account of how noisy the answer will be."""

    def choose(self, belief: Callable[[], Belief], pool: Pool, rng: np.random.Generator) -> Choice:
        return best_pair(belief(), pool, CurvaturePower(0), rng)
