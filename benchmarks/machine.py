"""The machine: what it is, and what its core can do at best, measured in the same run as all else."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

PACKAGES = ("ordinate", "numpy", "scipy", "numba", "choix", "evalica", "arena-rank", "jax", "trueskill", "openskill")


class Roofline(NamedTuple):
    """One core at its best: GFlop/s of a square float64 product, GB/s of a copy (bytes read plus bytes written)."""

    gflops: float
    copy_gb: float


def one_core() -> None:
    """Keep this process, and those it starts, on one core and one thread of BLAS: peers are measured like the rest.

    A second thread of BLAS on the one core would wait for the first by burning its time.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # for the processes that are started
    threadpool_limits(1)


def describe() -> list[str]:
    """Lines for the page: processor, memory, system, versions. No names of hosts."""
    processor, memory = platform.machine(), ""
    if Path("/proc/cpuinfo").is_file():
        models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        processor = models[0].split(":", 1)[1].strip() if models else processor
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = f", {pages / 2**30:.0f} GiB of memory"
    return [
        f"{processor}, {os.cpu_count()} cores, of which one is used{memory}; {platform.system()}",
        f"Python {platform.python_version()}, " + ", ".join(filter(None, map(_versioned, PACKAGES))),
        time.strftime("%Y-%m-%d", time.gmtime()),
    ]


def _versioned(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def roofline() -> Roofline:
    square = np.random.default_rng(0).standard_normal((2048, 2048))
    product = np.empty_like(square)
    source, target = np.ones(1 << 25), np.empty(1 << 25)  # 256 MiB each: no cache holds them
    seconds = best_of(lambda: np.matmul(square, square, out=product), 5)
    copying = best_of(lambda: np.copyto(target, source), 7)
    return Roofline(2 * 2048**3 / seconds / 1e9, 2 * source.nbytes / copying / 1e9)


def best_of(call: Callable[[], object], repeats: int) -> float:
    """The least seconds of a few calls, after one that warms up."""
    call()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return min(times)
