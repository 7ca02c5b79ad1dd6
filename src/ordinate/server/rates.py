"""How often one caller may make a request, by a token bucket, and how many of theirs are answered at the same time."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from weakref import WeakValueDictionary

from ordinate.server.problems import Problem

MOST_CALLERS = 50_000


class RateLimit:
    """At most `burst` requests at once, and `per_second` in the long run, for each caller."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float]) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def count(self, caller: object) -> None:
        """Count a request. Raises a problem 429 where the caller has made too many."""
        now = self._clock()
        with self._lock:
            tokens, since = self._buckets.pop(caller, (self._burst, now))
            tokens = min(self._burst, tokens + (now - since) * self._per_second)
            enough = tokens >= 1.0
            self._buckets[caller] = (tokens - 1.0 if enough else tokens, now)
            # The caller who has been away longest has a full bucket again, or nearly.
            while len(self._buckets) > MOST_CALLERS:
                self._buckets.popitem(last=False)
        if not enough:
            wait = math.ceil((1.0 - tokens) / self._per_second)
            raise Problem(429, f"too many requests; try again in {wait} s", {"Retry-After": str(wait)})


class Turns:
    """At most `at_once` requests of a caller are answered at the same time; their others wait, in their order.

    So whoever sends many requests at once has others wait behind a few of them only. For one event loop.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._turns: WeakValueDictionary[object, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, caller: object) -> asyncio.Semaphore:
        return self._turns.setdefault(caller, asyncio.Semaphore(self._at_once))
