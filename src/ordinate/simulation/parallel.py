"""Distribute runs over processes on this machine or over the workers of a cluster, and report progress."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from ordinate.cluster import Cluster
from ordinate.data.arrays import Integers
from ordinate.errors import InvalidInput

Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # (steps done, steps in all)
Report = Callable[[int], None]  # (steps done in this run)
Run = Callable[[Report], Result]
Jobs = int | Cluster  # a number of processes on this machine, or the workers of a cluster

POLL_SECONDS = 0.1


def run_all(runs: Sequence[Run[Result]], steps: int, jobs: Jobs, progress: Progress | None = None) -> list[Result]:
    """The results of all runs, in the order of the runs; each run takes at most `steps` steps. See `finished`."""
    return [result for _, result in sorted(finished(runs, steps, jobs, progress), key=lambda done: done[0])]


def finished(
    runs: Sequence[Run[Result]], steps: int, jobs: Jobs, progress: Progress | None = None
) -> Iterator[tuple[int, Result]]:
    """The position and the result of each run as soon as it ends, in no particular order.

    With more than one job the runs must be picklable. An exception in one run, or an interrupt, ends all of them. On a
    cluster, progress counts finished runs.
    """
    if isinstance(jobs, Cluster):
        yield from _on_cluster(runs, steps, jobs, progress)
        return
    if jobs < 1:
        raise InvalidInput(f"the number of jobs must be at least 1; got {jobs}")
    if not runs:
        return
    jobs = min(jobs, len(runs))
    with _counts(len(runs), shared=jobs > 1) as counts, _watched(counts, steps, progress):
        if jobs == 1:
            for place, run in enumerate(runs):
                yield _run(run, counts, place, steps)
            return
        from joblib import Parallel, delayed

        tasks = (delayed(_run)(run, counts, place, steps) for place, run in enumerate(runs))
        pool = Parallel(
            n_jobs=jobs, backend="loky", return_as="generator_unordered", pre_dispatch=2 * jobs, batch_size=1
        )
        yield from pool(tasks)


def _on_cluster(
    runs: Sequence[Run[Result]], steps: int, cluster: Cluster, progress: Progress | None
) -> Iterator[tuple[int, Result]]:
    counts = np.zeros(len(runs), dtype=np.int64)
    with _watched(counts, steps, progress):
        for place, result in cluster.results(runs):
            counts[place] = steps
            yield place, result


def _run(run: Run[Result], counts: Integers, place: int, steps: int) -> tuple[int, Result]:
    if (parent := multiprocessing.parent_process()) is not None:
        # Ctrl-C reaches the whole process group. Only the parent handles it, so that children print no traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if isinstance(counts, np.memmap):
            _end_with(parent.pid, Path(str(counts.filename)).parent)

    def report(step: int) -> None:
        counts[place] = step

    result = run(report)
    counts[place] = steps
    return place, result


@cache
def _end_with(parent: int | None, folder: Path) -> None:
    """End this process soon after its parent was killed, and remove the folder that the parent would have removed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    if os.name == "posix":  # elsewhere a process keeps the number of a parent that has ended
        threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _counts(runs: int, shared: bool) -> Iterator[Integers]:
    """The steps done in each run; shared through a memory-mapped file if there are several processes."""
    if not shared:
        yield np.zeros(runs, dtype=np.int64)
        return
    with tempfile.TemporaryDirectory(prefix="ordinate-", ignore_cleanup_errors=True) as folder:
        yield np.memmap(Path(folder) / "steps", dtype=np.int64, mode="w+", shape=(runs,))


@contextmanager
def _watched(counts: Integers, steps: int, progress: Progress | None) -> Iterator[None]:
    """Call `progress` from a thread whenever steps were done, and once at the end."""
    if progress is None:
        yield
        return
    total = steps * len(counts)
    ended = threading.Event()

    def watch() -> None:
        seen = -1
        while True:
            last = ended.wait(POLL_SECONDS)
            if (made := int(counts.sum())) != seen:
                progress(made, total)
                seen = made
            if last:
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
