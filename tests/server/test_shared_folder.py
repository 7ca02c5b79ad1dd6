"""Servers that share a folder and a PostgreSQL database: their owner's studies are in the database, and what one server
makes, archives or deletes is so at the other one at once."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from tests.server.test_folder import PHOTOS, SECRET, Folder, picture

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StorageFailed, StudyNotFound
from ordinate.server import making
from ordinate.server.app import create_app
from ordinate.server.drafts import Draft, link_media
from ordinate.server.limits import Limits
from ordinate.server.registry import StudyRegistry
from ordinate.server.study_database import PROCESSES, StudyDatabase
from ordinate.storage.places import database
from ordinate.storage.postgresql_connections import MOST
from ordinate.storage.postgresql_database import OpenDatabase
from ordinate.study.study import Study

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (the extra postgresql)")
_databases = count(1)


class Server(Folder):
    """A server of a folder whose studies are in a database, and its owner's browser."""

    def __init__(self, path: Path, url: str) -> None:
        self.path = path
        self.app = create_app(
            [],
            SECRET,
            folder=path,
            database=database(url),
            executor=lambda: ThreadPoolExecutor(1),
            limits=Limits(pair_seconds=60.0),
        )
        self.enter()


@pytest.fixture
def url(postgresql: Any) -> Iterator[str]:
    """A database of the test's own."""
    address, name = postgresql.database, f"lab{next(_databases)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{address.rpartition('/')[0]}/{name}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def serve(url: str, tmp_path: Path) -> Iterator[Callable[[], Server]]:
    running: list[Server] = []

    def start() -> Server:
        running.append(Server(tmp_path, url))
        return running[-1]

    yield start
    for server in running:
        server.close()


@pytest.fixture
def two(serve: Callable[[], Server]) -> tuple[Server, Server]:
    return serve(), serve()


def test_a_study_made_at_one_server_is_judged_at_the_other(two, serve):
    one, other = two
    made = one.make("holiday", PHOTOS, question="Which is *nicer*?")
    assert made.status_code == 201, made.text
    assert other.studies() == ["holiday"]
    joined = TestClient(other.app).post(made.json()["link"]["url"], data={"name": "Ann"})
    assert "<em>nicer</em>" in joined.text
    shown = other.client.get("/media/holiday/3/image")
    assert (shown.status_code, shown.content) == (200, picture(60))
    assert other.client.get("/media/holiday/3/thumbnail").headers["content-type"] == "image/webp"
    study = other.study("holiday")
    study.tell(study.ask("Ann").id, "left")
    (line,) = one.overview()["studies"]
    assert (line["answers"], line["own_folder"]) == (1, True)
    # Nothing of it is in the folder but its pictures.
    files = [path.relative_to(one.path) for path in one.path.rglob("*") if path.is_file()]
    assert len(files) == 4
    assert all(re.fullmatch(r"holiday/media/[0-9a-f]{16}\.png", path.as_posix()) for path in files)
    assert serve().studies() == ["holiday"]


def test_items_that_are_added_at_one_server_are_shown_by_the_other(two):
    one, other = two
    one.make("essays", {"a.txt": b"One.", "b.txt": b"Two."})
    draft = other.dropped({"c.txt": b"Three.", "d.png": picture(7)})
    assert other.send("POST", f"/drafts/{draft}/items", {"study": "essays"}).status_code == 200
    assert one.study("essays").items.ids == ("a.txt", "b.txt", "c.txt", "d.png")
    assert one.client.get("/media/essays/3/image").content == picture(7)
    assert one.send("GET", f"/drafts/{draft}").status_code == 404


def test_a_copy_has_files_of_its_own(two):
    one, other = two
    one.make("holiday", PHOTOS, rules={"budget": 50})
    study = one.study("holiday")
    study.tell(study.ask().id, "left")
    assert other.send("POST", "/studies/holiday/duplicate", {"name": "again"}).status_code == 201
    copy = one.study("again")
    assert (copy.items.ids, copy.rules.budget, copy.comparisons()) == (study.items.ids, 50, [])
    assert one.send("POST", "/studies/holiday/delete", {"name": "holiday"}).status_code == 200
    assert other.client.get("/media/again/0/image").content == picture(0)
    assert other.send("POST", "/studies/again/duplicate", {"name": "again"}).status_code == 409


def test_an_archived_study_opens_nothing_at_either_server(two, url):
    one, other = two
    made = one.make("holiday", PHOTOS).json()
    study = other.study("holiday")
    query = study.ask("Ann")
    assert one.send("POST", "/studies/holiday/archive", {}).status_code == 200
    with pytest.raises(OSError, match="was dropped"):
        study.tell(query.id, "left")  # by a request that began before
    assert other.studies() == []
    assert other.overview()["archived"] == ["holiday"]
    assert TestClient(other.app).get(made["link"]["url"]).status_code == 404
    with pytest.raises(StudyNotFound):
        Study.open(f"{url}/holiday")
    assert other.make("holiday", PHOTOS).status_code == 409
    assert other.send("POST", "/archived/holiday/restore", {}).status_code == 200
    assert other.send("POST", "/archived/holiday/restore", {}).status_code == 404
    assert one.studies() == ["holiday"]
    one.study("holiday").tell(query.id, "left")
    assert TestClient(one.app).get(made["link"]["url"]).status_code == 200


def test_a_deleted_study_is_gone_with_its_files_and_its_name_is_free(two, url):
    one, other = two
    for name in ("holiday", "other"):
        assert one.make(name, PHOTOS).status_code == 201
    (one.path / "holiday" / "mine.txt").write_text("not of the study", encoding="utf-8")
    assert other.send("POST", "/studies/holiday/delete", {"name": "holliday"}).status_code == 422
    assert other.send("POST", "/studies/holiday/delete", {"name": "holiday"}).status_code == 200
    assert one.studies() == ["other"]
    assert one.client.get("/owner/holiday").status_code == 404
    one.send("POST", "/studies/other/archive", {})
    assert other.send("POST", "/archived/other/delete", {"name": "other"}).status_code == 200
    assert [path.name for path in one.path.rglob("*") if path.is_file()] == ["mine.txt"]
    with psycopg.connect(url) as connection:
        schemas = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_'").fetchall()
    assert {name for (name,) in schemas} == {"public", "information_schema"}
    assert other.make("holiday", {"a.txt": b"One.", "b.txt": b"Two."}).status_code == 201
    # Another study of that name is there, not the one that was served before.
    assert one.study("holiday").items.ids == ("a.txt", "b.txt")


def _pictures(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.glob("*/media/*")}


def test_a_name_that_a_study_in_files_has_is_taken(serve, tmp_path):
    files = Folder(tmp_path)
    assert files.make("holiday", PHOTOS).status_code == 201
    files.close()
    before = _pictures(tmp_path)
    one = serve()
    refused = one.make("holiday", PHOTOS)
    assert (refused.status_code, "in files" in refused.text) == (409, True)
    assert _pictures(tmp_path) == before


def test_deleting_a_study_keeps_the_pictures_of_a_study_in_files(serve, tmp_path, url):
    """It was copied into the database, and shows the same pictures there."""
    files = Folder(tmp_path)
    assert files.make("holiday", PHOTOS).status_code == 201
    with Study.open(f"sqlite:///{tmp_path}/holiday/holiday.db") as study:
        shown = [str(tmp_path / "holiday" / place) for place in study.items.content["image"]]
    files.close()
    before = _pictures(tmp_path)
    Study.create(Items(list("abcd"), content={"image": shown}), storage=f"{url}/holiday").close()
    one = serve()
    assert one.send("POST", "/studies/holiday/delete", {"name": "holiday"}).status_code == 200
    assert (one.studies(), _pictures(tmp_path)) == ([], before)


@pytest.mark.parametrize("archived", [True, False])
def test_deleting_a_study_keeps_the_pictures_of_one_of_the_same_name(serve, url, archived):
    """One is in the archive, the other one was made elsewhere meanwhile and got pictures here."""
    one = serve()
    assert one.make("holiday", PHOTOS).status_code == 201
    in_archive = _pictures(one.path)
    assert one.send("POST", "/studies/holiday/archive", {}).status_code == 200
    shared = str(one.path / min(in_archive))
    Study.create(Items(["a", "b"], content={"image": [shared, None]}), storage=f"{url}/holiday").close()
    draft = one.dropped({"c.png": picture(7)})
    assert one.send("POST", f"/drafts/{draft}/items", {"study": "holiday"}).status_code == 200
    added = _pictures(one.path) - in_archive
    assert len(added) == 1
    place = "archived" if archived else "studies"
    assert one.send("POST", f"/{place}/holiday/delete", {"name": "holiday"}).status_code == 200
    assert _pictures(one.path) == (added | {min(in_archive)} if archived else in_archive)


def test_a_server_that_is_killed_while_it_deletes_a_study_leaves_it_whole_or_gone(serve, monkeypatch, url):
    one = serve()
    assert one.make("holiday", PHOTOS).status_code == 201
    assert one.make("other", PHOTOS).status_code == 201

    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    place = database(url).open()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(StudyDatabase, "_delete_files", kill)
            with pytest.raises(Killed):
                one.app.state.workspace.studies.delete(place.study("holiday"))
        assert len(list((one.path / "holiday" / "media").iterdir())) == 4
        # Nobody needs the files of a study that nobody can open any more.
        assert serve().studies() == ["other"]
        assert not (one.path / "holiday").exists()
        assert place.being_deleted() == {}
        assert len(list((one.path / "other" / "media").iterdir())) == 4
    finally:
        place.close()


def test_a_study_has_the_files_that_it_shows_and_no_others(serve):
    one = serve()
    table = b"id,image\na,0.png\nb,1.png\n"
    files = {f"{row}.png": picture(row) for row in range(3)}
    assert one.make("some", {**files, "table.csv": table}).status_code == 201
    assert len(_pictures(one.path)) == 2
    assert one.send("POST", "/studies/some/delete", {"name": "some"}).status_code == 200
    assert not (one.path / "some").exists()


def test_a_study_that_cannot_be_copied_leaves_nothing(serve, url):
    """Its pictures lie beside those that were dropped, where a copy would not find them."""
    one = serve()
    pictures = one.path / "trips" / "pics"
    pictures.mkdir(parents=True)
    (pictures / "a.png").write_bytes(picture(1))
    content = {"image": [str(pictures / "a.png"), None]}
    Study.create(Items(["a", "b"], content=content), storage=f"{url}/trips").close()
    refused = one.send("POST", "/studies/trips/duplicate", {"name": "again"})
    assert (refused.status_code, "item 'a'" in refused.text) == (422, True)
    assert one.studies() == ["trips"]
    assert not list((one.path / ".drafts").glob("*"))
    assert one.make("again", PHOTOS).status_code == 201


@pytest.mark.parametrize("error", [InvalidInput("not this one"), StorageFailed("the database is away")])
@pytest.mark.parametrize("fails", ["media.require_inside", "Study.make_link"])
def test_a_study_that_is_refused_once_it_is_made_leaves_the_draft(serve, monkeypatch, fails, error):
    one = serve()
    draft = one.dropped(PHOTOS)

    def refuse(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(f"ordinate.server.served_study.{fails}", refuse)
        assert one.send("POST", f"/drafts/{draft}/study", {"name": "holiday"}).status_code in (422, 503)
        database_of_it = one.app.state.workspace.studies
        assert (dict(database_of_it.versions()), database_of_it.archived()) == ({}, [])
        assert not (one.path / "holiday").exists()
    assert one.send("POST", f"/drafts/{draft}/study", {"name": "holiday"}).status_code == 201
    assert len(list((one.path / "holiday" / "media").glob("*.png"))) == 4
    with monkeypatch.context() as patch:
        patch.setattr("ordinate.server.making._create", refuse)
        assert one.send("POST", "/studies/holiday/duplicate", {"name": "again"}).status_code in (422, 503)
    assert not list((one.path / ".drafts").glob("*"))
    assert not (one.path / "again").exists()


def _connections(url: str) -> int:
    with psycopg.connect(url) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ((found,),) = connection.execute(query).fetchall()
        return int(found)


def test_a_study_that_is_refused_keeps_no_connection(serve, url, monkeypatch):
    one = serve()
    elsewhere = str(one.path / "other" / "x.png")
    Study.create(Items(["a", "b"], content={"image": [elsewhere, None]}), storage=f"{url}/thief").close()
    before = _connections(url)
    found: list[BaseException] = []

    def note(message: str, name: str, error: BaseException) -> None:
        found.append(error)  # with its traceback, and so with all that was opened

    monkeypatch.setattr("ordinate.server.registry.log.error", note)
    assert one.studies() == []
    assert len(found) == 1
    assert _connections(url) == before


def test_a_request_opens_no_study_but_the_one_that_it_names(serve, url):
    one = serve()
    for name in ("first", "second"):
        Study.create(Items(["a", "b"]), storage=f"{url}/{name}").close()
    registry = one.app.state.authenticator.registry
    with registry._lock, ThreadPoolExecutor(1) as threads:  # as while another study is being opened
        assert threads.submit(one.client.get, "/join/unknown/x").result(60).status_code == 404
    assert registry.served() == []
    assert one.client.get("/owner/second").status_code == 200
    assert [served.name for served in registry.served()] == ["second"]
    assert one.studies() == ["first", "second"]


def test_a_server_warns_where_the_database_takes_too_few_connections(serve, monkeypatch, caplog):
    one = serve()
    assert one.make("holiday", PHOTOS).status_code == 201
    assert "max_connections" not in caplog.text
    wanted = MOST + 1 + PROCESSES
    monkeypatch.setattr(OpenDatabase, "most_connections", lambda _: wanted - 2)
    serve()
    assert (
        f"takes {wanted - 2} connections, and each server may need {wanted}; raise max_connections by 2" in caplog.text
    )


def test_all_studies_of_a_server_share_a_few_connections(serve, url):
    names = [f"study-{number}" for number in range(2 * MOST)]
    for name in names:
        Study.create(Items(["a", "b", "c"]), storage=f"{url}/{name}").close()
    one = serve()
    assert one.studies() == sorted(names)

    def judge(name: str) -> None:
        study = one.study(name)
        for annotator in ("Ann", "Bob"):
            study.tell(study.ask(annotator).id, "left")

    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(judge, names))
    assert {line["answers"] for line in one.overview()["studies"]} == {2}
    assert _connections(url) <= MOST


@pytest.mark.slow
def test_studies_that_others_keep_locked_leave_connections_to_readers_and_to_each_other(serve, url, monkeypatch):
    """Their writers give up after a while, and nobody else has waited longer."""
    monkeypatch.setattr("ordinate.storage.postgresql_connections.BUSY_SECONDS", 3)
    names = [f"study-{number}" for number in range(2 * MOST)]
    for name in (*names, "free"):
        Study.create(Items(["a", "b", "c"]), storage=f"{url}/{name}").close()
    one = serve()
    studies = {name: one.study(name) for name in (*names, "free")}
    queries = {name: study.ask("Ann").id for name, study in studies.items()}

    def tell(name: str) -> bool:
        try:
            studies[name].tell(queries[name], "left")
        except StorageFailed:
            return False
        return True

    with psycopg.connect(url) as other, ThreadPoolExecutor(len(names)) as threads:
        for name in names:
            other.execute(f'SELECT * FROM "{name}".study FOR UPDATE').fetchall()
        telling = [threads.submit(tell, name) for name in names]
        for _ in range(3):
            assert len(one.overview()["studies"]) == len(studies)
        assert not any(job.result(60) for job in telling)
        assert tell("free")
        other.rollback()
    assert all(map(tell, names))


@pytest.mark.load
@pytest.mark.timeout(1800)
def test_two_servers_have_200_studies_in_a_database_with_the_usual_connections(tmp_path, url):
    def create(number: int) -> None:
        Study.create(Items([str(row) for row in range(6)]), storage=f"{url}/study-{number}").close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(create, range(200)))
    with psycopg.connect(url) as connection:
        ((most,),) = connection.execute("SHOW max_connections").fetchall()
    assert most == "100"
    with ExitStack() as stack:
        servers = [stack.enter_context(_process(tmp_path / "shared", url, tmp_path / name)) for name in "ab"]

        def judge(number: int) -> int:
            server, study = servers[number % 2], f"/api/v1/studies/study-{number}"
            for _ in range(3):
                asked = server.post(f"{study}/queries", json={"count": 1, "annotator": "Ann"}).raise_for_status()
                (query,) = asked.json()["queries"]
                answer = {"query": query["id"], "answer": "left", "count": 0, "annotator": "Ann"}
                server.post(f"{study}/answers", json=answer).raise_for_status()
            return _connections(url)

        with ThreadPoolExecutor(12) as threads:
            used = list(threads.map(judge, range(200)))
        assert max(used) <= 2 * (MOST + 1 + PROCESSES)
        for server in servers:
            studies = server.get("/api/v1/server").raise_for_status().json()["studies"]
            assert [line["answers"] for line in studies] == [3] * 200


def test_nothing_that_waits_is_done_in_the_event_loop(serve, monkeypatch):
    """It would keep everybody else waiting: a study that is looked for may have to be opened first."""
    one = serve()
    in_loop: list[str] = []

    def watched(kind: Any, name: str) -> None:
        plain = getattr(kind, name)

        def watching(self: Any, *arguments: Any) -> Any:
            with suppress(RuntimeError):
                asyncio.get_running_loop()
                in_loop.append(f"{kind.__name__}.{name}")
            return plain(self, *arguments)

        monkeypatch.setattr(kind, name, watching)

    watched(StudyRegistry, "get")
    watched(StudyRegistry, "open")
    watched(Draft, "files")
    watched(Draft, "seal")
    watched(StudyDatabase, "require_free")
    assert one.make("essays", {"a.txt": b"One.", "b.txt": b"Two."}).status_code == 201
    draft = one.dropped({"c.txt": b"Three."})
    assert one.send("POST", f"/drafts/{draft}/preview", {"study": "essays"}).status_code == 200
    assert one.send("POST", f"/drafts/{draft}/items", {"study": "essays"}).status_code == 200
    assert one.send("POST", "/studies/essays/duplicate", {"name": "again"}).status_code == 201
    assert in_loop == []


def test_of_two_that_make_a_study_of_one_name_the_first_keeps_it(two):
    one, other = two
    drafts = one.dropped(PHOTOS), other.dropped({"a.png": picture(200), "b.png": picture(201)})
    with ThreadPoolExecutor(2) as threads:
        jobs = [
            threads.submit(server.send, "POST", f"/drafts/{draft}/study", {"name": "same"})
            for server, draft in zip(two, drafts, strict=True)
        ]
        assert sorted(job.result().status_code for job in jobs) == [201, 409]
    assert one.study("same").items.ids == other.study("same").items.ids
    shown = [one.client.get(f"/media/same/{row}/image").status_code for row in range(len(one.study("same").items))]
    assert set(shown) == {200}
    assert len(list((one.path / "same" / "media").iterdir())) == len(shown)


def test_a_draft_is_the_same_at_both_servers_and_made_of_once(two, monkeypatch):
    one, other = two
    draft = one.dropped({"0.png": picture(1)})
    assert other.drop(draft, "1.png", picture(2)).status_code == 201
    assert other.drop(draft, "0.png", picture(3)).status_code == 422  # the name of another file
    assert one.send("GET", f"/drafts/{draft}").json()["files"] == 2
    began, go_on, made = threading.Event(), threading.Event(), making.make

    def slow(*arguments: Any) -> int:
        began.set()
        go_on.wait(60)
        return made(*arguments)

    monkeypatch.setattr("ordinate.server.making.make", slow)
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(one.send, "POST", f"/drafts/{draft}/study", {"name": "holiday"})
        try:
            assert began.wait(60)
            assert other.send("GET", f"/drafts/{draft}").json()["state"] == "working"
            for refused in (
                other.drop(draft, "2.png", picture(4)),
                other.send("POST", f"/drafts/{draft}/study", {"name": "mine"}),
                other.send("POST", f"/drafts/{draft}/preview", {}),
            ):
                assert refused.status_code == 409
        finally:
            go_on.set()
        assert job.result().status_code == 201
    assert other.studies() == ["holiday"]


def test_a_server_that_is_killed_while_a_study_is_made_leaves_a_draft_that_can_be_made(serve):
    """The mark of the killed process is still there, and what it had linked already."""
    one = serve()
    draft = one.dropped(PHOTOS)
    place = one.path / ".drafts" / draft
    (place / "sealed").touch()
    items = making.find_items(place, making.Columns()).items
    link_media(place, one.path / "holiday" / "media", items)
    assert one.send("POST", f"/drafts/{draft}/study", {"name": "holiday"}).status_code == 201
    assert len(list((one.path / "holiday" / "media").iterdir())) == 4


def test_a_study_of_a_database_that_fails_for_a_moment_is_not_said_to_be_gone(serve, url, monkeypatch):
    Study.create(Items(["a", "b"]), storage=f"{url}/essays").close()
    one = serve()
    with monkeypatch.context() as patch:
        patch.setattr("ordinate.server.registry.FAILURE_SECONDS", 0.0)
        one.app.state.authenticator.registry._close("essays")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER TABLE essays.log RENAME TO elsewhere")
            refused = one.client.get("/api/v1/studies/essays", headers={"Accept": "application/json"})
            assert (refused.status_code, refused.json()["type"]) == (503, "urn:ordinate:TryLater")
            assert refused.headers["Retry-After"]
            assert one.client.get("/api/v1/studies/poems").status_code == 404
            connection.execute("ALTER TABLE essays.elsewhere RENAME TO log")
        assert one.client.get("/api/v1/studies/essays").status_code == 200


def test_a_study_that_cannot_be_made_leaves_no_files(two):
    one, _ = two
    draft = one.dropped(PHOTOS)
    refused = one.send("POST", f"/drafts/{draft}/study", {"name": "one", "rules": {"aim": ["top:50"]}})
    assert refused.status_code == 422
    assert list((one.path / "one" / "media").iterdir()) == []
    assert one.send("POST", f"/drafts/{draft}/study", {"name": "one"}).status_code == 201


def test_studies_made_elsewhere_are_served_if_they_name_no_files_of_other_studies(two, url):
    one, other = two
    one.make("holiday", PHOTOS)
    (secret, *_) = (one.path / "holiday" / "media").iterdir()
    Study.create(Items(["a", "b"]), storage=f"{url}/mine").close()
    Study.create(Items(["a", "b"], content={"image": [str(secret), None]}), storage=f"{url}/thief").close()
    with psycopg.connect(url, autocommit=True) as connection:
        # No study of ours, whatever somebody called it.
        connection.execute('CREATE SCHEMA "../holiday"; CREATE TABLE "../holiday".study (token TEXT)')
        connection.execute('CREATE TABLE "../holiday".alembic_version (version_num TEXT)')
    assert one.studies() == other.studies() == ["holiday", "mine"]
    assert one.client.get("/owner/thief").status_code == 404
    Study.open(f"{url}/mine").close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA mine CASCADE")
    assert one.studies() == ["holiday"]


@pytest.mark.parametrize(
    "name", ["", "Holiday", "a/b", "..", "archive.holiday", "1st", "pg_temp", "public", "a" * 56, 'x"; DROP SCHEMA y']
)
def test_a_name_that_no_study_can_have(serve, name):
    refused = serve().make(name, PHOTOS)
    assert refused.status_code == 422, refused.text


def test_only_the_owner_of_the_server_may_do_any_of_this(two):
    one, other = two
    one.make("holiday", PHOTOS)
    owner = other.study("holiday").make_link("owner", "Eve")
    token = other.app.state.authenticator.signer.link(other.study("holiday").token, owner.id)
    eve = TestClient(other.app, headers={"Authorization": f"Bearer {token}"})
    for path in ("/studies/holiday/archive", "/studies/holiday/delete", "/studies/holiday/duplicate", "/drafts"):
        assert eve.post(f"/api/v1/server{path}", json={"name": "holiday"}).status_code in (401, 403), path
    assert eve.post("/api/v1/studies", json={"name": "x", "items": [{"id": "a"}, {"id": "b"}]}).status_code == 403
    item = {"id": "new", "image": "../other/media/x.png"}
    assert eve.post("/api/v1/studies/holiday/items", json={"items": [item]}).status_code == 422
    assert one.studies() == ["holiday"]


def test_a_program_makes_a_study_in_the_database(two):
    one, other = two
    program = TestClient(one.app, headers={"Authorization": f"Bearer {one.link.rpartition('/')[2]}"})
    body = {"name": "made", "items": [{"id": "a"}, {"id": "b"}]}
    assert program.post("/api/v1/studies", json=body).status_code == 201
    assert other.studies() == ["made"]


@pytest.mark.parametrize("fails", ["media.require_inside", "Study.make_link"])
def test_a_study_that_a_program_makes_and_cannot_be_served_leaves_nothing(serve, monkeypatch, fails):
    one = serve()
    program = TestClient(one.app, headers={"Authorization": f"Bearer {one.link.rpartition('/')[2]}"})
    body = {"name": "made", "items": [{"id": "a"}, {"id": "b"}]}

    def refuse(*_: Any, **__: Any) -> None:
        raise InvalidInput("not this one")

    with monkeypatch.context() as patch:
        patch.setattr(f"ordinate.server.served_study.{fails}", refuse)
        assert program.post("/api/v1/studies", json=body).status_code == 422
    assert dict(one.app.state.workspace.studies.versions()) == {}
    assert one.studies() == []
    assert program.post("/api/v1/studies", json=body).status_code == 201
    assert one.studies() == ["made"]


def test_a_server_without_studies_is_ready_while_its_database_is_there(serve, postgresql):
    one = serve()
    assert one.client.get("/readyz").status_code == 200
    postgresql.stop()
    try:
        assert one.client.get("/readyz").status_code == 503
        assert one.client.get("/healthz").status_code == 200
    finally:
        postgresql.start()


def test_while_the_database_is_away_what_is_known_can_be_read(serve, postgresql):
    one = serve()
    one.make("holiday", PHOTOS)
    postgresql.stop()
    try:
        assert one.client.get("/media/holiday/0/image").status_code == 200
        assert one.client.get("/readyz").status_code == 503
        assert one.send("POST", "/studies/holiday/archive", {}).status_code == 503
        assert one.send("GET", "").status_code == 503
    finally:
        postgresql.start()


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:///x.db",
        "postgresql://host",
        "postgresql://host/",
        "postgresql://host/lab/study",
        "postgresql:///lab/a/b",
    ],
)
def test_an_address_that_is_no_database(address):
    with pytest.raises(InvalidInput, match="no address of a database"):
        database(address)


def test_the_address_of_a_study_in_a_database():
    found = database("postgresql://me:se%2Fcret@host:5433/lab?sslmode=require")
    assert found.study("essays").url == "postgresql://me:se%2Fcret@host:5433/lab/essays?sslmode=require"
    assert "cret" not in repr(found) + found.shown + found.study("essays").shown
    assert database("postgresql:///lab/").study("x").url == "postgresql:///lab/x"


@pytest.mark.slow
def test_two_processes_share_a_folder(tmp_path, url):
    with ExitStack() as stack:
        one, other = (stack.enter_context(_process(tmp_path / "shared", url, tmp_path / name)) for name in "ab")
        draft = one.post("/api/v1/server/drafts", json={}).raise_for_status().json()["draft"]
        for server, name in ((one, "0.png"), (other, "1.png")):
            taken = server.put(
                f"/api/v1/server/drafts/{draft}/files",
                params={"name": name},
                content=PHOTOS[f"holiday/{name}"],
                headers={"Content-Type": "application/octet-stream"},
            )
            assert taken.status_code == 201, taken.text
        made = other.post(f"/api/v1/server/drafts/{draft}/study", json={"name": "holiday"})
        assert made.status_code == 201, made.text
        (line,) = one.get("/api/v1/server").raise_for_status().json()["studies"]
        assert (line["study"], line["items"]) == ("holiday", 2)
        assert one.post("/api/v1/server/studies/holiday/archive", json={}).status_code == 200
        assert other.get("/api/v1/server").json()["archived"] == ["holiday"]


@contextmanager
def _process(folder: Path, url: str, log: Path) -> Iterator[httpx.Client]:
    """A server in a process of its own, as a program of its owner sees it."""
    command = [sys.executable, "-m", "ordinate", "serve", str(folder), "--storage", url, "--port", "0", "--no-open"]
    with log.open("w") as errors:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "ORDINATE_SECRET": SECRET}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
    try:
        assert server.stdout is not None
        shown = server.stdout.readline() + server.stdout.readline()
        (link,) = re.findall(r"http://\S+", shown)
        assert "p%40ss" not in shown
        address, _, token = link.partition("/enter/")
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=150.0) as client:
            yield client
    finally:
        server.terminate()
        server.communicate(timeout=150)
