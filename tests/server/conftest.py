"""A server in this process over real studies in files, and browsers and programs that talk to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from ordinate.data.items import Items
from ordinate.data.recipe import Recipe
from ordinate.server.app import create_app
from ordinate.server.authentication import Authenticator
from ordinate.server.limits import Limits
from ordinate.server.served_study import ServedStudy
from ordinate.study.rules import Role
from ordinate.study.study import Study

SECRET = "a secret of these tests"
IDS = [f"item {row:02}" for row in range(12)]


class Site:
    """A running server over one study named "essays"."""

    def __init__(self, app: FastAPI, client: TestClient, cookies: dict[str, str]) -> None:
        """`cookies`: by what the browsers of people are known again, by the name of the person."""
        self.app, self.client, self._cookies = app, client, cookies

    @property
    def authenticator(self) -> Authenticator:
        authenticator: Authenticator = self.app.state.authenticator
        return authenticator

    @property
    def served(self) -> ServedStudy:
        return self.authenticator.find_study("essays")

    @property
    def study(self) -> Study:
        return self.served.study

    def token(self, role: Role = "annotator", annotator: str | None = None, **options: Any) -> str:
        link = self.study.make_link(role, annotator, **options)
        return self.authenticator.signer.link(self.study.token, link.id)

    def program(self, role: Role = "annotator", annotator: str | None = None) -> Program:
        return Program(self.client, {"Authorization": f"Bearer {self.token(role, annotator)}"})

    def browser(self, name: str = "Ann", role: Role = "annotator", token: str | None = None) -> Program:
        """Somebody who came by a link; whoever has a name has the same browser each time, and shares it with nobody."""
        visitor = TestClient(self.app, raise_server_exceptions=False)
        visitor.cookies.set("ordinate-browser", self._cookies.get(name, ""), domain="testserver.local")
        visitor.portal = self.client.portal  # one event loop for everybody, as in a real server
        page = visitor.post(f"/join/essays/{token or self.token(role)}", data={"name": name})
        assert page.status_code == 200, page.text
        self._cookies[name] = visitor.cookies["ordinate-browser"]
        (csrf,) = re.findall('data-csrf="([^"]+)"', page.text)
        return Program(visitor, {"X-CSRF-Token": csrf})


class Program:
    """Calls to the API of the study, with what lets them in."""

    def __init__(self, client: TestClient, headers: dict[str, str]) -> None:
        self.client, self.headers = client, headers

    def get(self, path: str, **options: Any) -> Any:
        return self.client.get(f"/api/v1/studies/essays{path}", headers=self.headers, **options)

    def post(self, path: str, json: Any = None, headers: dict[str, str] | None = None) -> Any:
        return self.client.post(
            f"/api/v1/studies/essays{path}",
            json={} if json is None else json,
            headers={**self.headers, **(headers or {})},
        )

    def patch(self, path: str, json: Any) -> Any:
        return self.client.patch(f"/api/v1/studies/essays{path}", json=json, headers=self.headers)

    def ask(self, count: int = 1, **options: Any) -> list[dict[str, Any]]:
        response = self.post("/queries", {"count": count, **options})
        assert response.status_code == 200, response.text
        queries: list[dict[str, Any]] = response.json()["queries"]
        return queries

    def tell(self, query: dict[str, Any], answer: str = "left", key: str | None = None, **options: Any) -> Any:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.post("/answers", {"query": query["id"], "answer": answer, "count": 0, **options}, headers)


Build = Callable[..., Site]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Start a server over a new study of these items."""
    running: list[TestClient] = []
    browsers: dict[str, str] = {}

    def start(
        items: Items | None = None,
        *,
        question: str = "Which is better?",
        recipe: Recipe | None = None,
        app: Any = (),
        limits: Any = (),
        folder: Path = tmp_path,
        **rules: Any,
    ) -> Site:
        path = folder / "essays.db"
        # However slow the machine is, nobody gets a random pair.
        patient = Limits(**{"pair_seconds": 60.0, **dict(limits)})
        options = {"executor": lambda: ThreadPoolExecutor(1), "limits": patient, **dict(app)}
        if not path.exists():
            features = np.random.default_rng(0).normal(size=(12, 3))
            given = items or Items(IDS, features, content={"text": [f"The text of {name}" for name in IDS]})
            Study.create(given, question=question, recipe=recipe, storage=f"sqlite:///{path}").close()
        made = create_app([path], SECRET, **options)
        client = TestClient(made, raise_server_exceptions=False)
        client.__enter__()
        running.append(client)
        site = Site(made, client, browsers)
        if rules:
            site.study.set_rules(**rules)
        return site

    yield start
    for client in running:
        client.__exit__(None, None, None)


@pytest.fixture
def site(build: Build) -> Site:
    return build()
