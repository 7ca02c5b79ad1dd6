"""Runs on a real Dask cluster: a scheduler and two workers, processes of their own on the loopback interface."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import distributed
import numpy as np
import pytest
from distributed.comm.core import CommClosedError

from ordinate.cluster import Cluster, _result
from ordinate.datasets import draw_synthetic
from ordinate.errors import ClusterFailed, InvalidInput, MissingExtra
from ordinate.experiments.experiment import Setting
from ordinate.experiments.rows import make_rows, read_rows
from ordinate.simulation.parallel import finished, run_all
from ordinate.simulation.run import Plan, simulate
from ordinate.simulation.tasks import SimulatedTask

SOURCE = Path(__file__).parents[1] / "src"


@dataclass
class RunningCluster:
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


def started(*arguments: str, source: Path = SOURCE) -> subprocess.Popen[bytes]:
    # The workers import the tests' modules too: that is where some runs below are defined.
    path = os.pathsep.join([str(source), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def running(folder: Path, workers: int, source: Path = SOURCE) -> Iterator[RunningCluster]:
    address = f"tcp://127.0.0.1:{free_port()}"
    scheduler = started("scheduler", "--host", "127.0.0.1", "--port", address.rsplit(":")[-1], "--no-dashboard")
    # Without a nanny, which would start a killed worker again; all in one place, so that nothing is left behind.
    worker = ("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
    made = RunningCluster(address, scheduler, [started(*worker, source=source) for _ in range(workers)])
    try:
        with distributed.Client(address, timeout=60, set_as_default=False) as client:
            if workers:
                client.wait_for_workers(workers, timeout=60)
        yield made
    finally:
        for process in (*made.workers, scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[RunningCluster]:
    """Two workers of which the test may kill what it likes."""
    with running(tmp_path / "cluster", workers=2) as made:
        yield made


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    """Two workers for the tests that leave them as they are."""
    with running(tmp_path_factory.mktemp("cluster"), workers=2) as made:
        yield made


def setting(seeds: int) -> Setting:
    task = SimulatedTask(draw_synthetic(60, 4, np.random.default_rng(0)), noise=1.0)
    return Setting("here", task, Plan(budget=100, every=50), ("guro-hybrid", "uniform-contextual"), seeds)


def without_seconds(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns that do not depend on the machine and the moment."""
    return {name: column for name, column in rows.items() if "seconds" not in name and name != "megabytes"}


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_costs_no_row(doomed: RunningCluster, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    make_rows(setting(4), here)
    seen: list[int] = []

    def watch(made: int, total: int) -> None:
        seen.append(made)
        if made >= 200 and doomed.workers[0].poll() is None:
            # Two runs of eight are back. Both workers are at work on others, and this one ends as by kill -9.
            doomed.workers[0].kill()
            doomed.workers[0].wait()

    assert make_rows(setting(4), there, Cluster(doomed.address), watch) == 8
    assert doomed.workers[0].poll() == -signal.SIGKILL
    assert without_seconds(read_rows(setting(4), there)) == without_seconds(read_rows(setting(4), here))
    assert seen == sorted(seen)
    assert seen[-1] == 8 * 100


@pytest.mark.slow
def test_an_experiment_stopped_there_goes_on_here(doomed: RunningCluster, tmp_path: Path) -> None:
    def stop(made: int, total: int) -> None:
        if made >= 100:
            doomed.scheduler.kill()

    with pytest.raises(ClusterFailed, match="lost the scheduler"):
        make_rows(setting(5), tmp_path, Cluster(doomed.address), stop)
    kept = len(list(tmp_path.glob("*.parquet")))
    assert 0 < kept < 10
    assert make_rows(setting(5), tmp_path) == 10 - kept


@pytest.mark.slow
def test_rows_of_a_simulation_are_in_their_order(cluster: RunningCluster) -> None:
    task = SimulatedTask(draw_synthetic(20, 3, np.random.default_rng(0)))
    arguments = (task, ["guro-contextual", "uniform-independent"], [2, 0], 30, 10)
    there, here = (simulate(*arguments, jobs=jobs) for jobs in (Cluster(cluster.address), 1))
    assert without_seconds(there) == without_seconds(here)


def size_of(data: np.ndarray, place: int, report: Any) -> int:
    if place < 0:
        raise InvalidInput(f"no such place: {place}")
    if place == 99:
        os.kill(os.getpid(), signal.SIGKILL)
    return int(data.nbytes) + place


@pytest.mark.slow
def test_what_runs_share_may_be_large(cluster: RunningCluster) -> None:
    data = np.zeros(4_000_000)  # Dask warns above 10 MB, and a warning is an error here
    runs = [partial(size_of, data, place) for place in range(3)]
    assert run_all(runs, 1, Cluster(cluster.address)) == [data.nbytes + place for place in range(3)]


@pytest.mark.slow
def test_what_runs_are_made_of_is_read_as_they_are_due(cluster: RunningCluster) -> None:
    read: list[int] = []

    def made() -> Iterator[Any]:
        for place in range(40):
            read.append(place)
            yield partial(size_of, np.zeros(3), place)

    results = Cluster(cluster.address).results(made())
    seen = dict([next(results)])
    assert len(read) < 20
    assert seen | dict(results) == {place: 24 + place for place in range(40)}


@pytest.mark.slow
def test_an_error_in_a_run_comes_through(cluster: RunningCluster) -> None:
    runs = [partial(size_of, np.zeros(3), place) for place in (0, -1, 1, 2)]
    with pytest.raises(InvalidInput, match="no such place: -1"):
        list(finished(runs, 1, Cluster(cluster.address)))


@pytest.mark.slow
def test_an_interrupt_ends_the_command_and_frees_the_workers(cluster: RunningCluster) -> None:
    line = ["simulate", "synthetic", "--n", "300", "--budget", "2000", "--seeds", "3"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ordinate", *line, "--backend", "dask", "--scheduler", cluster.address],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stderr=subprocess.PIPE,
        text=True,
    )
    with distributed.Client(cluster.address, set_as_default=False) as client:
        wait_until(lambda: any(client.processing().values()))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert said.startswith("Interrupted")
        assert said.count("\n") == 1
        wait_until(lambda: not any(client.processing().values()))
    assert run_all([partial(size_of, np.zeros(3), 1)], 1, Cluster(cluster.address)) == [25]


LOSING = """
import sys
import time
from functools import partial
from ordinate.cluster import Cluster
from ordinate.errors import ClusterFailed

def wait(place, report):
    time.sleep(0.2)
    return place

if __name__ == "__main__":
    try:
        for place, _ in Cluster(sys.argv[1]).results(partial(wait, place) for place in range(1_000)):
            print(place, flush=True)
    except ClusterFailed as error:
        sys.exit(str(error))
"""


@pytest.mark.slow
def test_a_lost_scheduler_is_said_without_a_traceback(doomed: RunningCluster, tmp_path: Path) -> None:
    script = tmp_path / "losing.py"
    script.write_text(LOSING)
    command = [sys.executable, str(script), doomed.address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdigit()  # it runs
    doomed.scheduler.kill()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said.startswith(f"lost the scheduler at {doomed.address}. Start it again")
    assert said.count("\n") == 1


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen within a minute")


@pytest.mark.slow
def test_another_version_on_a_worker_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "other" / "ordinate"
    shutil.copytree(SOURCE / "ordinate", copy, ignore=shutil.ignore_patterns("__pycache__"))
    front = (copy / "__init__.py").read_text()
    (copy / "__init__.py").write_text(re.sub('__version__ = ".*"', '__version__ = "999"', front))
    refused = pytest.raises(ClusterFailed, match=r"needs ordinate \d\S+ and has version 999")
    with running(tmp_path / "cluster", workers=1, source=copy.parent) as other, refused:
        run_all([partial(size_of, np.zeros(3), 0)], 1, Cluster(other.address))


@pytest.mark.slow
def test_a_scheduler_without_workers_is_said(tmp_path: Path) -> None:
    with running(tmp_path, workers=0) as alone, pytest.raises(ClusterFailed, match="has no workers"):
        run_all([partial(size_of, np.zeros(3), 0)], 1, Cluster(alone.address, worker_seconds=0.5))


def test_a_scheduler_that_does_not_answer_is_said() -> None:
    with pytest.raises(ClusterFailed, match="no Dask scheduler answers at tcp:"):
        run_all([partial(size_of, np.zeros(3), 0)], 1, Cluster(f"tcp://127.0.0.1:{free_port()}", connect_seconds=0.5))


def test_a_machine_too_busy_for_dask_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed.utils import LoopRunner

    def start(self: LoopRunner) -> None:
        raise AssertionError

    monkeypatch.setattr(LoopRunner, "_start_unlocked", start)
    with pytest.raises(ClusterFailed, match="this machine is too busy"):
        list(Cluster("tcp://127.0.0.1:1").results([size_of]))


@pytest.mark.parametrize("address", ["nonsense", "http://127.0.0.1:80", "tcp://127.0.0.1:port", ""])
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(ClusterFailed, match=r"no Dask scheduler answers|this machine is too busy"):
        run_all([partial(size_of, np.zeros(3), 0)], 1, Cluster(address, connect_seconds=0.5))


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:1"])
def test_a_client_that_cannot_connect_is_closed_at_once(address: str) -> None:
    with pytest.raises(ClusterFailed) as failed:
        run_all([partial(size_of, np.zeros(3), 0)], 1, Cluster(address, connect_seconds=0.5))
    clients = [one for one in gc.get_objects() if isinstance(one, distributed.Client)]
    assert {one.status for one in clients} <= {"closed", "newly-created"}, failed  # which holds the client


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"python -m pip install 'ordinate\[dask\]'"):
        run_all([partial(size_of, np.zeros(3), 0)], 1, Cluster("tcp://127.0.0.1:1"))


def test_a_package_that_is_there_and_broken_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "brokenpackage.py").write_text("raise ImportError('libbroken.so is missing')")
    monkeypatch.syspath_prepend(tmp_path)

    def use() -> None:
        try:
            import_module("brokenpackage")
        except ImportError as error:
            raise MissingExtra("brokenpackage", "dask", "a test") from error

    with pytest.raises(MissingExtra, match=r"is installed but cannot be imported \(libbroken.so is missing\)"):
        use()


class Lost(NamedTuple):
    """A future whose result cannot be fetched."""

    error: Exception

    def result(self) -> None:
        raise self.error


@pytest.mark.parametrize("error", [CancelledError(), CommClosedError("closed")], ids=["between", "fetching"])
def test_a_scheduler_may_be_lost_at_any_moment(error: Exception) -> None:
    with pytest.raises(ClusterFailed, match="lost the scheduler at tcp://here"):
        _result(Lost(error), "tcp://here")
