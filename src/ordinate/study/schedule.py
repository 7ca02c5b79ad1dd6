"""When models are refitted while a study asks, and when a covariance is recomputed."""

from __future__ import annotations

from ordinate.learning.models import Model

_EVERY_ANSWER = 100
_RARE_REFITS_ABOVE = 5000
_FAST_TO_INVERT = 1000
_SLOW_TO_INVERT = 2500
_MANY_ANSWERS = 1000


def last_refit(answers: int, items: int, every: int | None = None) -> int:
    """How many answers the last scheduled refit saw.

    With `every` None: after each of the first 100 answers, then every 10 (every 25 above 5,000 items). The paper's
    schedules are every 1, 10 and 25 from the start.
    """
    return answers - answers % _between_refits(answers, items, every)


def next_refit(refit: int, items: int, every: int | None = None) -> int:
    """How many answers the refit after this one will see."""
    return refit + _between_refits(refit + 1, items, every)


def is_slow(model: Model, items: int) -> bool:
    """Whether a renewal takes so long that people would wait for it."""
    return model.dense and items > _FAST_TO_INVERT


def last_renewal(model: Model, refit: int, items: int, every: int | None = None) -> int:
    """How many answers the last refit saw that computed the covariance; the refits since then renewed the mean alone.

    A dense covariance takes n^3: it is renewed at each refit up to 1,000 items, every 100 answers up to 2,500 items,
    and above that every 100 up to 1,000 answers and then every 1,000. All others are renewed with the mean.
    """
    step = 1
    if is_slow(model, items):
        step = 1000 if items > _SLOW_TO_INVERT and refit >= _MANY_ANSWERS else 100
    return last_refit(refit - refit % step, items, every)


def _between_refits(answers: int, items: int, every: int | None) -> int:
    if every is not None:
        return every
    if answers <= _EVERY_ANSWER:
        return 1
    return 25 if items > _RARE_REFITS_ABOVE else 10


def last_prior_fit(answers: int, first: int) -> int:
    """How many answers the last scheduled fit of the prior variances saw; 0: none yet.

    From the first so many on, one per item, each time the answers have grown by a quarter: fewer say little about the
    variances.
    """
    at = max(first, 1)
    if answers < at:
        return 0
    while (later := at + max(at // 4, 1)) <= answers:
        at = later
    return at
