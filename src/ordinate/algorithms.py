"""The table of algorithms: name -> the model that learns, the strategy that asks, a line for people."""

from __future__ import annotations

from typing import NamedTuple

from ordinate.errors import InvalidInput
from ordinate.models import Model
from ordinate.models.contextual import Contextual
from ordinate.models.factored import FactoredHybrid
from ordinate.models.hybrid import Hybrid
from ordinate.models.independent import Independent
from ordinate.strategies import Strategy
from ordinate.strategies.guro import Guro
from ordinate.strategies.norm_min import NormMin
from ordinate.strategies.subsampled import Subsampled
from ordinate.strategies.uniform import Uniform
from ordinate.types import Items


class Algorithm(NamedTuple):
    model: Model
    strategy: Strategy
    summary: str


ALGORITHMS: dict[str, Algorithm] = {
    "guro-hybrid": Algorithm(
        Hybrid(), Guro(), "Asks where the order is least certain; learns from features and per item. The default."
    ),
    "guro-hybrid-factored": Algorithm(
        FactoredHybrid(), Guro(), "guro-hybrid with the paper's factored covariance, for thousands of items."
    ),
    "guro-contextual": Algorithm(
        Contextual(), Guro(), "Learns from features alone: fast, and right only as far as features tell the order."
    ),
    "guro-independent": Algorithm(
        Independent(), Guro(), "A score per item and no features (Bradley-Terry); the default without features."
    ),
    "norm-min-contextual": Algorithm(
        Contextual(), NormMin(), "Asks where the model knows least, however easy the answer; a baseline of the paper."
    ),
    "uniform-hybrid": Algorithm(Hybrid(), Uniform(), "Random pairs, hybrid model: what active choice is measured by."),
    "uniform-contextual": Algorithm(Contextual(), Uniform(), "Random pairs, contextual model."),
    "uniform-independent": Algorithm(Independent(), Uniform(), "Random pairs, a score per item: plain Bradley-Terry."),
}

_EVERY_ANSWER = 100
_MANY_ITEMS = 5000


def algorithm(name: str) -> Algorithm:
    """The row of the table. Raises InvalidInput with the names there are."""
    if name not in ALGORITHMS:
        raise InvalidInput(f"unknown algorithm {name!r}; there are {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]


def default_algorithm(items: Items) -> str:
    """What a person who chose nothing gets."""
    return "guro-hybrid" if items.features.shape[1] else "guro-independent"


def strategy_of(name: str, candidates: int | None) -> Strategy:
    """The algorithm's strategy, on a random part of the pool where `candidates` limits it."""
    strategy = algorithm(name).strategy
    return strategy if candidates is None else Subsampled(strategy, candidates)


def last_refit(answers: int, items: int, every: int | None = None) -> int:
    """How many of the first answers the newest scheduled refit saw.

    With `every` None: after each of the first 100 answers, then every 10 (every 25 above 5,000 items). The paper's
    schedules are every 1, 10 and 25 from the start.
    """
    if every is not None:
        return answers - answers % every
    if answers <= _EVERY_ANSWER:
        return answers
    return answers - answers % (25 if items > _MANY_ITEMS else 10)
