"""The helper process: it chooses pairs and computes results for one study, so that requests need not wait for a fit.

It folds the same log as the server and writes nothing. It may be killed at any moment.
"""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process
from typing import NamedTuple

from ordinate.data.ordering import Ordering
from ordinate.study.inference import Reliability
from ordinate.study.leases import Offer
from ordinate.study.study import Study


class Results(NamedTuple):
    """After how many answers the ordering can be trusted how far, and the expected errors it had after fewer."""

    answers: int
    reliability: Reliability
    history: list[tuple[int, float]]


class HelperProcess(ProcessPoolExecutor):
    """One process, started with the first job."""

    def __init__(self) -> None:
        super().__init__(1, get_context("spawn"), _start)

    def kill(self) -> None:
        """End the process, also one that is stopped or stuck; its job fails with BrokenExecutor."""
        # Python 3.14 has kill_workers() for this.
        for process in list((self._processes or {}).values()):
            process.kill()


def _start() -> None:
    """Leave signals that reach both processes to the server (Ctrl-C, SIGTERM from systemd), and end when it ends."""
    for both in (signal.SIGINT, signal.SIGTERM):
        signal.signal(both, signal.SIG_IGN)
    server = parent_process()
    assert server is not None

    def watch() -> None:
        connection.wait([server.sentinel])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


# The jobs -------------------------------------------------------------------------------------------------------------

_studies: dict[str, Study] = {}


def _study(url: str) -> Study:
    if url not in _studies:
        _studies[url] = Study.open(url)
    return _studies[url]


def choose(url: str, annotators: list[str | None], offered: list[Offer]) -> list[Offer | None]:
    return _study(url).choose(annotators, offered)


def results(url: str) -> Results:
    study = _study(url)
    # Answers of excluded annotators too, as the server counts them: it asks again where this number is another one.
    return Results(sum(study.annotators().values()), study.reliability(), study.error_history(most=1))


def ordering(url: str) -> Ordering:
    return _study(url).ordering()


def close(url: str) -> None:
    if url in _studies:
        _studies.pop(url).close()
