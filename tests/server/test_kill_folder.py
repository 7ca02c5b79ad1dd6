"""A server of a folder, killed while it makes, copies or deletes a study: the study is whole or absent afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from tests.server.test_folder import Folder, picture

NUMBER = 30


def started(path: Path) -> tuple[subprocess.Popen[str], httpx.Client]:
    command = [sys.executable, "-u", "-m", "ordinate", "serve", str(path), "--port", "0", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    link = ""
    while not link:
        line = process.stdout.readline()
        assert line, "the server ended before it printed its link"
        link = "".join(re.findall(r"http://\S+", line))
    base, _, token = link.partition("/enter/")
    return process, httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def request(client: httpx.Client, path: str, body: object) -> None:
    with suppress(httpx.TransportError):
        client.post(f"/api/v1/server{path}", json=body)


FEW = [("make", 0.8), ("duplicate", 0.2), ("delete", 0.8)]
CASES = [(what, share) for what in ("make", "duplicate", "delete") for share in (0.2, 0.5, 0.8, 0.95)]


@pytest.mark.parametrize(
    ("what", "share"),
    [pytest.param(*case, marks=pytest.mark.slow if case in FEW else pytest.mark.load) for case in CASES],
)
def test_a_study_is_whole_or_absent_after_a_kill(tmp_path, what, share):
    """`share`: of the time that it takes undisturbed, after which the server is killed."""
    path = tmp_path / "studies"
    process, client = started(path)
    try:

        def dropped() -> str:
            draft = str(client.post("/api/v1/server/drafts", json={}).json()["draft"])
            for k in range(NUMBER):
                address = f"/api/v1/server/drafts/{draft}/files?name={k}.png"
                headers = {"Content-Type": "application/octet-stream"}
                assert client.put(address, content=picture(k), headers=headers).status_code == 201
            return draft

        steps = {
            "make": lambda name: (f"/drafts/{dropped()}/study", {"name": name}),
            "duplicate": lambda name: ("/studies/first/duplicate", {"name": name}),
            "delete": lambda name: (f"/studies/{name}/delete", {"name": name}),
        }
        request(client, *steps["make"]("first"))
        if what == "delete":
            for name in ("trial", "second"):
                request(client, *steps["duplicate"](name))
        prepared = steps[what]("trial")
        began = time.monotonic()
        request(client, *prepared)
        took = time.monotonic() - began
        thread = threading.Thread(target=request, args=(client, *steps[what]("second")))
        thread.start()
        time.sleep(share * took)
        os.kill(process.pid, signal.SIGKILL)
        thread.join()
    finally:
        process.kill()
        process.wait()
        client.close()
        assert process.stdout is not None
        process.stdout.close()
    after = Folder(path)
    try:
        there = after.studies()
        assert set(there) >= {"first"}
        assert set(there) <= {"first", "second", "trial"}
        for name in there:
            assert len(after.study(name).items) == NUMBER
            shown = [after.client.get(f"/media/{name}/{row}/image") for row in range(NUMBER)]
            assert sorted(one.content for one in shown) == sorted(picture(k) for k in range(NUMBER))
        assert {one.name for one in path.iterdir() if not one.name.startswith(".")} == set(there)
    finally:
        after.close()
