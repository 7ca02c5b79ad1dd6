"""Pairs chosen before somebody asks for them, and results, by a helper process with one job at a time.

A chosen pair is only an offer: the study takes it if it still stands when somebody asks. Losing all offers changes
nothing but how long the next person waits. Every job has a deadline: a helper that does not meet it is replaced.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from ordinate.data.comparisons import Query
from ordinate.data.ordering import Ordering
from ordinate.errors import OrdinateError, PoolExhausted
from ordinate.server import helper
from ordinate.server.helper import HelperProcess, Results
from ordinate.server.limits import Limits
from ordinate.server.problems import TryLater
from ordinate.storage import place
from ordinate.study.checking import Verdict
from ordinate.study.leases import Offer
from ordinate.study.rules import Rules

log = logging.getLogger("ordinate.server")

T = TypeVar("T")

UNUSED_SECONDS = 120.0
"""An offer that nobody used for so long is dropped: its annotator has gone."""
ENOUGH = 0.75
"""While this share of the offers is ready and no request waits, no more are chosen: many at a time cost little more."""
RESULTS_PAUSE = 4.0
"""Results are computed again after this many times the time that they took: pairs come first."""
RESULTS_RETRY = 1.0
"""Seconds after which to ask again for results that take long."""
BATCH = 40
"""Pairs that one job chooses at most."""


class _Made(NamedTuple):
    offer: Offer
    at: float


def _nothing(*_: Any) -> None:
    pass


class _Job(NamedTuple):
    """Work for the helper.

    keep    takes what the work returned
    refuse  takes the error where the work failed
    again   puts whoever waits for it back, where the helper ended or was replaced
    """

    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    keep: Callable[[Any], None]
    refuse: Callable[[BaseException], None] = _nothing
    again: Callable[[], None] = _nothing


class Prefetcher:
    """Offers for the annotators of one study, and its newest results.

    executor  makes a helper; HelperProcess, or a thread in tests
    """

    def __init__(self, url: str, executor: Callable[[], Executor], limits: Limits) -> None:
        self._url, self._limits, self._shown = url, limits, place(url).shown
        self._make_executor = executor
        self._executor = executor()
        # Reentrant: a job that has ended already calls back at once.
        self._lock = threading.RLock()
        self._job: Future[Any] | None = None
        self._deadline = limits.helper_seconds
        self._closed = False
        self._ending: Future[None] | None = None
        self._requests: deque[tuple[str | None, Future[Offer]]] = deque()  # that wait for a pair, first come first
        # Requests that wait for what a job of the helper returns, by the job.
        self._asked: dict[Callable[[str], Any], list[Future[Any]]] = {}
        self._wanted: dict[str | None, None] = {}  # annotators who shall have an offer before they ask
        self._ready: dict[str | None, _Made] = {}  # offers that nobody waits for
        self._handed: list[_Made] = []  # offers given to requests, which may not have used them yet
        self._results: Results | None = None
        self._results_due = 0.0
        self._reminder: threading.Timer | None = None
        self._history_grows = True
        self._answers = -1
        self._rules: Rules | None = None
        self.restarts = 0  # of the helper
        self._failure: tuple[type[BaseException], str] | None = None  # of the newest job, if it failed

    def offers(self, annotator: str | None) -> list[Offer]:
        """The annotator's own ready offer, then those of others, newest first."""
        with self._lock:
            offers = [made.offer for made in reversed(self._ready.values())]
            return sorted(offers, key=lambda offer: offer.annotator != annotator)

    def prepare(self, annotator: str | None) -> None:
        """Choose a pair for this annotator soon, unless there is one."""
        with self._lock:
            if annotator not in self._ready:
                self._wanted[annotator] = None
                self._start_job()

    def fetch(self, annotator: str | None) -> Future[Offer]:
        """A pair that is chosen from now on, for a request that waits; requests are served in their order.

        The future raises PoolExhausted where there is none, TryLater where the server stops.
        """
        future: Future[Offer] = Future()
        with self._lock:
            self._ready.pop(annotator, None)
            self._wanted.pop(annotator, None)
            self._requests.append((annotator, future))
            self._start_job()
        return future

    def ordering(self) -> Future[Ordering]:
        """The ordering of all answers until now. The future raises TryLater where the server stops."""
        return self._ask(helper.ordering)

    def check(self) -> Future[Verdict]:
        """The verdict on all answers until now; likewise."""
        return self._ask(helper.check)

    def _ask(self, work: Callable[[str], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            self._asked.setdefault(work, []).append(future)
            self._start_job()
        return future

    def took(self, annotator: str | None, queries: Iterable[Query]) -> None:
        """The annotator has these queries now: their own offer is among them or does not stand any more."""
        taken = {frozenset((query.left, query.right)) for query in queries}
        with self._lock:
            self._ready.pop(annotator, None)
            self._handed = [made for made in self._handed if made.offer.annotator != annotator]
            for name, made in list(self._ready.items()):
                if frozenset((made.offer.left, made.offer.right)) in taken:
                    del self._ready[name]
                    self._wanted[name] = None

    def answers_are(self, answers: int) -> None:
        """The study has so many answers now; results follow them."""
        with self._lock:
            self._answers = answers
            self._start_job()

    def rules_are(self, rules: Rules) -> None:
        """The study has these rules now; results follow them, since they say whether one is met."""
        with self._lock:
            self._rules = rules
            self._start_job()

    @property
    def results(self) -> Results | None:
        return self._results

    def stop(self) -> None:
        """Start no more jobs, and refuse whoever waits."""
        with self._lock:
            self._closed = True
            self._job = None
            if self._reminder is not None:
                self._reminder.cancel()
            self._refuse_waiting(TryLater("the server stops; try again in a moment"))
            if self._ending is None:
                with suppress(BrokenExecutor):
                    self._ending = self._executor.submit(helper.close, self._url)

    def close(self) -> None:
        """End the helper; it has `stop_seconds` to finish its job."""
        self.stop()
        if self._ending is not None:
            with suppress(BrokenExecutor, NotInTime):
                self._ending.result(self._limits.stop_seconds)
        self.kill_helper()
        self._executor.shutdown(cancel_futures=True)

    def kill_helper(self) -> None:
        if isinstance(self._executor, HelperProcess):
            self._executor.kill()

    # Jobs -------------------------------------------------------------------------------------------------------------

    def _start_job(self, *, only_waiting: bool = False) -> None:
        """Start the most urgent job, unless one is running. `only_waiting`: only for requests that wait."""
        if self._closed:
            self._refuse_waiting(TryLater("the server stops; try again in a moment"))
        if self._job is not None or self._closed:
            return
        self._drop_cancelled()
        now = time.monotonic()
        self._ready = {name: made for name, made in self._ready.items() if now - made.at < UNUSED_SECONDS}
        self._handed = [made for made in self._handed if now - made.at < UNUSED_SECONDS]
        if self._requests or (self._wanted and not only_waiting and self._too_few_ready()):
            self._choose()
        elif self._asked:
            self._answer()
        elif self._results_are_old() and not only_waiting:
            if now >= self._results_due:
                self._run(_Job(helper.results, (), self._keep_results))
            elif self._reminder is None:
                # Nobody may ask for anything until then, and the page would show an old error.
                self._reminder = threading.Timer(self._results_due - now, self._remind)
                self._reminder.daemon = True
                self._reminder.start()

    def _drop_cancelled(self) -> None:
        """Forget the requests that wait no longer."""
        self._requests = deque(one for one in self._requests if not one[1].cancelled())
        remaining = {work: [one for one in asked if not one.cancelled()] for work, asked in self._asked.items()}
        self._asked = {work: asked for work, asked in remaining.items() if asked}

    def _too_few_ready(self) -> bool:
        return len(self._ready) < ENOUGH * (len(self._ready) + len(self._wanted))

    def _results_are_old(self) -> bool:
        results = self._results
        if results is None or results.answers != self._answers or self._history_grows:
            return True
        return self._rules is not None and results.rules != self._rules

    def _remind(self) -> None:
        with self._lock:
            self._reminder = None
            self._start_job()

    def _choose(self) -> None:
        requests = [self._requests.popleft() for _ in range(min(BATCH, len(self._requests)))]
        ahead = list(self._wanted)[: BATCH - len(requests)]
        annotators = [name for name, _ in requests] + ahead
        made = [*self._ready.values(), *self._handed]
        offered = [offer for offer, _ in made]

        def keep(chosen: list[Offer | None]) -> None:
            now = time.monotonic()
            for (_, future), offer in zip(requests, chosen, strict=False):
                if offer is None:
                    _refuse([future], PoolExhausted("no pair is left to ask"))
                elif future.set_running_or_notify_cancel():
                    self._handed.append(_Made(offer, now))
                    future.set_result(offer)
            for name, offer in zip(ahead, chosen[len(requests) :], strict=True):
                self._wanted.pop(name, None)
                if offer is not None:
                    self._ready[name] = _Made(offer, now)

        def refuse(error: BaseException) -> None:
            _refuse([future for _, future in requests], error)
            for name in ahead:
                self._wanted.pop(name, None)

        def again() -> None:
            self._requests.extendleft(reversed(requests))

        self._run(_Job(helper.choose, (annotators, offered), keep, refuse, again))

    def _answer(self) -> None:
        work = next(iter(self._asked))
        waiting = self._asked.pop(work)

        def keep(found: Any) -> None:
            for future in waiting:
                if future.set_running_or_notify_cancel():
                    future.set_result(found)

        def again() -> None:
            self._asked[work] = waiting + self._asked.get(work, [])

        self._run(_Job(work, (), keep, lambda error: _refuse(waiting, error), again))

    def _run(self, job: _Job) -> None:
        future, began = self._submit(job.work, *job.arguments), time.monotonic()
        deadline = threading.Timer(self._deadline, lambda: self._replace_helper(future, job))
        deadline.daemon = True

        def done(_: Future[Any]) -> None:
            deadline.cancel()
            with self._lock:
                if self._job is not future:
                    return  # the helper was replaced
                self._job = None
                error = future.exception()
                if error is None:
                    self._failure = None
                    self._deadline = max(self._limits.helper_seconds, 4 * (time.monotonic() - began))
                    job.keep(future.result())
                elif isinstance(error, BrokenExecutor):
                    self.restarts += 1
                    log.error("the helper of %s has ended; another one starts", self._shown)
                    job.again()
                else:
                    self._log_failure(job, error)
                    job.refuse(error)
                self._start_job(only_waiting=error is not None)

        self._job = future
        deadline.start()
        future.add_done_callback(done)

    def _log_failure(self, job: _Job, error: BaseException) -> None:
        """Once, where each job fails for the same reason, such as a file that was moved."""
        if (failure := (type(error), str(error))) != self._failure:
            trace = None if isinstance(error, OrdinateError) else error
            log.error("%s failed in %s: %s", job.work.__name__, self._shown, error, exc_info=trace)
        self._failure = failure

    def _submit(self, job: Callable[..., T], *arguments: Any) -> Future[T]:
        try:
            return self._executor.submit(job, self._url, *arguments)
        except BrokenExecutor:
            # Its process was killed: a new one folds the log again.
            self._executor.shutdown(wait=False)
            self._executor = self._make_executor()
            return self._executor.submit(job, self._url, *arguments)

    def _replace_helper(self, future: Future[Any], job: _Job) -> None:
        with self._lock:
            if self._job is not future:
                return
            name, seconds = job.work.__name__, self._deadline
            self.restarts += 1
            log.error("%s in %s took more than %g s; its helper is replaced", name, self._shown, seconds)
            self._deadline *= 2
            self._job = None
            self.kill_helper()
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = self._make_executor()
            job.again()
            self._start_job(only_waiting=True)

    def _keep_results(self, results: Results | None) -> None:
        now = time.monotonic()
        if results is None:
            self._results_due = now + RESULTS_RETRY
            return
        # One point is added at a time; when none was, none is missing.
        old, self._results = self._results, results
        self._history_grows = old is None or old.history != results.history
        self._results_due = now + RESULTS_PAUSE * results.seconds

    def _refuse_waiting(self, error: BaseException) -> None:
        _refuse([future for _, future in self._requests], error)
        _refuse((one for asked in self._asked.values() for one in asked), error)
        self._requests.clear()
        self._asked.clear()


def _refuse(futures: Iterable[Future[Any]], error: BaseException) -> None:
    for future in futures:
        if future.set_running_or_notify_cancel():
            future.set_exception(error)
