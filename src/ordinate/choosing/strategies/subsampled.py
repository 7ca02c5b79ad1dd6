"""Any strategy on a random part of the pool: the paper evaluates 5,000 pairs per question on its largest data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice
from ordinate.choosing.strategies import Situation, Strategy
from ordinate.data.pairs import Pool


@dataclass(frozen=True)
class Subsampled:
    """`strategy` chooses among `candidates` random pairs of the pool, other ones for each question."""

    strategy: Strategy
    candidates: int

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        return self.strategy.choose(situation, pool.sample(self.candidates, rng), rng)
