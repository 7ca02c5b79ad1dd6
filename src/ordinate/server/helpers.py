"""The helper processes of a server: at most MOST, for any number of studies.

Up to so many studies each has one of its own. Beyond that studies share them, a job at a time: what somebody waits for
comes first, then whoever has waited longest. Every job has a deadline: a helper that does not meet it is replaced.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from typing import Any, NamedTuple, Protocol

from ordinate.server.helper import HelperProcess

log = logging.getLogger("ordinate.server")

MOST = 8


def _nothing(*_: Any) -> None:
    pass


class Job(NamedTuple):
    """Work for a helper.

    seconds  that it may take
    keep     takes what the work returned
    refuse   takes the error where the work failed
    again    puts whoever waits for it back, where the helper ended or was replaced
    """

    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float
    keep: Callable[[Any], None]
    refuse: Callable[[BaseException], None] = _nothing
    again: Callable[[], None] = _nothing


class Client(Protocol):
    """A study that has work for a helper. It hears of each job what became of it."""

    def next_job(self) -> Job | None:
        """The most urgent one at the moment."""

    def finished(self, job: Job, result: Any, seconds: float) -> None: ...
    def failed(self, job: Job, error: BaseException) -> None: ...
    def late(self, job: Job) -> None: ...


class Helper:
    """One process, and the studies that wait for their turn. A process that has ended is followed by another.

    make  makes a HelperProcess, or in tests a thread
    """

    def __init__(self, make: Callable[[], Executor]) -> None:
        self.studies = 0
        self._make, self._executor = make, make()
        self._changed = threading.Condition()
        self._urgent: dict[Client, None] = {}
        self._others: dict[Client, None] = {}
        self._running: Client | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def want(self, client: Client, *, urgent: bool) -> None:
        """Give this study a turn; before others if somebody waits for it."""
        with self._changed:
            if urgent:
                self._others.pop(client, None)
                self._urgent[client] = None
            elif client not in self._urgent:
                self._others[client] = None
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._work, name="helper", daemon=True)
                self._thread.start()
            self._changed.notify()

    def leave(self, client: Client) -> None:
        """This study has no more work; what still runs for it is given up."""
        with self._changed:
            self._urgent.pop(client, None)
            self._others.pop(client, None)
            if self._running is client:
                self.kill()

    def kill(self) -> None:
        """End the process, also one that is stopped or stuck; its job fails with BrokenExecutor."""
        if isinstance(self._executor, HelperProcess):
            self._executor.kill()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self.kill()
        self._executor.shutdown(cancel_futures=True)

    def _work(self) -> None:
        while (client := self._next()) is not None:
            try:
                if (job := client.next_job()) is not None:
                    self._do(client, job)
            except Exception:
                # Nobody else would notice, and all studies of this helper would wait.
                log.exception("a helper could not keep what it computed")

    def _next(self) -> Client | None:
        """Whose turn it is; None at the end."""
        with self._changed:
            self._running = None
            self._changed.wait_for(lambda: self._is_closed or self._urgent or self._others)
            if self._is_closed:
                return None
            waiting = self._urgent or self._others
            self._running = next(iter(waiting))
            del waiting[self._running]
            return self._running

    def _do(self, client: Client, job: Job) -> None:
        began = time.monotonic()
        try:
            future = self._submit(job)
        except RuntimeError as error:  # closed meanwhile
            client.failed(job, BrokenExecutor(str(error)))
            return
        wait([future], job.seconds)
        if not future.done():
            self._replace()
            client.late(job)
        elif future.cancelled():
            client.failed(job, BrokenExecutor("the helper was ended"))
        elif (failure := future.exception()) is not None:
            client.failed(job, failure)
        else:
            client.finished(job, future.result(), time.monotonic() - began)

    def _submit(self, job: Job) -> Future[Any]:
        try:
            return self._executor.submit(job.work, *job.arguments)
        except BrokenExecutor:
            # Its process was killed: a new one folds the log again.
            self._replace()
            return self._executor.submit(job.work, *job.arguments)

    def _replace(self) -> None:
        self.kill()
        self._executor.shutdown(wait=False, cancel_futures=True)
        with self._changed:
            if not self._is_closed:
                self._executor = self._make()


class Helpers:
    def __init__(self, make: Callable[[], Executor], most: int = MOST) -> None:
        self._make, self._most = make, most
        self._lock = threading.Lock()
        self._all: list[Helper] = []

    def lend(self) -> Helper:
        """One for another study: one of its own, or the one that the fewest have."""
        with self._lock:
            if len(self._all) < self._most:
                self._all.append(Helper(self._make))
            found = min(self._all, key=lambda one: one.studies)
            found.studies += 1
            return found

    def give_back(self, helper: Helper) -> None:
        with self._lock:
            helper.studies -= 1
            if helper.studies:
                return
            self._all.remove(helper)
        helper.close()

    def kill(self) -> None:
        """End all processes, whatever they do."""
        for helper in list(self._all):
            helper.kill()
