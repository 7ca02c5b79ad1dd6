"""The log of one study as this process knows it: read as it grows, written in transactions that have read all of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import Any, Generic, TypeVar, cast

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import NotAStudy, OrdinateError, StorageFailed
from ordinate.storage import Clock, Entry, Kind, Log, Recorded, Storage
from ordinate.study.fold import State
from ordinate.study.inference import Inference
from ordinate.study.results import Results
from ordinate.study.rules import Rules

R = TypeVar("R")

_acting: ContextVar[str | None] = ContextVar("acting", default=None)
_PATIENCE = 1.0
"""Seconds: other programs wait for the storage half a minute."""
_ATTEMPTS = 3
_BY_NOBODY = ("expire", "finish")
"""Entries that whoever comes first writes; they say nothing of who that was."""


@contextmanager
def acting_as(owner: str | None) -> Iterator[None]:
    """What the block writes, in any study, is noted as done by this owner."""
    token = _acting.set(owner)
    try:
        yield
    finally:
        _acting.reset(token)


def acting() -> str | None:
    """The owner as whom the block acts that this is called in."""
    return _acting.get()


class Ledger:
    """The state after the newest entry, and the two ways to use it: `reading` and `write`. Threads may share it."""

    def __init__(self, storage: Storage, clock: Clock, only: Collection[str | None] | None = None) -> None:
        """`only`: whose answers count; None: everybody's."""
        self.storage = storage
        self.clock = clock
        self._only = only
        self.inference = Inference(storage.settings)
        self.results = Results(storage.settings, self.inference)
        self._state = State(Rules(random=storage.settings.random), only)
        # A thread that needs both takes `_writing` first. It holds `_writing` while it waits for other programs to
        # release the storage, and `_lock` while it looks at the state or moves it on: so reading goes on meanwhile.
        # It does not wait long for `_lock` while it holds the storage: other programs would give up.
        self._writing = RLock()
        self._lock = RLock()
        self._queue: deque[_Work[Any]] = deque()
        self._version: int | None = None
        with self.reading():
            pass

    @contextmanager
    def reading(self) -> Iterator[State]:
        """The state after everything that others wrote; no other thread moves it on while the block runs.

        While the study is served and its file cannot be read, it is the state that was known last.
        """
        with self._lock:
            version = self._version
            try:
                version = self.storage.version()
                if version is None or version != self._version:
                    with self.storage.reading() as log:
                        self._apply(log.parts(self._state.position), log.items)
                    self._version = version
            except StorageFailed:
                if version is None or self._version is None:
                    raise
            yield self._state

    @contextmanager
    def reading_to_write(self) -> Iterator[State]:
        """`reading`, where the block may write."""
        with self._writing, self.reading() as state:
            yield state

    def write(self, work: Callable[[Transaction], R]) -> R:
        """Run `work` in a transaction that has read all of the log; what it appended is on disk on return.

        `work` checks before it appends: where it raises one of the package's errors, the entries that it appended
        before that stay. Threads that come while another one writes share the next transaction, so the disk is waited
        for once; where work fails in any other way, that of the others is done without it.
        """
        mine = _Work(work)
        self._queue.append(mine)
        with self._writing:
            if not mine.done:
                self._transact()
        if mine.error is not None:
            raise mine.error
        return cast("R", mine.result)

    def drop_caches(self) -> None:
        """Nothing that a caller can see changes."""
        with self._lock:
            self._state.drop_caches()
            self.inference.drop_caches()
            self.results.drop_caches()

    def _transact(self) -> None:
        """Do all the work that waits, in one transaction."""
        batch = [self._queue.popleft() for _ in range(len(self._queue))]
        begun = 0
        while True:
            try:
                # Who computes over and over does not keep a writer waiting for ever.
                spoiler = self._transact_together(batch, _PATIENCE if begun < _ATTEMPTS else -1.0)
            except _StateInUse:
                begun += 1
                with self._lock:  # until that reader is done
                    continue
            if spoiler is None:
                return
            batch.remove(spoiler)

    def _transact_together(self, batch: Sequence[_Work[Any]], patience: float) -> _Work[Any] | None:
        """Do this work in one transaction. Returns the one piece that failed so that nothing of the transaction stays;
        the others are still to be done. None: all is done, or the storage failed.

        Raises _StateInUse, and does nothing, where a reader keeps the state for longer than `patience` seconds; -1: it
        waits.
        """
        appended = locked = False
        current: _Work[Any] | None = None
        over = batch
        try:
            with self.storage.writing() as log:
                if not (locked := self._lock.acquire(timeout=patience)):
                    raise _StateInUse
                self._apply(log.parts(self._state.position), log.items)
                for one in batch:
                    current, one.error = one, None
                    transaction = Transaction(self._state, self.clock(), log, self._apply, one.by)
                    try:
                        one.result = one.work(transaction)
                    except NotAStudy:  # an entry that does not fit those before it
                        raise
                    except OrdinateError as error:
                        if transaction.is_half_written:
                            raise
                        one.error = error
                    finally:
                        appended |= transaction.appended
                current = None
        except _StateInUse:
            over = ()
            raise
        except BaseException as error:
            if appended:
                self._reset()
            if current is not None and len(batch) > 1 and _is_of_one(error):
                over, current.error = [current], error
                return current
            for one in batch:
                one.error = error
            raise
        finally:
            # Only now, after the commit or the reset: nobody sees entries that are not on disk.
            if locked:
                self._lock.release()
            for one in over:
                one.done = True
        return None

    def _apply(self, parts: Iterable[Entry | Recorded], items: Callable[[int], Any]) -> None:
        try:
            self._state.apply(parts, items)
        except BaseException:
            self._reset()
            raise

    def _reset(self) -> None:
        """The state may hold half an entry, or one that was not stored: the next call folds the whole log again.

        The state stays the same object, since a block further out may be using it.
        """
        self._state.__dict__ = State(Rules(random=self.storage.settings.random), self._only).__dict__
        self._version = None
        self.inference.drop_caches()
        self.results.drop_caches()


class _StateInUse(Exception):
    """A reader keeps the state of this process, so the storage is released meanwhile."""


def _is_of_one(error: BaseException) -> bool:
    """Whether an error that came while a piece of work was done is that piece's own, and not the storage's."""
    return isinstance(error, Exception) and not isinstance(error, StorageFailed)


class Transaction:
    """What one piece of work may use: the state after the whole log, the time, and a way to add entries.

    is_half_written  the log refused something in the middle, so that nothing of the transaction may stay
    """

    def __init__(
        self,
        state: State,
        time: str,
        log: Log,
        apply: Callable[[Sequence[Entry | Recorded], Callable[[int], Any]], None],
        by: str | None,
    ) -> None:
        self.state = state
        self.time = time
        self.appended = False
        self.is_half_written = False
        self._log = log
        self._apply = apply
        self._by = by

    def append(self, kind: Kind, items: Items | None = None, **fields: Any) -> None:
        """Add an entry; `fields` are those of Entry that its kind has."""
        self.append_all(kind, [fields], items)

    def append_all(self, kind: Kind, rows: Iterable[Mapping[str, Any]], items: Items | None = None) -> None:
        """Add an entry for each row of fields. One that does not fit those before it never reaches the disk."""
        first = self.state.position + 1
        by = None if kind in _BY_NOBODY else self._by
        if entries := [Entry(place, kind, self.time, by=by, **fields) for place, fields in enumerate(rows, first)]:
            self.appended = self.is_half_written = True
            self._log.append(entries, items)
            self.is_half_written = False
            self._apply(entries, lambda _: items)

    def record(self, comparisons: Sequence[Comparison]) -> None:
        """Add an entry for each comparison that was made elsewhere; there may be millions."""
        recorded = Recorded(self.state.position + 1, *zip(*comparisons, strict=True))
        self.appended = self.is_half_written = True
        self._log.record(recorded, self.time)
        self.is_half_written = False
        self._apply([recorded], lambda _: None)


class _Work(Generic[R]):
    """Something to do inside a transaction, and what became of it."""

    def __init__(self, work: Callable[[Transaction], R]) -> None:
        self.work = work
        self.by = acting()
        self.done = False
        self.result: R | None = None
        self.error: BaseException | None = None
