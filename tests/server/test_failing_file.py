"""The file of a study is moved, deleted, replaced, locked, or on a full disk while people judge.

Nothing is acknowledged that is not stored, reads go on, the owner sees why, and no path of the machine goes out.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import no_room

from ordinate.data.items import Items
from ordinate.storage import sqlite
from ordinate.study.study import Study


def deleted(path: Path) -> None:
    path.unlink()


def renamed(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replaced(path: Path) -> None:
    other = path.with_name("other.db")
    Study.create(Items(["x", "y"]), storage=f"sqlite:///{other}").close()
    other.replace(path)


def written_over(path: Path) -> None:
    other = path.with_name("other.db")
    Study.create(Items(["x", "y"]), storage=f"sqlite:///{other}").close()
    path.write_bytes(other.read_bytes())


def failures(log: pytest.LogCaptureFixture, path: Path) -> list[str]:
    """What the server's log says of the file."""
    return [record.getMessage() for record in log.records if f"{path} cannot be used" in record.getMessage()]


def refused(response: Any, folder: Path) -> None:
    """503, so that browsers keep the answer and send it again, in words that show nothing of the machine."""
    assert response.status_code == 503, response.text
    assert response.headers["retry-after"] == "2"
    assert response.json()["detail"] == (
        "the study cannot be read or written at the moment; the page of its owner says why"
    )
    assert str(folder) not in response.text


@pytest.mark.parametrize("happens", [deleted, renamed, replaced, written_over])
def test_a_moved_file_takes_no_answers_and_the_owner_sees_why(
    site: Any, happens: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path, folder = site.served.path, site.served.path.parent
    ann, olga = site.browser("Ann"), site.browser("Olga", "owner")
    first, second = ann.ask(2)
    assert ann.tell(first).status_code == 200
    assert olga.get("").json()["problem"] is None
    happens(path)
    for _ in range(3):
        refused(ann.tell(second, key="one"), folder)
        refused(ann.post("/queries", {"count": 5}), folder)
    refused(ann.post("/undo"), folder)
    assert site.study.annotators() == {"Ann": 1}
    assert len(failures(caplog, path)) == 1, "logged once, with the path"
    told = olga.get("").json()
    assert told["problem"].startswith("answers cannot be stored at the moment and wait in the browsers")
    assert "essays.db was" in told["problem"]
    assert str(folder) not in told["problem"]
    assert (told["answers"], ann.get("").json()["problem"]) == (1, None), "reads go on; it is for the owner alone"


def test_answers_go_on_once_the_file_is_back(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    path = site.served.path
    ann, olga = site.browser("Ann"), site.browser("Olga", "owner")
    first, second = ann.ask(2)
    for query in (first, second):
        renamed(path)
        refused(ann.tell(query, key=query["id"]), path.parent)
        path.with_name("elsewhere.db").rename(path)
        assert ann.tell(query, key=query["id"]).status_code == 200
        assert olga.get("").json()["problem"] is None
    assert len(failures(caplog, path)) == 2, "each time anew"
    with Study.open(f"sqlite:///{path}") as stored:
        assert stored.annotators() == {"Ann": 2}


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_a_file_that_stays_locked_takes_no_answers_and_the_owner_sees_why(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.5)
    site = build()
    path = site.served.path
    ann, olga = site.browser("Ann"), site.browser("Olga", "owner")
    (query,) = ann.ask()
    with locked(path):
        refused(ann.tell(query, key="one"), path.parent)
        assert "another program keeps the file locked" in olga.get("").json()["problem"]
        assert olga.get("/comparisons").status_code == 200
    assert ann.tell(query, key="one").status_code == 200
    assert olga.get("").json()["problem"] is None


def test_a_full_disk_loses_nothing_and_judging_goes_on_once_there_is_room(
    build: Any, tiny_disk: Path, tmp_path: Path
) -> None:
    site = build(Items([str(row) for row in range(8)]), folder=tiny_disk)
    ann, olga = site.browser("Ann"), site.browser("Olga", "owner")
    held = ann.ask(10)
    acknowledged, response = 0, None
    with no_room(tiny_disk):
        for query in held:
            response = ann.tell(query, key=query["id"])
            if response.status_code != 200:
                break
            acknowledged += 1
        refused(response, tiny_disk)
        assert ann.get("").json()["answers"] == acknowledged
        assert "the disk is full" in olga.get("").json()["problem"]
    for query in held:
        assert ann.tell(query, key=query["id"]).status_code == 200
    assert olga.get("").json()["problem"] is None
    site.client.__exit__(None, None, None)
    copy = tmp_path / "copy.db"
    shutil.copy(tiny_disk / "essays.db", copy)
    with Study.open(f"sqlite:///{copy}") as stored:
        assert stored.annotators() == {"Ann": len(held)}


def test_an_owner_is_shown_no_folder_either(site: Any) -> None:
    folder, owner = site.served.path.parent, site.program("owner")
    (folder / "taken.db").write_text("something else")
    body = {"name": "taken", "items": [{"id": "a"}, {"id": "b"}]}
    response = owner.client.post("/api/v1/studies", json=body, headers=owner.headers)
    assert response.status_code == 409
    assert response.json()["detail"].startswith("taken.db exists already")
    assert str(folder) not in response.text
