"""Functions compiled by Numba when they are first called, and cached on disk if a cache folder is writable.

Numba takes longer to import than most commands run, so only what calls one of these functions imports it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from typing import Any, TypeVar, cast

log = logging.getLogger(__name__)

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
    """Log it when this process compiles something for the first time: whoever waits for it may want to know."""
    from numba.core import event

    class Announcement(event.Listener):
        announced = False

        def on_start(self, event: object) -> None:
            if not self.announced:
                self.announced = True
                log.info("Compiling for this computer, which takes some seconds; the result is kept for the next time.")

        def on_end(self, event: object) -> None:
            pass

    event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]
