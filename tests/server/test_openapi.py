"""Requests made from the OpenAPI document, right and wrong ones: none is a failure of the server, and each answer is as
the document says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ordinate.data.items import Items
from ordinate.server.app import create_app
from ordinate.server.helper import HelperProcess
from ordinate.server.limits import Limits
from ordinate.server.signing import LinkSigner
from ordinate.study.study import Study

pytestmark = pytest.mark.xdist_group("openapi")  # one document, which takes seconds to read, for all
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SECRET = "a secret of these tests"
DOCUMENT = create_app([], SECRET, executor=HelperProcess).openapi()
OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    """The document of a server that is running, whose study has a few answers."""
    path = tmp_path_factory.mktemp("served") / "essays.db"
    items = Items(["a", "b", "c", "d"], content={"text": ["A", "B", "C", "D"]})
    with Study.create(items, storage=f"sqlite:///{path}") as study:
        owner, shared = study.make_link("owner"), study.make_link("annotator")
        study.tell(study.ask().id, "left")
        signer = LinkSigner(SECRET)
        tokens = [signer.link(study.token, link.id) for link in (owner, shared)]
    app = create_app([path], SECRET, executor=lambda: ThreadPoolExecutor(1), limits=Limits(requests_per_second=1e6))
    # A stream of events has no end: its first event will do.
    config = schemathesis.Config.from_dict({"max-stream-events": 1})
    loaded = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, config=config)
    # Each call starts and ends the application; the studies stay open until the last.
    registry = app.state.authenticator.registry
    close, registry.close = registry.close, lambda: None
    yield loaded, tokens, study.token
    close()


@pytest.mark.parametrize(
    "examples", [5, pytest.param(15, marks=pytest.mark.slow), pytest.param(400, marks=pytest.mark.load)]
)
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS])
def test_the_server_answers_as_its_document_says(schema, path, method, examples):
    loaded, tokens, prefix = schema
    operation = loaded[path][method]
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.one_of(*modes), st.sampled_from([tokens[0]] * 6 + [tokens[1], "nonsense"]), st.integers(0, 9))
    def check(case: Any, token: str, chance: int) -> None:
        # Mostly the study and the query that are there: nothing that was made up would get past the authenticator.
        if chance and "study" in (case.path_parameters or {}):
            case.path_parameters["study"] = "essays"
        if chance > 3 and isinstance(case.body, dict) and "query" in case.body:
            case.body["query"] = f"{prefix}-{chance}"
        case.headers["Authorization"] = f"Bearer {token}"
        response = case.call()
        case.validate_response(response, checks=CHECKS)

    check()
