"""Pairs chosen in a process of its own: what those who wait hear when there is none, and when the process ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import pytest

from ordinate.data.items import Items
from ordinate.errors import PoolExhausted, StorageFailed
from ordinate.server.limits import Limits
from ordinate.server.prefetcher import Prefetcher, one_process
from ordinate.study.study import Study

PATIENT = Limits(pair_seconds=60.0)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(Items(["a", "b"]), storage=url) as study:
        study.set_rules(again=False)
        study.tell(study.ask("Ann").id, "left")
        yield url


def until_waiting(prefetcher: Prefetcher, count: int) -> None:
    ends = time.monotonic() + 20
    while len(prefetcher._changed._waiters) < count:  # type: ignore[attr-defined]
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_two_tabs_of_one_person_both_hear_that_no_pair_is_left(url: str) -> None:
    go_on = threading.Event()
    executor = ThreadPoolExecutor(1)
    executor.submit(go_on.wait)
    prefetcher = Prefetcher(url, lambda: executor, PATIENT)
    with ThreadPoolExecutor(3) as tabs:
        other = tabs.submit(prefetcher.fetch, "Bob")
        until_waiting(prefetcher, 1)
        waiting = [tabs.submit(prefetcher.fetch, "Ann") for _ in range(2)]
        until_waiting(prefetcher, 3)
        go_on.set()
        assert other.result().annotator == "Bob"
        for tab in waiting:
            with pytest.raises(PoolExhausted):
                tab.result()
    prefetcher.close()


def test_a_pair_that_is_ready_for_somebody_else_is_given_at_once_and_replaced(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    executor, go_on = ThreadPoolExecutor(1), threading.Event()
    with Study.create(Items([str(row) for row in range(6)]), storage=url) as study:
        prefetcher = Prefetcher(url, lambda: executor, PATIENT)
        ready = prefetcher.fetch("Ann")
        assert ready is not None
        executor.submit(go_on.wait)
        assert prefetcher.offers("Bob") == [ready]
        (lease,) = study.take("Bob", 1, prefetcher.offers("Bob"))
        prefetcher.used("Bob", [lease.query])
        assert prefetcher.offers("Ann") == []
        go_on.set()
        ends = time.monotonic() + 20
        while not prefetcher.offers("Ann"):
            assert time.monotonic() < ends
            time.sleep(0.01)
        (other,) = prefetcher.offers("Ann")
        assert other.annotator == "Ann"
        assert {other.left, other.right} != {ready.left, ready.right}
        prefetcher.close()


@pytest.mark.skipif(os.name != "posix", reason="a process is stopped and killed by signals")
@pytest.mark.parametrize("idle", [True, False])
def test_a_process_that_is_killed_is_followed_by_another(url: str, idle: bool) -> None:
    made: list[Executor] = []

    def executor() -> Executor:
        made.append(one_process())
        return made[-1]

    prefetcher = Prefetcher(url, executor, PATIENT)
    pid = made[0].submit(os.getpid).result()
    if idle:
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(Exception, match="abruptly"):
            made[0].submit(os.getpid).result()
    else:
        os.kill(pid, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(prefetcher.fetch, "Bob")
            until_waiting(prefetcher, 1)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(StorageFailed, match="ask again"):
                waiting.result()
    assert prefetcher.fetch("Bob").annotator == "Bob"
    assert len(prefetcher.ordering()) == 2
    assert len(made) == 2
    prefetcher.close()
