"""Functions compiled by Numba when they are first called, and cached on disk if a cache folder is writable.

Numba takes longer to import than most commands run, so only what calls one of these functions imports it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from threading import Timer
from time import monotonic
from typing import Any, TypeVar, cast

log = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds of compiling of which nothing is said."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Compiled:
    """Stands for a function until somebody calls it, or Numba compiles another function that does."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    @cached_property
    def _dispatcher(self) -> Any:
        import numba

        _announce_compilation()
        try:
            return numba.njit(cache=True, **self._options)(self._function)
        except RuntimeError:
            return numba.njit(**self._options)(self._function)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes the name for where another compiled function uses it."""
        return self._dispatcher._numba_type_


def compiled(function: _Function, **options: Any) -> _Function:
    """The function compiled by Numba, cached on disk if a cache folder is writable."""
    return cast(_Function, _Compiled(function, options))


def fast(function: _Function) -> _Function:
    """Compiled with floating-point operations free to be reordered, so that loops are vectorised.

    Results are exact up to rounding. A caller who compares them settles near-ties by the canonical formula. A division
    by 0 gives inf or nan, as in NumPy: a check for it would keep a loop from being vectorised.
    """
    return compiled(function, fastmath=True, error_model="numpy")


def interrupted(error: SystemError) -> bool:
    """Whether Ctrl-C caused the error: at some moments, compiled code reports it as a chain of SystemErrors."""
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)


@cache
def _announce_compilation() -> None:
    """Log it, once, when this process has compiled for `PATIENCE` seconds: whoever waits may want to know."""
    from numba.core import event

    class Announcement(event.Listener):
        depth = 0
        spent = 0.0
        since = 0.0
        timer: Timer | None = None

        def on_start(self, event: object) -> None:
            self.depth += 1
            if self.depth > 1 or self.spent >= PATIENCE:
                return
            self.since = monotonic()
            self.timer = Timer(PATIENCE - self.spent, self.announce)
            self.timer.daemon = True
            self.timer.start()

        def on_end(self, event: object) -> None:
            self.depth -= 1
            if self.depth == 0 and self.timer is not None:
                self.timer.cancel()
                self.spent += monotonic() - self.since

        def announce(self) -> None:
            self.spent, self.timer = PATIENCE, None
            log.info(
                "Compiling what this command needs, for the first time on this computer; it may take half a minute."
            )

    event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]
