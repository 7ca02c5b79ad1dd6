"""Strategies: what is believed and a pool -> the next pair. Each is a frozen dataclass with one method, `choose`."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ordinate.choosing.search import Choice, Search
from ordinate.data.arrays import Floats, Integers
from ordinate.data.pairs import Pool
from ordinate.learning.belief import Belief


class Situation(Protocol):
    """What a strategy may use. Each part is computed when it is asked for, since a belief takes a fit."""

    def belief(self) -> Belief:
        """After all answers, and with the open queries taken off its variance."""

    def answered(self) -> Belief:
        """After all answers alone."""

    def search(self) -> Search:
        """How to find the best pair; it keeps what earlier searches learned, so that this one evaluates fewer pairs."""

    def weights(self) -> Floats | None:
        """(n,) how much the aim is about each item, by the belief right after the last refit; None: the whole order."""

    def coefficients(self) -> Floats:
        """(k,) the model's theta; k = 0 for a model that ignores features."""

    def features(self) -> Floats:
        """(n, k) scaled features."""

    def asked(self) -> tuple[Integers, Integers]:
        """Item rows of the pairs asked so far: those answered in order, then those open."""


class Strategy(Protocol):
    def choose(self, situation: Situation, pool: Pool, rng: np.random.Generator) -> Choice:
        """The next pair to ask. Raises PoolExhausted on an empty pool."""
