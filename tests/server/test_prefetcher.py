"""Pairs chosen by a helper: who gets which, in which order, and what happens when the helper hangs or ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ordinate.data.items import Items
from ordinate.errors import PoolExhausted, StorageFailed
from ordinate.server import helper
from ordinate.server.helper import HelperProcess
from ordinate.server.helpers import Helpers
from ordinate.server.limits import Limits
from ordinate.server.prefetcher import Prefetcher
from ordinate.study.study import Study

SOON = 60.0
PATIENT = Limits(helper_seconds=SOON)
posix = pytest.mark.skipif(os.name != "posix", reason="a process is stopped and killed by signals")


def until(true: Callable[[], Any]) -> Any:
    ends = time.monotonic() + SOON
    while not (found := true()):
        assert time.monotonic() < ends
        time.sleep(0.01)
    return found


class Blocked(ThreadPoolExecutor):
    """A helper in a thread that does nothing before `go_on` is set."""

    def __init__(self) -> None:
        super().__init__(1)
        self.go_on = threading.Event()
        self.submit(self.go_on.wait, SOON)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with Study.create(Items([str(row) for row in range(6)]), storage=f"sqlite:///{tmp_path / 'study.db'}") as study:
        yield study


@pytest.fixture
def url(study: Study, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture
def prefetcher(url: str) -> Iterator[Callable[..., Prefetcher]]:
    made: list[Prefetcher] = []

    def make(executor: Callable[[], Executor] = lambda: ThreadPoolExecutor(1), limits: Limits = PATIENT) -> Prefetcher:
        made.append(Prefetcher(url, Helpers(executor), limits))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_all_tabs_of_one_person_hear_that_no_pair_is_left(prefetcher: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'two.db'}"
    with Study.create(Items(["a", "b"]), storage=url) as study:
        study.set_rules(again=False)
        study.tell(study.ask("Ann").id, "left")
    pairs = Prefetcher(url, Helpers(lambda: ThreadPoolExecutor(1)), PATIENT)
    other, *tabs = [pairs.fetch(name) for name in ("Bob", "Ann", "Ann")]
    assert other.result(SOON).annotator == "Bob"
    for tab in tabs:
        with pytest.raises(PoolExhausted):
            tab.result(SOON)
    pairs.close()


def test_requests_are_served_in_their_order_and_each_gets_a_pair_of_its_own(prefetcher: Any) -> None:
    executor = Blocked()
    pairs = prefetcher(lambda: executor)
    served: list[int] = []
    names = ("Ann", "Bob", "Ann", "Ann", "Cem", "Bob")
    futures = [pairs.fetch(name) for name in names]
    for place, future in enumerate(futures):
        future.add_done_callback(lambda _, place=place: served.append(place))
    executor.go_on.set()
    offers = [future.result(SOON) for future in futures]
    assert served == list(range(6))
    assert [offer.annotator for offer in offers] == list(names)
    assert len({frozenset((offer.left, offer.right)) for offer in offers}) == 6


def test_a_request_that_waits_no_longer_gets_nothing(prefetcher: Any) -> None:
    executor = Blocked()
    pairs = prefetcher(lambda: executor)
    first, gone, last = pairs.fetch("Ann"), pairs.fetch("Bob"), pairs.fetch("Cem")
    assert gone.cancel()
    executor.go_on.set()
    assert (first.result(SOON).annotator, last.result(SOON).annotator) == ("Ann", "Cem")


def test_a_pair_that_is_ready_for_somebody_else_is_given_at_once_and_replaced(study: Study, prefetcher: Any) -> None:
    pairs = prefetcher()
    pairs.prepare("Ann")
    (ready,) = until(lambda: pairs.offers("Ann"))
    assert pairs.offers("Bob") == [ready]
    (lease,) = study.take("Bob", 1, pairs.offers("Bob"))
    pairs.took("Bob", [lease.query])
    (other,) = until(lambda: [offer for offer in pairs.offers("Ann") if offer != ready])
    assert other.annotator == "Ann"
    assert {other.left, other.right} != {ready.left, ready.right}


def test_a_job_that_fails_is_told_to_those_who_wait_for_it(url: str, prefetcher: Any) -> None:
    class Broken(ThreadPoolExecutor):
        def submit(self, job: Any, /, *arguments: Any, **named: Any) -> Any:
            return super().submit((lambda *_: 1 / 0) if job is helper.choose else job, *arguments, **named)

    pairs = prefetcher(lambda: Broken(1))
    with pytest.raises(ZeroDivisionError):
        pairs.fetch("Ann").result(SOON)
    assert len(pairs.ordering().result(SOON)) == 6, "other jobs go on"


def test_whoever_waits_when_the_server_stops_is_told(prefetcher: Any) -> None:
    executor = Blocked()
    pairs = prefetcher(lambda: executor)
    waiting = [pairs.fetch("Ann"), pairs.fetch("Bob"), pairs.ordering()]
    pairs.stop()
    executor.go_on.set()
    for future in [*waiting, pairs.fetch("Cem"), pairs.ordering()]:
        with pytest.raises(StorageFailed, match="stops"):
            future.result(SOON)


@posix
@pytest.mark.parametrize("idle", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_helper_that_is_killed_is_followed_by_another(prefetcher: Any, idle: bool) -> None:
    made: list[HelperProcess] = []

    def executor() -> Executor:
        made.append(HelperProcess())
        return made[-1]

    pairs = prefetcher(executor)
    pid = made[0].submit(os.getpid).result(SOON)
    waiting = []
    if idle:
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(Exception, match="abruptly"):
            made[0].submit(os.getpid).result(SOON)
    else:
        os.kill(pid, signal.SIGSTOP)
        waiting = [pairs.fetch("Bob"), pairs.ordering()]
        os.kill(pid, signal.SIGKILL)
    waiting += [pairs.fetch("Bob"), pairs.ordering()]
    for pair, ordering in zip(waiting[::2], waiting[1::2], strict=True):
        assert pair.result(SOON).annotator == "Bob"
        assert len(ordering.result(SOON)) == 6
    assert len(made) == 2


@posix
@pytest.mark.slow
def test_a_helper_that_is_stopped_is_replaced_and_whoever_waited_is_served(prefetcher: Any) -> None:
    made: list[HelperProcess] = []

    def executor() -> Executor:
        made.append(HelperProcess())
        return made[-1]

    pairs = prefetcher(executor, Limits(helper_seconds=0.5))
    pid = made[0].submit(os.getpid).result(SOON)
    os.kill(pid, signal.SIGSTOP)
    pair, ordering = pairs.fetch("Bob"), pairs.ordering()
    # On a slow machine the next ones may be too slow as well; each gets twice the time.
    assert pair.result(SOON).annotator == "Bob"
    assert len(ordering.result(SOON)) == 6
    assert len(made) > 1
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@posix
@pytest.mark.parametrize("busy", [True, False])
def test_closing_takes_no_longer_than_agreed_while_the_helper_is_stopped(url: str, busy: bool) -> None:
    made = HelperProcess()
    pairs = Prefetcher(url, Helpers(lambda: made), Limits(stop_seconds=0.2, helper_seconds=SOON))
    os.kill(made.submit(os.getpid).result(SOON), signal.SIGSTOP)
    if busy:
        pairs.fetch("Ann")
    begun = time.monotonic()
    pairs.close()
    assert time.monotonic() - begun < 10.0
