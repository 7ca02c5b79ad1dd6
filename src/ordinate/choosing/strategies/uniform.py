"""Uniform: a random pair of the pool, the baseline that every other strategy has to beat."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice
from ordinate.choosing.strategies import Situation
from ordinate.data.pairs import Pool
from ordinate.errors import PoolExhausted


@dataclass(frozen=True)
class Uniform:
    """Every pair with the same probability; needs no belief, so it never waits for a fit."""

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        if pool.size == 0:
            raise PoolExhausted("no pair is left to ask")
        pair = pool.sample(1, rng)
        return Choice(int(pair.left[0]), int(pair.right[0]), math.nan)
