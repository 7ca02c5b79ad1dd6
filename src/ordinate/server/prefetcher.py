"""Pairs are chosen, and results computed, beside the requests: in a process of its own that folds the same log.

What it hands over is only an offer. The study takes it if it still stands when somebody asks, and notes what it was
based on; losing all offers changes nothing but how long the next person waits.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from typing import Any, NamedTuple

from ordinate.data.comparisons import Query
from ordinate.data.ordering import Ordering
from ordinate.errors import PoolExhausted, StorageFailed
from ordinate.study.leases import Offer
from ordinate.study.study import Study

log = logging.getLogger("ordinate.server")

PATIENCE = 2.0
"""Seconds that a request waits for a pair that is worth asking, before any pair will do."""
FORGOTTEN = 120.0
"""Seconds after which an offer that nobody fetched is dropped: its annotator has gone."""
ENOUGH = 0.75
"""While this share of the pairs is ready and nobody waits, no more are chosen: many at a time cost little more."""
SHARE = 4.0
"""Results are computed again after this many times the time that they took: pairs come first."""


class Results(NamedTuple):
    """How good the ordering is expected to be now, and after how many answers it was expected to be how good."""

    answers: int
    expected_error: float
    history: list[tuple[int, float]]


# The half that runs in the other process ----------------------------------------------------------------------------

_studies: dict[str, Study] = {}


def _study(url: str) -> Study:
    if url not in _studies:
        _studies[url] = Study.open(url)
    return _studies[url]


def _choose(url: str, annotators: list[str | None], offered: list[Offer]) -> list[Offer | None]:
    return _study(url).choose(annotators, offered)


def _results(url: str) -> Results:
    study = _study(url)
    return Results(len(study.comparisons()), study.expected_error(), study.error_history(most=1))


def _ordering(url: str) -> Ordering:
    return _study(url).ordering()


def _close(url: str) -> None:
    if url in _studies:
        _studies.pop(url).close()


def _begin() -> None:
    """Leave interrupts to the server, and end when it ends, however that comes about."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = parent_process()
    assert server is not None

    def watch() -> None:
        connection.wait([server.sentinel])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def one_process() -> Executor:
    return ProcessPoolExecutor(1, get_context("spawn"), _begin)


# The half that runs in the server -----------------------------------------------------------------------------------


def _lost(error: BaseException) -> BaseException:
    """The error of work in the other process; where that process was killed, one that says to ask again."""
    if isinstance(error, BrokenExecutor):
        return StorageFailed("the process that chooses pairs has ended; ask again, and a new one begins")
    return error


class Prefetcher:
    """Offers for the annotators of one study, and its newest results."""

    def __init__(self, url: str, executor: Callable[[], Executor]) -> None:
        self._url = url
        self._make_executor = executor
        self._executor = executor()
        self._changed = threading.Condition()
        self._offers: dict[str | None, tuple[Offer, float]] = {}
        self._wanted: dict[str | None, None] = {}
        self._refusals: dict[str | None, BaseException] = {}
        self._waiting: Counter[str | None] = Counter()
        self._busy = False
        self._closed = False
        self._results: Results | None = None
        self._results_due = 0.0
        self._reminder: threading.Timer | None = None
        self._history_grows = True
        self._answers = -1

    def offers(self, annotator: str | None) -> list[Offer]:
        """The annotator's own offer, and those that were made to others who do not wait for them, newest first."""
        with self._changed:
            offers = [
                offer
                for name, (offer, _) in reversed(self._offers.items())
                if name == annotator or not self._waiting[name]
            ]
            return sorted(offers, key=lambda offer: offer.annotator != annotator)

    def prepare(self, annotator: str | None) -> None:
        """Choose a pair for this annotator soon, unless there is one."""
        with self._changed:
            if annotator not in self._offers:
                self._wanted[annotator] = None
                self._go_on()

    def fetch(self, annotator: str | None) -> Offer | None:
        """A pair that was not offered to this annotator before, None where it takes too long. Raises PoolExhausted,
        StorageFailed."""
        with self._changed:
            self._offers.pop(annotator, None)
            self._refusals.pop(annotator, None)
            self._wanted[annotator] = None
            self._waiting[annotator] += 1
            try:
                self._go_on()
                until = time.monotonic() + PATIENCE
                while annotator not in self._offers:
                    if annotator in self._refusals:
                        raise self._refusals[annotator]
                    if self._closed:
                        raise StorageFailed("the server is about to end; try again in a moment")
                    if not self._changed.wait(until - time.monotonic()):
                        return None
                return self._offers[annotator][0]
            finally:
                self._waiting -= Counter([annotator])

    def used(self, annotator: str | None, queries: Iterable[Query]) -> None:
        """The annotator has these queries now; their own offer is among them, or does not stand any more."""
        taken = {frozenset((query.left, query.right)) for query in queries}
        with self._changed:
            self._offers.pop(annotator, None)
            for name, (offer, _) in list(self._offers.items()):
                if frozenset((offer.left, offer.right)) in taken:
                    del self._offers[name]
                    self._wanted[name] = None

    def answered(self, answers: int) -> None:
        """There are so many answers now, so results may have changed."""
        with self._changed:
            self._answers = answers
            self._go_on()

    @property
    def results(self) -> Results | None:
        return self._results

    def ordering(self) -> Ordering:
        try:
            result: Ordering = self._submit(_ordering).result()
        except BrokenExecutor as error:
            raise _lost(error) from error
        return result

    def close(self) -> None:
        with self._changed:
            self._closed = True
            if self._reminder is not None:
                self._reminder.cancel()
            self._changed.notify_all()
        with suppress(BrokenExecutor):
            self._executor.submit(_close, self._url)
        self._executor.shutdown()

    def _go_on(self) -> None:
        """Start the next piece of work, unless one is running."""
        if self._busy or self._closed:
            return
        now = time.monotonic()
        self._offers = {name: kept for name, kept in self._offers.items() if now - kept[1] < FORGOTTEN}
        if self._wanted and (self._waiting or len(self._offers) < ENOUGH * (len(self._offers) + len(self._wanted))):
            annotators = list(self._wanted)
            offered = [offer for offer, _ in self._offers.values()]
            self._start(_choose, lambda chosen: self._keep(annotators, chosen), annotators, offered)
        elif self._stale():
            if now >= self._results_due:
                self._start(_results, lambda results: self._note(results, now))
            elif self._reminder is None:
                # Nobody may ask for anything until then, and the page would show an old error.
                self._reminder = threading.Timer(self._results_due - now, self._remind)
                self._reminder.daemon = True
                self._reminder.start()

    def _remind(self) -> None:
        with self._changed:
            self._reminder = None
            self._go_on()

    def _stale(self) -> bool:
        return self._results is None or self._results.answers != self._answers or self._history_grows

    def _start(self, work: Callable[..., Any], keep: Callable[[Any], None], *arguments: Any) -> None:
        self._busy = True

        def done(future: Future[Any]) -> None:
            with self._changed:
                self._busy = False
                error = future.exception()
                if error is None:
                    keep(future.result())
                else:
                    log.error("%s failed in %s", work.__name__, self._url, exc_info=error)
                    self._refusals |= dict.fromkeys(self._wanted, _lost(error))
                    self._wanted.clear()
                self._changed.notify_all()
                if error is None:
                    self._go_on()

        self._submit(work, *arguments).add_done_callback(done)

    def _submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._executor.submit(work, self._url, *arguments)
        except BrokenExecutor:
            # Its process was killed: a new one folds the log again.
            self._executor.shutdown(wait=False)
            self._executor = self._make_executor()
            return self._executor.submit(work, self._url, *arguments)

    def _keep(self, annotators: list[str | None], chosen: list[Offer | None]) -> None:
        now = time.monotonic()
        for annotator, offer in zip(annotators, chosen, strict=True):
            del self._wanted[annotator]
            if offer is None:
                self._refusals[annotator] = PoolExhausted("no pair is left to ask")
            else:
                self._offers[annotator] = (offer, now)

    def _note(self, results: Results, began: float) -> None:
        now = time.monotonic()
        # One point is added at a time; when none was, none is missing.
        old, self._results = self._results, results
        self._history_grows = old is None or old.history != results.history
        self._results_due = now + SHARE * (now - began)
