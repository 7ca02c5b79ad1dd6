"""How often one caller may ask: a bucket of tokens each, refilled steadily."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict

from ordinate.server.problems import Problem

_MOST_CALLERS = 50_000


class Rate:
    """At most `burst` requests at once, and `per_second` in the long run, for each caller."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second, self._burst = per_second, burst
        self._lock = threading.Lock()
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def spend(self, caller: object) -> None:
        """Raises a problem 429 where the caller has spent all they had."""
        now = time.monotonic()
        with self._lock:
            tokens, since = self._buckets.pop(caller, (self._burst, now))
            tokens = min(self._burst, tokens + (now - since) * self._per_second)
            enough = tokens >= 1.0
            self._buckets[caller] = (tokens - 1.0 if enough else tokens, now)
            # Whoever came longest ago has a full bucket again, or soon will.
            while len(self._buckets) > _MOST_CALLERS:
                self._buckets.popitem(last=False)
        if not enough:
            wait = math.ceil((1.0 - tokens) / self._per_second)
            raise Problem(429, f"too many requests; try again in {wait} s", {"Retry-After": str(wait)})
