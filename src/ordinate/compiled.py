"""Functions compiled by Numba, cached on disk where a folder for that can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function, **options: Any) -> _Function:
    """The function compiled by Numba and cached on disk, or uncached where no cache folder can be written."""
    try:
        return cast(_Function, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(_Function, numba.njit(**options)(function))


def fast(function: _Function) -> _Function:
    """Compiled with sums and maxima free to be reordered, hence vectorised; results are near-ties' first sieve only."""
    return compiled(function, fastmath=True)


def interrupted(error: SystemError) -> bool:
    """Whether it is Ctrl-C that reached a compiled loop at certain moments: errors, each the cause of the next."""
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)
