"""The log of one study as this process knows it: taken in as it grows, written in transactions that read it all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from ordinate.fold import State
from ordinate.inference import Inference
from ordinate.storage import Entry, Storage
from ordinate.types import Items

P = ParamSpec("P")
R = TypeVar("R")


def locked(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that has the ledger to itself while it runs."""

    @wraps(method)
    def alone(self: Any, *arguments: P.args, **named: P.kwargs) -> R:
        with self._lock:
            return method(self, *arguments, **named)

    return cast("Callable[Concatenate[Any, P], R]", alone)


class Ledger:
    """The state after the newest entry, and the two ways to move on: take in what others wrote, and write.

    `lock` is held by whoever looks at the state or moves it: several threads may share a study.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._state = State()
        self._inference = Inference(storage.settings)
        self._lock = RLock()
        self._catch_up()

    def _catch_up(self) -> State:
        """Take in what others wrote."""
        with self._lock, self._storage.reading() as log:
            self._apply(log.entries(self._state.position), log.items)
        return self._state

    def _write(self, decide: Callable[[], list[Entry]], items: Items | None = None) -> list[Entry]:
        """One transaction: take in what others wrote, decide on the entries, append them, take them in."""
        entries: list[Entry] = []
        with self._lock:
            try:
                with self._storage.writing() as log:
                    self._apply(log.entries(self._state.position), log.items)
                    entries = decide()
                    if entries:
                        log.append(entries, items)
                    # Before the commit: an entry that cannot be taken in must never reach the log.
                    self._apply(entries, lambda _: items)
            except BaseException:
                if entries and self._state.position == entries[-1].position:
                    self._start_anew()
                raise
        return entries

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
        self._inference.forget()

    def _forget(self) -> None:
        """Drop every cache: nothing that a caller can see may change."""
        with self._lock:
            self._state.forget()
            self._inference.forget()
