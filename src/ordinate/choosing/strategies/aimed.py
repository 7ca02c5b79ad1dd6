"""Aimed: GURO for a study that is to find some items, such as the ten best, instead of the whole order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordinate.choosing.search import Choice, CurvaturePower
from ordinate.choosing.strategies import Situation
from ordinate.data.pairs import Pool


@dataclass(frozen=True)
class Aimed:
    """GURO's utility times how open it is, for each item of the pair, whether it is wanted; without an aim, GURO.

    These weights (see `learning/membership.py`) stay until the next refit, so that the bounds of a search hold.
    """

    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        utility = CurvaturePower(2, situation.weights())
        return situation.search().best(situation.answered(), situation.belief(), pool, utility, rng)
