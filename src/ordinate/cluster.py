"""Runs on the workers of an existing Dask cluster, on this machine or on others.

If a worker dies, Dask gives its runs to the remaining workers, or waits for a new worker if there is none. It gives up
a run that was on several workers when they died. The data that the runs share are sent once, as a task of their own, so
that Dask also restores them when the worker that holds them dies.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ordinate import __version__
from ordinate.errors import ClusterFailed, MissingExtra

if TYPE_CHECKING:
    from distributed import Client

RUNS_AHEAD = 4  # runs submitted per worker thread: the data of all runs need not be in memory at once


class Cluster(NamedTuple):
    """A Dask cluster.

    scheduler                         where its scheduler listens: tcp://host:8786
    connect_seconds, worker_seconds   how long to wait for the scheduler, and for the first worker
    """

    scheduler: str
    connect_seconds: float = 10.0
    worker_seconds: float = 30.0

    def results(self, runs: Iterable[Callable[..., Any]]) -> Iterator[tuple[int, Any]]:
        """The position and the result of each run, as soon as it ends. Reports of progress within a run are dropped.

        Raises ClusterFailed if the cluster does not answer, has no workers, has workers with another version of
        `ordinate`, or gives up. An exception in a run is raised here.
        """
        with _connected(self) as client:
            from distributed import as_completed

            _check_workers(client, self)
            waiting = iter(enumerate(runs))
            sent: dict[int, Any] = {}
            futures: dict[Any, int] = {}

            def submitted(there: int = 0) -> list[Any]:
                """Submit enough runs to keep every thread busy; `there` is the number of runs submitted before."""
                with _losing(self.scheduler, OSError):
                    wanted = RUNS_AHEAD * max(1, sum(client.nthreads().values()))
                made = {_submit(client, run, sent): place for place, run in islice(waiting, max(0, wanted - there))}
                futures.update(made)
                return list(made)

            try:
                coming = as_completed(submitted(), loop=client.loop)
                for future in coming:
                    result = _result(future, self.scheduler)
                    coming.update(submitted(coming.count()))
                    yield futures.pop(future), result
            finally:
                # After an error or an interrupt: cancel the waiting runs; the result of a running one is dropped.
                if client.status == "running":
                    client.cancel([*futures, *sent.values()], force=True)


def _submit(client: Client, run: Callable[..., Any], sent: dict[int, Any]) -> Any:
    """Submit the run. `sent` maps the id of a first argument to the future that holds it."""
    if not isinstance(run, partial) or not run.args:
        return client.submit(_call, run, pure=False)
    shared, *rest = run.args
    if id(shared) not in sent:
        sent[id(shared)] = client.submit(_itself, shared, pure=False)
    return client.submit(_call, run.func, sent[id(shared)], *rest, pure=False, **run.keywords)


def _call(run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return run(*arguments, _no_report, **named)


def _no_report(step: int) -> None:
    """Steps within a run are not sent over the network: progress counts finished runs."""


def _itself(value: Any) -> Any:
    return value


def _version() -> str:
    return __version__


def _result(future: Any, scheduler: str) -> Any:
    import distributed
    from distributed.comm.core import CommClosedError

    try:
        # The first if the scheduler is lost between two runs, the second while a result is sent.
        with _losing(scheduler, CancelledError, CommClosedError):
            return future.result()
    except distributed.KilledWorker as error:
        raise ClusterFailed(
            f"several workers of {scheduler} died while they worked on the same run, most likely because they ran out "
            "of memory: see their logs, and give them more (dask worker --memory-limit)"
        ) from error


@contextmanager
def _losing(scheduler: str, *signs: type[BaseException]) -> Iterator[None]:
    """Turn errors that mean a lost scheduler into ClusterFailed."""
    try:
        yield
    except signs as error:
        raise ClusterFailed(
            f"lost the scheduler at {scheduler}. Start it again, and then this command: an experiment continues where "
            "it stopped"
        ) from error


@contextmanager
def _connected(cluster: Cluster) -> Iterator[Client]:
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("distributed", "dask", "a Dask cluster") from error

    class ClosedOnFailure(Client):
        """A client that closes itself where it cannot connect.

        After an address that is none, Dask leaves that to the garbage collector. It may run while another client starts
        and holds the lock that closing needs: that waits forever.
        """

        def start(self, **named: Any) -> None:
            try:
                super().start(**named)  # type: ignore[no-untyped-call]
            except BaseException:
                self.close()  # type: ignore[no-untyped-call]
                raise

    # Dask warns of tasks above 10 MB; here that is the data, which are sent once.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "4 GiB"}):
        try:
            client = ClosedOnFailure(cluster.scheduler, timeout=cluster.connect_seconds, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise ClusterFailed(
                f"no Dask scheduler answers at {cluster.scheduler}. Start one with `dask scheduler`, and give the "
                "address that it prints, such as tcp://HOST:8786"
            ) from error
        except AssertionError as error:
            # That is how Dask says that a thread of its own did not start within 10 s.
            raise ClusterFailed("Dask did not start here within 10 s: this machine is too busy. Try again") from error
        # Dask logs the traceback of its attempts to connect again; ClusterFailed says what to do.
        with ExitStack() as quiet, client:
            for name in ("distributed.client", "distributed.batched"):
                log = logging.getLogger(name)
                quiet.callback(log.setLevel, log.level)
                log.setLevel(logging.CRITICAL)
            yield client


def _check_workers(client: Client, cluster: Cluster) -> None:
    """Wait for the first worker, and compare versions: another version could give other results, or fail."""
    try:
        client.wait_for_workers(1, timeout=cluster.worker_seconds)
    except TimeoutError as error:
        raise ClusterFailed(
            f"the scheduler at {cluster.scheduler} has no workers. Start some with "
            f"`dask worker {cluster.scheduler} --nthreads 1`"
        ) from error
    for worker, version in client.run(_version, on_error="return").items():
        if version != __version__:
            has = f"version {version}" if isinstance(version, str) else f"no version that it can import ({version})"
            raise ClusterFailed(
                f"the worker {worker} needs ordinate {__version__} and has {has}. Install it in the worker's "
                "environment and start the worker again"
            )
