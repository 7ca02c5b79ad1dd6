"""Pairs chosen before somebody asks for them, and results, by a helper process with one job at a time.

A chosen pair is only an offer: the study takes it if it still stands when somebody asks. Losing all offers changes
nothing but how long the next person waits.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Future
from typing import Any, NamedTuple, TypeVar

from ordinate.data.comparisons import Query
from ordinate.data.ordering import Ordering
from ordinate.errors import OrdinateError, PoolExhausted
from ordinate.server import helper
from ordinate.server.helper import Results
from ordinate.server.helpers import Helpers, Job
from ordinate.server.limits import Limits
from ordinate.server.problems import TryLater
from ordinate.storage import place
from ordinate.study.checking import Verdict
from ordinate.study.leases import Offer
from ordinate.study.rules import Basis, Rules

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


class Prefetcher:
    """Offers for the annotators of one study, and its newest results."""

    def __init__(self, url: str, helpers: Helpers, limits: Limits) -> None:
        self._url, self._limits, self._shown = url, limits, place(url).shown
        self._helpers, self._helper = helpers, helpers.lend()
        # Reentrant: a job that has ended already calls back at once.
        self._lock = threading.RLock()
        self._job: Job | None = None
        self._deadline = limits.helper_seconds
        self._closed = self._is_given_back = False
        self._is_known = False  # whether the helper has the study open
        self._ended = threading.Event()
        self._ends = 0.0  # until when the helper has time to close the study
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
        self._basis: Basis | None = None
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

    def basis_is(self, basis: Basis) -> None:
        """Results of the study follow from this now."""
        with self._lock:
            self._basis = basis
            self._start_job()

    def rules_are(self, rules: Rules) -> None:
        """The study has these rules now; where they are others than before, pairs are chosen anew."""
        with self._lock:
            if rules != self._rules:
                self._wanted |= dict.fromkeys(self._ready)
                self._ready.clear()
                self._handed.clear()
            self._rules = rules
            self._start_job()

    @property
    def results(self) -> Results | None:
        return self._results

    def stop(self) -> None:
        """Start no more jobs, and refuse whoever waits."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._ends = time.monotonic() + self._limits.stop_seconds
            if self._reminder is not None:
                self._reminder.cancel()
            stops = TryLater("the server stops; try again in a moment")
            self._refuse_waiting(stops)
            job, self._job = self._job, None
            if job is not None:
                job.refuse(stops)
            if self._is_known:
                self._helper.want(self, urgent=True)
            else:
                self._ended.set()

    def close(self) -> None:
        """Have the helper close the study; it has `stop_seconds` to finish its job."""
        with self._lock:
            self.stop()
            if self._is_given_back:
                return
            self._is_given_back = True
        if not self._ended.wait(max(self._ends - time.monotonic(), 0)):
            self._helper.leave(self)
        self._helpers.give_back(self._helper)

    # Jobs -------------------------------------------------------------------------------------------------------------

    def _start_job(self, *, only_waiting: bool = False) -> None:
        """Ask for a turn where there is work. `only_waiting`: only for requests that wait."""
        if self._closed:
            self._refuse_waiting(TryLater("the server stops; try again in a moment"))
        if self._job is not None or self._closed:
            return
        self._drop_unused()
        if self._requests or self._asked:
            self._helper.want(self, urgent=True)
        elif only_waiting:
            return
        elif self._wanted and self._too_few_ready():
            self._helper.want(self, urgent=False)
        elif self._results_are_old():
            now = time.monotonic()
            if now >= self._results_due:
                self._helper.want(self, urgent=False)
            elif self._reminder is None:
                # Nobody may ask for anything until then, and the page would show an old error.
                self._reminder = threading.Timer(self._results_due - now, self._remind)
                self._reminder.daemon = True
                self._reminder.start()

    def next_job(self) -> Job | None:
        with self._lock:
            if self._closed:
                self._job = self._closing()
                return self._job
            self._drop_unused()
            if self._requests or (self._wanted and self._too_few_ready()):
                self._job = self._choose()
            elif self._asked:
                self._job = self._answer()
            elif self._results_are_old() and time.monotonic() >= self._results_due:
                self._job = Job(helper.results, (self._url,), self._deadline, self._keep_results)
            self._is_known |= self._job is not None
            return self._job

    def _closing(self) -> Job:
        def end(*_: Any) -> None:
            self._ended.set()

        return Job(helper.close, (self._url,), self._limits.helper_seconds, end, end)

    def finished(self, job: Job, result: Any, seconds: float) -> None:
        with self._lock:
            if self._job is not job:
                return  # it was stopped
            self._job = self._failure = None
            self._deadline = max(self._limits.helper_seconds, 4 * seconds)
            job.keep(result)
            self._start_job()

    def failed(self, job: Job, error: BaseException) -> None:
        with self._lock:
            if self._is_over(job, error):
                return
            self._job = None
            if isinstance(error, BrokenExecutor):
                self.restarts += 1
                log.error("the helper of %s has ended; another one starts", self._shown)
                job.again()
            else:
                self._log_failure(job, error)
                job.refuse(error)
            self._start_job(only_waiting=True)

    def late(self, job: Job) -> None:
        with self._lock:
            if self._is_over(job, BrokenExecutor("too late")):
                return
            self._job = None
            self.restarts += 1
            log.error(
                "%s in %s took more than %g s; its helper is replaced", job.work.__name__, self._shown, job.seconds
            )
            self._deadline *= 2
            job.again()
            self._start_job(only_waiting=True)

    def _is_over(self, job: Job, error: BaseException) -> bool:
        """Whether nobody waits for a job any more, since the study is closed."""
        if self._closed and self._job is job:
            job.refuse(error)
        return self._closed

    def _drop_unused(self) -> None:
        """Forget the requests that wait no longer, and offers that are old."""
        self._drop_cancelled()
        now = time.monotonic()
        self._ready = {name: made for name, made in self._ready.items() if now - made.at < UNUSED_SECONDS}
        self._handed = [made for made in self._handed if now - made.at < UNUSED_SECONDS]

    def _drop_cancelled(self) -> None:
        """Forget the requests that wait no longer."""
        self._requests = deque(one for one in self._requests if not one[1].cancelled())
        remaining = {work: [one for one in asked if not one.cancelled()] for work, asked in self._asked.items()}
        self._asked = {work: asked for work, asked in remaining.items() if asked}

    def _too_few_ready(self) -> bool:
        return len(self._ready) < ENOUGH * (len(self._ready) + len(self._wanted))

    def _results_are_old(self) -> bool:
        return self._results is None or self._results.basis != self._basis or self._history_grows

    def _remind(self) -> None:
        with self._lock:
            self._reminder = None
            self._start_job()

    def _choose(self) -> Job:
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

        return Job(helper.choose, (self._url, annotators, offered), self._deadline, keep, refuse, again)

    def _answer(self) -> Job:
        work = next(iter(self._asked))
        waiting = self._asked.pop(work)

        def keep(found: Any) -> None:
            for future in waiting:
                if future.set_running_or_notify_cancel():
                    future.set_result(found)

        def again() -> None:
            self._asked[work] = waiting + self._asked.get(work, [])

        return Job(work, (self._url,), self._deadline, keep, lambda error: _refuse(waiting, error), again)

    def _log_failure(self, job: Job, error: BaseException) -> None:
        """Once, where each job fails for the same reason, such as a file that was moved."""
        if (failure := (type(error), str(error))) != self._failure:
            trace = None if isinstance(error, OrdinateError) else error
            log.error("%s failed in %s: %s", job.work.__name__, self._shown, error, exc_info=trace)
        self._failure = failure

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
