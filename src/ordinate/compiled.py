"""Functions compiled by Numba, and cached on disk if a cache folder is writable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function, **options: Any) -> _Function:
    """The function compiled by Numba, cached on disk if a cache folder is writable."""
    try:
        return cast(_Function, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(_Function, numba.njit(**options)(function))


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
