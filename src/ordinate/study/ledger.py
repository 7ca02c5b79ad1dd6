"""The log of one study as this process knows it: taken in as it grows, written in transactions that read it all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from ordinate.data.items import Items
from ordinate.errors import NotAStudy, OrdinateError
from ordinate.storage import Entry, Log, Storage
from ordinate.study.fold import State
from ordinate.study.inference import Inference

P = ParamSpec("P")
R = TypeVar("R")


def locked(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that has the ledger to itself while it runs."""

    @wraps(method)
    def alone(self: Any, *arguments: P.args, **named: P.kwargs) -> R:
        with self._lock:
            return method(self, *arguments, **named)

    return cast("Callable[Concatenate[Any, P], R]", alone)


class _Work(Generic[R]):
    """Something to do inside a transaction, and what became of it."""

    def __init__(self, work: Callable[[], R]) -> None:
        self.work = work
        self.done = False
        self.result: R | None = None
        self.error: BaseException | None = None


class Ledger:
    """The state after the newest entry, and the two ways to move on: take in what others wrote, and write.

    Whoever looks at the state or moves it holds `_lock`: several threads may share a study.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._state = State()
        self._inference = Inference(storage.settings)
        self._lock = RLock()
        self._queue: deque[_Work[Any]] = deque()
        self._log: Log | None = None
        self._appended = False
        self._version: int | None = None
        self._catch_up()

    def _catch_up(self) -> State:
        """Take in what others wrote."""
        with self._lock:
            version = self._storage.version()
            if version is None or version != self._version:
                with self._storage.reading() as log:
                    self._apply(log.entries(self._state.position), log.items)
                self._version = version
        return self._state

    def _write(self, work: Callable[[], R]) -> R:
        """Run `work` in a transaction that has read all of the log; what it has appended is on the disk on return.

        `work` looks before it appends: where it raises one of the package's errors, what it had appended stays. Threads
        that come while another one writes share the next transaction, so that the disk is waited for once.
        """
        mine = _Work(work)
        self._queue.append(mine)
        with self._lock:
            if not mine.done:
                self._transact()
        if mine.error is not None:
            raise mine.error
        return cast("R", mine.result)

    def _append(self, entries: Sequence[Entry], items: Items | None = None) -> None:
        """Inside `work`: add entries, and take them in. An entry that cannot be taken in never reaches the log."""
        if entries:
            assert self._log is not None
            self._appended = True
            self._log.append(entries, items)
            self._apply(entries, lambda _: items)

    def _transact(self) -> None:
        """Do all the work that waits, in one transaction."""
        batch = [self._queue.popleft() for _ in range(len(self._queue))]
        self._appended = False
        try:
            with self._storage.writing() as log:
                self._apply(log.entries(self._state.position), log.items)
                self._log = log
                for one in batch:
                    try:
                        one.result = one.work()
                    except NotAStudy:  # of an entry that cannot be taken in
                        raise
                    except OrdinateError as error:
                        one.error = error
        except BaseException as error:
            for one in batch:
                one.error = error
            if self._appended:
                self._start_anew()
            raise
        finally:
            self._log = None
            for one in batch:
                one.done = True

    def _apply(self, entries: Sequence[Entry], items: Callable[[int], Any]) -> None:
        if not entries:
            return
        try:
            self._state.apply(entries, items)
        except BaseException:
            self._start_anew()
            raise

    def _start_anew(self) -> None:
        """The state may hold half an entry, or one that was not stored: the next call folds the whole log again."""
        self._state = State()
        self._version = None
        self._inference.forget()

    def _forget(self) -> None:
        """Drop every cache: nothing that a caller can see may change."""
        with self._lock:
            self._state.forget()
            self._inference.forget()
