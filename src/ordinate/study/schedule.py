"""When models are fitted again while a study asks, and when a covariance is computed from scratch."""

from __future__ import annotations

from ordinate.learning.models import Model
from ordinate.learning.models.hybrid import Hybrid
from ordinate.learning.models.independent import Independent

_EVERY_ANSWER = 100
_SELDOM_ABOVE = 5000
_CHEAP_TO_INVERT = 1000
_DEAR_TO_INVERT = 2500
_MANY_ANSWERS = 1000


def last_refit(answers: int, items: int, every: int | None = None) -> int:
    """How many of the first answers the newest scheduled refit saw.

    With `every` None: after each of the first 100 answers, then every 10 (every 25 above 5,000 items). The paper's
    schedules are every 1, 10 and 25 from the start.
    """
    return answers - answers % _between_refits(answers, items, every)


def next_refit(refit: int, items: int, every: int | None = None) -> int:
    """How many answers the refit after this one sees."""
    return refit + _between_refits(refit + 1, items, every)


def last_renewal(model: Model, refit: int, items: int, every: int | None = None) -> int:
    """How many answers the refit saw whose covariance came from scratch; the refits since then renewed the mean alone.

    That of a term per item costs n^3: renewed at each refit up to 1,000 items, every 100 answers up to 2,500, and above
    that every 100 up to 1,000 answers and then every 1,000. All others are renewed with the mean.
    """
    step = 1
    if isinstance(model, Hybrid | Independent) and items > _CHEAP_TO_INVERT:
        step = 1000 if items > _DEAR_TO_INVERT and refit >= _MANY_ANSWERS else 100
    return last_refit(refit - refit % step, items, every)


def _between_refits(answers: int, items: int, every: int | None) -> int:
    if every is not None:
        return every
    if answers <= _EVERY_ANSWER:
        return 1
    return 25 if items > _SELDOM_ABOVE else 10
