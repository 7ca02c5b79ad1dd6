"""How time and memory are measured: competitors take turns, and what may be slow or large first runs apart.

Seconds are those that the core spent on this process, all its threads together. Where nothing else runs this is
the time that passes; on a busy one it leaves out the turns of others, though not what they do to the caches.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Call = Callable[[], int]  # does some work; returns how many units (questions, fits) that were


class Row(NamedTuple):
    """One competitor at one size.

    work     what was done, the same for all competitors of a group and size
    seconds  per unit of work, the median over `rounds`; low and high: the quickest and the slowest round
    peak_mb  the most memory that a process of its own held, in all; nan: not measured
    note     what else there is to say: agreement of the results, or why there is no time
    """

    group: str
    work: str
    who: str
    n: int
    d: int
    answers: int
    seconds: float
    low: float
    high: float
    rounds: int
    peak_mb: float = float("nan")
    note: str = ""


class Trial(NamedTuple):
    """What one run in a process of its own came to."""

    seconds: float
    peak_mb: float
    failure: str


def interleaved(competitors: Mapping[str, Call], rounds: int, seconds_each: float) -> dict[str, np.ndarray]:
    """Seconds per unit of each competitor's rounds. Who has used up its seconds sits out, after one round at least.

    In turns, so that whatever else the machine does hits all alike; the turns shift by one each round.
    """
    times: dict[str, list[float]] = {who: [] for who in competitors}
    used = dict.fromkeys(competitors, 0.0)
    order = list(competitors)
    for _ in range(rounds):
        for who in order:
            if used[who] > seconds_each:
                continue
            begun = time.process_time()
            units = competitors[who]()
            spent = time.process_time() - begun
            used[who] += spent
            times[who].append(spent / units)
        order = order[1:] + order[:1]
    return {who: np.array(found) for who, found in times.items()}


def apart(work: Callable[..., Any], *arguments: Any, limit: float) -> Trial:
    """Run work(*arguments) in a fresh process: its own measure of seconds, its peak memory; ended at the limit."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(there, work, arguments), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(limit):
            return Trial(float("nan"), float("nan"), f"not done after {limit:.0f} s")
        seconds, peak, failure = here.recv()
        return Trial(seconds, peak, failure)
    except EOFError:
        process.join()
        return Trial(float("nan"), float("nan"), f"the process ended with {process.exitcode}")
    finally:
        process.kill()
        process.join()


def _report(connection: Connection, work: Callable[..., float], arguments: tuple[Any, ...]) -> None:
    seconds, failure = float("nan"), ""
    try:
        seconds = work(*arguments)
    except Exception as error:  # a peer may refuse, or need more memory than there is: its row says so
        failure = f"{type(error).__name__}: {error}".splitlines()[0][:120]
    connection.send((seconds, _peak_mb(), failure))


def _peak_mb() -> float:
    # Where /proc is there, it counts from the start of this program; getrusage counts the parent's memory before it.
    if Path("/proc/self/status").is_file():
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(group: str, work: str, who: str, size: tuple[int, int, int], found: np.ndarray, **more: Any) -> Row:
    """The row of some rounds; size: items, columns, answers."""
    n, d, answers = size
    median, low, high = float(np.median(found)), float(found.min()), float(found.max())
    return Row(group, work, who, n, d, answers, median, low, high, len(found), **more)
