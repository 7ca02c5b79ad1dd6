"""`ordinate serve` and `ordinate db upgrade` as commands: real processes, real sockets."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from ordinate.cli.serve import _is_loopback, _listening
from ordinate.client import Client
from ordinate.data.items import Items
from ordinate.server.signing import LinkSigner
from ordinate.storage import tables
from ordinate.study.study import Study


@contextmanager
def serving(
    *arguments: str, links_in_all: int = 2, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A server that has started, and the links it printed."""
    command = [sys.executable, "-m", "ordinate", "serve", *arguments, "--port", "0", "--no-open"]
    variables = {**os.environ, "PYTHONUNBUFFERED": "1", **environment}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)
    assert process.stdout is not None
    links: list[str] = []
    try:
        while len(links) < links_in_all:
            line = process.stdout.readline()
            assert line, process.communicate()
            links += re.findall(r"http://\S+", line)
        yield process, links
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def test_it_prints_two_links_serves_and_ends_when_interrupted(run, study):
    with serving(str(study), "--budget", "2", "--no-ties") as (process, (owner_link, shared_link)):
        with Client(shared_link) as ann, Client(owner_link) as owner:
            query = ann.ask("Ann")[0]
            ann.tell(query.id, "left", "Ann")
            assert owner.comparisons()[0].left == query.left
            assert owner.status()["goal"] == 2
            assert owner.status()["ties_allowed"] is False
            asked = run("ask", shared_link, "--annotator", "Bob", "--json")
            (given,) = asked.json["queries"]
            assert run("tell", shared_link, given["id"], "right", "--annotator", "Bob").code == 0
            assert run("ask", shared_link, "--annotator", "Bob").code == 2, "the budget is spent"
            ordered = run("order", owner_link, "--json").json
            assert ordered["comparisons"] == 2
            assert run("order", owner_link, "--out", "ordering.csv").code == 0
            columns, first = Path("ordering.csv").read_text().splitlines()[:2]
            assert columns == "rank,id,score,standard_error,rank_low,rank_high,rank_best,rank_tied_low,rank_tied_high"
            assert first.startswith("1,")
            owner.set_rules(aim=["top:1"])
            out = run("order", owner_link).out
            assert "Aim: the first 1 item; how many are found is not known: there are fewer than 3 answers" in out
            assert run("order", shared_link).code == 2, "only the owner sees it"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "Traceback" not in out + err
    assert not list(study.parent.glob("study.db-*"))
    with Study.open(f"sqlite:///{study}") as opened:
        assert len(opened.comparisons()) == 2


def test_in_place_of_a_revoked_link_it_says_how_to_make_another_of_the_same_role(study):
    with Study.open(f"sqlite:///{study}") as opened:
        opened.make_link("annotator", None, name="annotator")
        opened.revoke_link("annotator")
    with serving(str(study), links_in_all=1) as (process, _):
        assert process.stdout is not None
        assert process.stdout.readline().endswith(f"ordinate link {study} --shared\n")


def test_replies_are_sent_at_once():
    """Nagle's algorithm would hold back a reply's second part until the first one's receipt: up to 40 ms."""

    async def accepted() -> int:
        connected = asyncio.Event()
        without_delay = 0

        def look(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal without_delay
            without_delay = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            connected.set()
            writer.close()

        listener = _listening("127.0.0.1", 0)
        async with await asyncio.start_server(look, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            await asyncio.wait_for(connected.wait(), 10)
            writer.close()
        return without_delay

    # In a thread of its own: browser tests may have left a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, accepted()).result()


@pytest.mark.slow
def test_the_demo_is_served_with_its_pictures(folder, scratch):
    with serving("--demo", "--folder", "photos", **scratch) as (process, (_, shared_link)):
        base, _, rest = shared_link.partition("/join/")
        headers = {"Authorization": f"Bearer {rest.split('/')[1]}"}
        response = httpx.post(f"{base}/api/v1/studies/photos/queries", json={}, headers=headers, timeout=60)
        (query,) = response.json()["queries"]
        picture = httpx.get(base + query["left"]["image_url"], headers=headers)
        assert picture.headers["content-type"] == "image/jpeg"
        leaves_no_folder(process, signal.SIGTERM, scratch)


@pytest.fixture
def scratch(tmp_path: Path) -> dict[str, str]:
    """Variables that name a folder for temporary files."""
    (tmp_path / "scratch").mkdir()
    return dict.fromkeys(("TMPDIR", "TEMP"), str(tmp_path / "scratch"))


def leaves_no_folder(process: subprocess.Popen[str], by: signal.Signals, scratch: dict[str, str]) -> None:
    process.send_signal(by)
    out, err = process.communicate(timeout=30)
    assert process.returncode == -by
    assert "Traceback" not in out + err
    assert not list(Path(scratch["TMPDIR"]).glob("ordinate-*"))


def test_it_is_terminated_and_leaves_no_folder_behind(study, scratch):
    with serving(str(study), **scratch) as (process, _):
        leaves_no_folder(process, signal.SIGTERM, scratch)


DROPPING = """
import signal, sys
from ordinate.__main__ import main
from ordinate.server import connections

class Short:
    def __del__(self):
        signal.raise_signal({sig})  # Python would drop what the handler raises here

def server(*given, make=connections.server):
    Short()
    return make(*given)

connections.server = server
sys.exit(main(["serve", sys.argv[1], "--port", "0", "--no-open"]))
"""


@pytest.mark.parametrize(("sig", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_whose_exception_is_dropped_ends_it_all_the_same(study, sig, code):
    command = [sys.executable, "-c", DROPPING.format(sig=int(sig)), str(study)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_a_port_that_is_taken_is_a_clear_error(run, study):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = run("serve", "study.db", "--port", port, "--no-open")
    assert result.code == 1
    assert f"port {port}" in result.err
    assert "--port" in result.err


def test_other_machines_come_in_only_with_a_secret_that_was_chosen(run, study, monkeypatch):
    monkeypatch.delenv("ORDINATE_SECRET", raising=False)
    result = run("serve", "study.db", "--host", "0.0.0.0", "--no-open")
    assert result.code == 2
    assert "--secret-file" in result.err
    assert "ORDINATE_SECRET" in result.err
    monkeypatch.setenv("ORDINATE_SECRET", "short")
    assert run("serve", "study.db", "--host", "0.0.0.0", "--port", "0").code == 2


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True)]
    + [(host, False) for host in ("0.0.0.0", "::", "192.168.1.2", "example.org", "127.0.0.1.example.org", "")],
)
def test_what_loopback_is(host, loopback):
    assert _is_loopback(host) is loopback


@pytest.mark.parametrize(
    "line", [["serve"], ["serve", "--demo", "study.db"], ["serve", "missing.db"], ["serve", "items.csv"]]
)
def test_nothing_to_serve(run, study, line):
    result = run(*line)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_a_link_instead_of_a_file(run, study):
    for line in (["ask"], ["tell", "a", "left"], ["order"]):
        assert "Missing argument" in run(*line).err, line
    assert "a link such as" in run("ask", "http://127.0.0.1:8000").err
    assert "only ask, tell and order take a link" in run("status", "http://127.0.0.1:8000/join/study/token").err


@pytest.mark.slow
def test_the_server_dies_and_its_helper_with_it(study, scratch):
    """kill -9 leaves no process behind that holds the file, and no folder; links stay what they were."""
    with serving(str(study), **scratch) as (process, links):
        with Client(links[1]) as client:
            client.ask("Ann")
        threads = list(Path(f"/proc/{process.pid}/task").glob("*/children"))  # each lists what it has started
        if not threads:
            pytest.skip("this system does not list child processes")
        left = [child for thread in threads for child in thread.read_text().split()]
        assert left
        leaves_no_folder(process, signal.SIGKILL, scratch)
        until = time.monotonic() + 20
        while any(Path(f"/proc/{child}").exists() and _is_alive(child) for child in left):
            assert time.monotonic() < until
            time.sleep(0.05)
    assert (study.parent / ".ordinate-secret").stat().st_mode & 0o777 == 0o600
    with serving(str(study)) as (_, again):
        assert [link.partition("/join/")[2] for link in again] == [link.partition("/join/")[2] for link in links]


def _is_alive(child: str) -> bool:
    try:
        return Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


OLD = """
PRAGMA foreign_keys = OFF;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO alembic_version VALUES ('0001');
CREATE TABLE study (token VARCHAR NOT NULL PRIMARY KEY, question TEXT NOT NULL, algorithm VARCHAR NOT NULL,
    seed INTEGER NOT NULL, scaling VARCHAR NOT NULL, refit_every INTEGER, candidates INTEGER);
INSERT INTO study VALUES ('abc123', 'Which?', 'guro-independent', 3, 'auto', NULL, NULL);
CREATE TABLE log (position INTEGER NOT NULL PRIMARY KEY, kind VARCHAR NOT NULL, at VARCHAR NOT NULL, query INTEGER,
    "left" TEXT, "right" TEXT, answer VARCHAR, annotator TEXT, based_on INTEGER, utility FLOAT, algorithm VARCHAR);
INSERT INTO log (position, kind, at) VALUES (1, 'add-items', '2025-01-01T00:00:00.000+00:00');
INSERT INTO log VALUES
    (2, 'ask', '2025-01-01T00:00:01.000+00:00', 1, 'a', 'b', NULL, 'Ann', 1, 0.06, 'guro-independent'),
    (3, 'answer', '2025-01-01T00:00:02.000+00:00', 1, 'a', 'b', 'left', 'Ann', NULL, NULL, NULL),
    (4, 'ask', '2025-01-01T00:00:03.000+00:00', 2, 'a', 'c', NULL, 'Ann', 3, 0.05, 'guro-independent');
CREATE TABLE items ("row" INTEGER NOT NULL PRIMARY KEY, added INTEGER NOT NULL REFERENCES log (position),
    id TEXT NOT NULL UNIQUE, item_group TEXT, text TEXT, image TEXT, audio TEXT, link TEXT);
INSERT INTO items (row, added, id, text) VALUES (1, 1, 'a', 'A'), (2, 1, 'b', 'B'), (3, 1, 'c', 'C');
CREATE INDEX ix_items_added ON items (added);
CREATE TABLE features (added INTEGER NOT NULL PRIMARY KEY REFERENCES log (position), items INTEGER NOT NULL,
    columns INTEGER NOT NULL, names TEXT, numbers BLOB NOT NULL);
INSERT INTO features VALUES (1, 3, 0, NULL, x'');
"""


def test_a_study_of_the_first_version_is_upgraded_and_goes_on(run, folder):
    connection = sqlite3.connect("old.db")
    connection.executescript(OLD)
    connection.close()
    refused = run("status", "old.db")
    assert refused.code == 2
    assert f"ordinate db upgrade {folder}/old.db" in refused.err
    upgraded = run("db", "upgrade", "old.db")
    assert (upgraded.code, upgraded.out.strip()) == (
        0,
        f"old.db: upgraded from tables 0001 to {tables.revisions()[-1]}",
    )
    assert run("db", "upgrade", "old.db").out.strip() == "old.db: already up to date"
    with Study.open("sqlite:///old.db") as study:
        assert [query.id for query in study.open_queries()] == ["abc123-2"]
        study.tell("abc123-2", "right")
        assert study.annotators() == {"Ann": 2}
        assert study.ordering().ids[-1] == "b"
    assert run("db", "upgrade", "items.csv").code == 2
    assert run("db", "upgrade", "missing.db").code == 2


def test_a_folder_is_made_and_its_owner_gets_one_link(folder):
    with serving(str(folder / "studies"), links_in_all=1) as (process, (link,)):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/enter/[\w-]+", link)
        headers = {"Authorization": f"Bearer {link.rpartition('/')[2]}"}
        body = {"name": "made", "items": [{"id": "a"}, {"id": "b"}]}
        base = link.partition("/enter/")[0]
        assert httpx.post(f"{base}/api/v1/studies", json=body, headers=headers, timeout=60).status_code == 201
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert (folder / "studies" / ".ordinate-secret").stat().st_mode & 0o777 == 0o600
    assert (folder / "studies" / "made.db").is_file()


def test_a_link_to_a_study_of_a_folder_is_signed_with_the_secret_of_the_folder(run, folder):
    own = folder / "studies" / "made"
    own.mkdir(parents=True)
    (folder / "studies" / ".ordinate-secret").write_text("a secret of this very test\n")
    (folder / "studies" / ".ordinate-secret").chmod(0o600)
    with Study.create(Items(["a", "b"]), storage=f"sqlite:///{own / 'made.db'}") as made:
        token = made.token
    link = run("link", str(own / "made.db"), "--json").json
    signed = link["url"].rpartition("/")[2]
    assert LinkSigner("a secret of this very test").read_link(signed) == (token, link["id"])
    assert not (own / ".ordinate-secret").exists()


def test_a_folder_is_served_alone(run, folder):
    (folder / "one").mkdir()
    done = run("serve", "one", "two.db")
    assert done.code == 2
    assert "serve one folder" in done.err
    for arguments, said in (
        (["two.db", "--storage", "postgresql://localhost/lab"], "--storage is for the studies of a folder"),
        (["one", "--storage", "postgresql://localhost/lab/essays"], "no address of a database"),
        (["one", "--storage", "sqlite:///x.db"], "no address of a database"),
    ):
        done = run("serve", *arguments)
        assert done.code == 2
        assert said in done.err
