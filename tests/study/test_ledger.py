"""What is refused in the middle of a change leaves nothing of it behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate import Items, Study
from ordinate.errors import InvalidInput, NotAStudy, OrdinateError, StorageFailed, UnknownItem
from ordinate.storage import sql, sqlite
from ordinate.study import ledger, next_pair


def items(*names: str) -> Items:
    return Items(list(names), np.arange(2.0 * len(names)).reshape(-1, 2))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


def test_features_that_are_too_large_leave_the_study_as_it_was(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Study.create(items("a", "b", "c"), storage=url) as study:
        study.record([("a", "b", "left")])
        monkeypatch.setattr(sql, "_LARGEST_BLOCK", 40)
        with pytest.raises(InvalidInput, match=r"numpy\.save"):
            study.add_items(items("d", "e", "f"))
        study.add_items(items("g"))
    with Study.open(url) as study:
        assert list(study.items.ids) == ["a", "b", "c", "g"]
        assert len(study.comparisons()) == 1


def test_what_the_storage_refuses_half_way_is_undone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is: here the rows of the items are there already when their features are refused."""

    insert = sql._insert

    def refusing(table: str, names: tuple[str, ...]) -> str:
        if table == "features":
            raise OrdinateError("no")
        return insert(table, names)

    with Study.create(items("a", "b", "c"), storage=url) as study:
        with monkeypatch.context() as during:
            during.setattr(sql, "_insert", refusing)
            with pytest.raises(OrdinateError, match="no"):
                study.add_items(items("d"))
        assert list(study.items.ids) == ["a", "b", "c"]
        study.record([("a", "b", "left")])
    with Study.open(url) as study:
        assert list(study.items.ids) == ["a", "b", "c"]
        assert len(study.comparisons()) == 1


def together(study: Study, *work: Callable[[], Any]) -> list[BaseException | None]:
    """Do all this as one transaction, as where many people write at the same time; what became of each."""
    ledger = study._ledger
    with ThreadPoolExecutor(len(work)) as threads:
        with ledger._writing:
            made = []
            for number, one in enumerate(work, start=1):
                made.append(threads.submit(one))
                while len(ledger._queue) < number:
                    time.sleep(0.001)
        return [one.exception() for one in made]


def test_what_fails_in_one_request_fails_in_no_other(url: str) -> None:
    with Study.create(items("a", "b", "c"), storage=url) as study:

        def fail(transaction: Any) -> None:
            transaction.append("exclude-item", left="c")
            raise ZeroDivisionError("a bug")

        def write_nonsense(transaction: Any) -> None:
            transaction.append("include-item", left="b")

        transactions: list[int] = []
        first, nonsense, nothing, bug, last = together(
            study,
            lambda: study.record([("a", "b", "left")]),
            lambda: study._ledger.write(write_nonsense),
            lambda: study.exclude_item("no such item"),
            lambda: study._ledger.write(fail),
            lambda: transactions.append(study.record([("b", "c", "left")])),
        )
        assert (first, last, transactions) == (None, None, [1])
        assert isinstance(nonsense, NotAStudy)
        assert isinstance(nothing, UnknownItem)
        assert isinstance(bug, ZeroDivisionError)
        assert study.excluded_items == ()
    with Study.open(url) as study:
        assert study.comparisons() == [("a", "b", "left", None), ("b", "c", "left", None)]


def test_where_the_storage_fails_nobody_is_told_that_it_was_stored(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StorageFailed("the disk is full")

    with Study.create(items("a", "b", "c"), storage=url) as study:
        with monkeypatch.context() as during:
            during.setattr(sql.SqlLog, "record", full)
            found = together(study, *[lambda: study.record([("a", "b", "left")])] * 3)
        assert [type(one) for one in found] == [StorageFailed] * 3
        assert study.comparisons() == []
        study.record([("a", "b", "left")])


def test_threads_write_while_some_of_them_fail(url: str) -> None:
    with Study.create(items("a", "b", "c"), storage=url) as study:
        go = threading.Barrier(8)

        def write(number: int) -> None:
            go.wait()
            for _ in range(5):
                if number % 2:
                    study.record([("a", "b", "left", f"person {number}")])
                else:
                    with pytest.raises(ZeroDivisionError):
                        study._ledger.write(lambda _: 1 // 0)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(8)))
        assert sorted(study.annotators().values()) == [5] * 4


def test_who_asks_goes_on_with_what_is_stored_after_another_request_failed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Study.create(items(*"abcdef"), storage=url) as study:
        waiting = study.ask("bob")
        choose = next_pair.choose
        others: list[threading.Thread] = []

        def slow(*given: Any, **named: Any) -> Any:
            chosen = choose(*given, **named)
            if not others:  # they come while the choice is made
                for work in (lambda: study.tell(waiting.id, "left"), lambda: study.tell(None, "left")):  # type: ignore[arg-type]
                    others.append(threading.Thread(target=_refused, args=(work,)))
                    others[-1].start()
                    time.sleep(0.2)
            return chosen

        monkeypatch.setattr(next_pair, "choose", slow)
        asked = study.ask("ann")
        for one in others:
            one.join()
        assert [query.id for query in study.open_queries() if query.annotator == "ann"] == [asked.id]


def _refused(work: Callable[[], Any]) -> None:
    with suppress(AttributeError):
        work()


def test_a_long_look_at_a_study_keeps_no_other_process_from_writing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 3.0)
    monkeypatch.setattr(ledger, "_PATIENCE", 0.2)
    with Study.create(items(*"abcdef"), storage=url) as study, Study.open(url) as another:
        mine, theirs = study.ask("ann"), study.ask("bob")
        done, begun = threading.Event(), threading.Event()

        def look() -> None:
            with study.unchanged():
                begun.set()
                done.wait(60.0)

        looking = threading.Thread(target=look)
        looking.start()
        begun.wait()
        writing = threading.Thread(target=lambda: study.tell(mine.id, "left"))
        writing.start()
        time.sleep(0.1)
        another.tell(theirs.id, "left")
        done.set()
        looking.join()
        writing.join()
        assert len(study.comparisons()) == 2


def test_a_writer_waits_for_no_more_than_a_few_long_looks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_PATIENCE", 0.01)
    with Study.create(items(*"abcdef"), storage=url) as study:
        query, done = study.ask("ann"), threading.Event()

        def look() -> None:
            while not done.is_set():
                with study.unchanged():
                    time.sleep(0.05)

        looking = [threading.Thread(target=look) for _ in range(2)]
        for one in looking:
            one.start()
        study.tell(query.id, "left")
        done.set()
        for one in looking:
            one.join()
        assert len(study.comparisons()) == 1
