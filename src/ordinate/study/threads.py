"""One BLAS thread for fits and searches.

At the sizes of a study a second thread gains little. On a busy machine it makes small products a hundred times slower,
because each waits for a thread that has no core. With one thread, sums and so choices do not depend on the number of
cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    libraries = _libraries()
    # Reading the limit takes a twentieth of the time of setting it, so a nested block only reads it.
    if all(library.get_num_threads() == 1 for library in libraries.lib_controllers):
        yield
    else:
        with libraries.limit(limits=1):
            yield


@cache
def _libraries() -> Any:
    """The BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401 - brings its own BLAS, which must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
