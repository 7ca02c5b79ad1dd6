"""What a helper process does: it chooses pairs and computes results, so that requests need not wait for a fit.

It folds the same log as the server and writes nothing. It may be killed at any moment. Where it takes
seconds to compute a study's covariance or its results, the helper has a process of its own for both, so that it can go
on choosing.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ordinate.data.ordering import Ordering
from ordinate.learning.belief.dense import DenseCovariance
from ordinate.learning.forecast import Forecast
from ordinate.storage import place
from ordinate.study.checking import Verdict
from ordinate.study.inference import Fit
from ordinate.study.leases import Offer
from ordinate.study.results import Reliability
from ordinate.study.rules import Basis
from ordinate.study.stopping import Met
from ordinate.study.study import Study
from ordinate.study.threads import one_thread

log = logging.getLogger("ordinate.server")

T = TypeVar("T")


class Results(NamedTuple):
    """How far the ordering can be trusted, the expected errors it had after fewer answers, when it will be as good as
    wanted, and the rule by which it is.

    basis    what all of this follows from
    seconds  that it took to compute
    """

    basis: Basis
    reliability: Reliability
    history: list[tuple[int, float]]
    forecast: Forecast
    met: Met | None
    seconds: float


class HelperProcess(ProcessPoolExecutor):
    """One process, started with the first job. It removes `scratch`, a folder, where its parent is killed."""

    def __init__(self, scratch: Path | None = None) -> None:
        super().__init__(1, get_context("spawn"), _start, (scratch,))

    def kill(self) -> None:
        """End the process, also one that is stopped or stuck; its job fails with BrokenExecutor."""
        # Python 3.14 has kill_workers() for this.
        for process in list((self._processes or {}).values()):
            process.kill()


def _start(scratch: Path | None) -> None:
    """Leave signals that reach both processes to the server (Ctrl-C, SIGTERM from systemd), and end when it ends."""
    for both in (signal.SIGINT, signal.SIGTERM):
        signal.signal(both, signal.SIG_IGN)
    server = parent_process()
    assert server is not None

    def watch() -> None:
        connection.wait([server.sentinel])
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


class SlowWork:
    """Renewals of the covariance, and results, of one study: computed in a process beside the helper.

    A covariance comes from there in a file, whose folder is there only from the renewal until it is taken.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        # Nobody else can know the name, so nobody else makes the folder.
        self._folder = Path(tempfile.gettempdir(), f"ordinate-{secrets.token_hex(16)}")
        self._process = HelperProcess(self._folder)
        self._renewal: tuple[tuple[int, int, int], Future[None]] | None = None
        self._results: Future[Results] | None = None

    def is_ready(self, fit: Fit) -> bool:
        if self._renewal is not None and not self._renewal[1].done():
            return False
        if self._renewal is None or self._renewal[0] != fit.key:
            self._renewal = fit.key, self._submit(_renew, fit, self._matrix)
        return self._renewal[1].done()

    def take(self) -> DenseCovariance | None:
        renewal, self._renewal = self._renewal, None
        try:
            if renewal is not None:
                renewal[1].result()
            return DenseCovariance.load(self._matrix)
        except (BrokenExecutor, OSError, MemoryError) as error:
            log.error(
                "the covariance of %s was not computed beside (%s); choices wait for it", place(self._url).shown, error
            )
            return None
        finally:
            self._remove_folder()

    def results(self) -> Results | None:
        """The newest results that nobody has had, None while they are computed."""
        if self._results is None:
            self._results = self._submit(_results, self._url)
        if not self._results.done():
            return None
        found, self._results = self._results, None
        return found.result()

    def close(self) -> None:
        self._process.kill()
        self._process.shutdown(cancel_futures=True)
        self._remove_folder()

    def _remove_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _matrix(self) -> Path:
        return self._folder / "covariance.npy"

    def _submit(self, work: Callable[..., T], *arguments: Any) -> Future[T]:
        try:
            return self._process.submit(work, *arguments)
        except BrokenExecutor:
            self._process = HelperProcess(self._folder)
            return self._process.submit(work, *arguments)


def _renew(fit: Fit, path: Path) -> None:
    with one_thread():
        covariance = fit.model.fit(fit.features, fit.answers).covariance.kept()
    assert isinstance(covariance, DenseCovariance)  # others are renewed in no time
    path.parent.mkdir(mode=0o700, exist_ok=True)
    covariance.save(path)


# The jobs -------------------------------------------------------------------------------------------------------------

_studies: dict[str, Study] = {}
_slow: dict[str, SlowWork] = {}


def _study(url: str) -> Study:
    if url not in _studies:
        _studies[url] = Study.open(url)
    return _studies[url]


def choose(url: str, annotators: list[str | None], offered: list[Offer]) -> list[Offer | None]:
    study = _study(url)
    if study.is_slow and url not in _slow:
        _slow[url] = SlowWork(url)
        study.compute_beside(_slow[url])
    return study.choose(annotators, offered)


def results(url: str) -> Results | None:
    """None: they are being computed, and a later call will give them."""
    return _slow[url].results() if url in _slow else _results(url)


def _results(url: str) -> Results:
    study, began = _study(url), time.monotonic()
    # First: where something is written meanwhile, the server asks again.
    basis = study.progress(None).basis
    reliability, history = study.reliability(), study.error_history(most=1 if study.is_slow else 4)
    return Results(basis, reliability, history, study.forecast(), study.rule_met(), time.monotonic() - began)


def report(url: str, folders: Sequence[Path]) -> str:
    """The report as HTML, with pictures from these folders."""
    # It loads what draws figures, which no other job needs.
    from ordinate.report import gather, page

    with Study.open(url) as study:
        return page(gather(study), folders)


def ordering(url: str) -> Ordering:
    return _study(url).ordering()


def check(url: str) -> Verdict:
    return _study(url).check()


def close(url: str) -> None:
    if url in _slow:
        _slow.pop(url).close()
    if url in _studies:
        _studies.pop(url).close()
