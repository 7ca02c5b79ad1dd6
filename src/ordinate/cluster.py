"""Runs on the workers of a Dask cluster that is there already, on this machine or on others.

Dask gives the runs of a worker that died to those that are left, and waits for new ones where none is; a run that was
on several workers when they died is given up. What the runs share is sent once, as a task of its own, so that it too
comes back when the worker that held it dies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ordinate import __version__
from ordinate.errors import ClusterFailed, MissingExtra

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_CONNECT = 10
SECONDS_TO_WAIT_FOR_WORKERS = 30
RUNS_AHEAD = 4  # for each thread of the workers that are there: so what runs are made of need not all be in memory


class Cluster(NamedTuple):
    """Where the scheduler of a Dask cluster listens: tcp://host:8786."""

    scheduler: str

    def results(self, runs: Iterable[Callable[..., Any]]) -> Iterator[tuple[int, Any]]:
        """The place and the result of each run, as soon as it ends. A run is called with a report that goes nowhere.

        Raises ClusterFailed where the cluster does not answer, has no workers, has others than this version of
        `ordinate`, or gives up; whatever a run raises comes through.
        """
        with _connected(self.scheduler) as client:
            from distributed import as_completed

            _check_workers(client, self.scheduler)
            waiting = iter(enumerate(runs))
            sent: dict[int, Any] = {}
            futures: dict[Any, int] = {}

            def submitted(there: int = 0) -> list[Any]:
                """As many more runs as keep every thread busy, beside those that are there already."""
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
                # After an error or an interrupt: what waits is dropped; what runs ends on its worker, unheard.
                if client.status == "running":
                    client.cancel([*futures, *sent.values()], force=True)


def _submit(client: Client, run: Callable[..., Any], sent: dict[int, Any]) -> Any:
    """A future of the run. `sent`: id of a first argument -> the future that holds it."""
    if not isinstance(run, partial) or not run.args:
        return client.submit(_call, run, pure=False)
    shared, *rest = run.args
    if id(shared) not in sent:
        sent[id(shared)] = client.submit(_itself, shared, pure=False)
    return client.submit(_call, run.func, sent[id(shared)], *rest, pure=False, **run.keywords)


def _call(run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return run(*arguments, _unheard, **named)


def _unheard(step: int) -> None:
    """Steps within a run are not sent over the network; a run that has ended is progress enough."""


def _itself(value: Any) -> Any:
    return value


def _version() -> str:
    return __version__


def _result(future: Any, scheduler: str) -> Any:
    import distributed
    from distributed.comm.core import CommClosedError

    try:
        # The one where it is lost between two runs, the other while a result is on its way.
        with _losing(scheduler, CancelledError, CommClosedError):
            return future.result()
    except distributed.KilledWorker as error:
        raise ClusterFailed(
            f"several workers of {scheduler} died while they worked on the same run, most likely for want of memory: "
            "see their logs, and give them more (dask worker --memory-limit)"
        ) from error


@contextmanager
def _losing(scheduler: str, *signs: type[BaseException]) -> Iterator[None]:
    """Errors that are signs of a lost scheduler say so."""
    try:
        yield
    except signs as error:
        raise ClusterFailed(
            f"lost the scheduler at {scheduler}. Start it again, and then this command: an experiment goes on where it "
            "stopped"
        ) from error


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("distributed", "dask", "a Dask cluster") from error

    # Dask warns of tasks above 10 MB; here that is the data, which travel once.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "4 GiB"}):
        try:
            client = Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterFailed(
                f"no Dask scheduler answers at {scheduler}. Start one with `dask scheduler`, and give the address that "
                "it prints: --scheduler tcp://HOST:8786"
            ) from error
        with client:
            yield client


def _check_workers(client: Client, scheduler: str) -> None:
    """Wait for the first worker, and compare versions: another one could make other rows, or none."""
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
    except TimeoutError as error:
        raise ClusterFailed(
            f"the scheduler at {scheduler} has no workers. Start some with `dask worker {scheduler} --nthreads 1`"
        ) from error
    for worker, version in client.run(_version, on_error="return").items():
        if version != __version__:
            has = f"version {version}" if isinstance(version, str) else f"none that it could import ({version})"
            raise ClusterFailed(
                f"the worker {worker} needs ordinate {__version__} and has {has}. Install it in the worker's "
                "environment and start the worker again"
            )
