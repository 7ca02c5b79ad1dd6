"""`ordinate link`: a link that works where the last one was lost."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from ordinate.cli.serve import secret_for
from ordinate.server.app import create_app


def opened(study, link):
    """What the API says to whoever has this link."""
    found = re.search(r"/join/([^/]+)/(\S+)$", link)
    assert found is not None
    name, token = found.groups()
    # No process of its own chooses pairs: nobody asks for one.
    app = create_app([study], secret_for(None, "localhost", study.parent), executor=lambda: ThreadPoolExecutor(1))
    with TestClient(app) as client:
        return client.get(f"/api/v1/studies/{name}", headers={"Authorization": f"Bearer {token}"}).json()


@pytest.mark.parametrize(
    ("options", "role", "name"),
    [([], "owner", None), (["--shared"], "annotator", None), (["--annotator", "Anna Ö"], "annotator", "Anna Ö")],
)
def test_a_link_opens_the_study(run, study, options, role, name):
    result = run("link", "study.db", *options, "--url", "https://example.org/judging/")
    assert result.code == 0
    link = result.out.strip()
    assert ("for an owner: whoever has it can change the study" in result.err) == (role == "owner")
    assert link.startswith("https://example.org/judging/join/study/")
    status = opened(study, link)
    assert (status["role"], status["your"]["name"]) == (role, name)


def test_each_call_makes_another_link(run, study):
    links = [run("link", "study.db", "--json").json["url"] for _ in range(2)]
    assert links[0] != links[1]


@pytest.mark.parametrize(
    "line", [["missing.db"], ["study.db", "--shared", "--annotator", "Ann"], ["study.db", "--url", "example.org"]]
)
def test_what_cannot_be_is_refused(run, study, line):
    result = run("link", *line)
    assert result.code == 2
    assert "Traceback" not in result.err
