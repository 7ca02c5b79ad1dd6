"""Another program locks the study's file: reading goes on, and what was to be written is written afterwards."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from ordinate.data.items import Items

MANY = Items([str(row) for row in range(60)])


def test_reading_goes_on_while_many_wait_to_write(build: Any) -> None:
    site = build(MANY, limits={"requests_per_second": 1000.0})
    people = [site.program("annotator", f"P{number}") for number in range(60)]
    held = [person.ask(1)[0] for person in people]
    owner = site.program("owner")
    with (
        ThreadPoolExecutor(80) as threads,
        closing(sqlite3.connect(site.served.path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        writing = [threads.submit(person.tell, query) for person, query in zip(people, held, strict=True)]
        reading = [
            threads.submit(owner.get, path) for path in ("", "/items", "/comparisons", "/annotators", "/ordering") * 3
        ]
        assert [one.result(20).status_code for one in reading] == [200] * 15
        assert owner.client.get("/healthz").status_code == 200
        assert not any(one.done() for one in writing), "nothing is acknowledged before it is on disk"
        other.execute("ROLLBACK")
        assert [one.result(60).status_code for one in writing] == [200] * 60
    assert site.study.annotators() == {f"P{number}": 1 for number in range(60)}
