"""What whoever runs a server sees: readiness, metrics, and logs without contents, names or tokens."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ordinate.server.operating import BUCKETS, JsonLines, Requests

HERE = ("127.0.0.1", 50_000)


def samples(text: str) -> dict[str, float]:
    """Prometheus' text format, read by its rules; raises where a line breaks them."""
    found: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            match = re.fullmatch(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\} ([0-9.e+-]+)', line)
            assert match is not None, line
            assert re.sub("_(bucket|sum|count)$", "", match[1]) in kinds or match[1] in kinds
            assert line.rpartition(" ")[0] not in found
            found[line.rpartition(" ")[0]] = float(match[3])
    return found


@pytest.fixture
def metrics(build: Any) -> Any:
    """A site, and how to read its metrics."""
    site = build(app={"metrics": ["127.0.0.0/8"]})
    reader = TestClient(site.app, client=HERE)
    return site, lambda: samples(reader.get("/metrics").text)


def test_only_the_named_addresses_read_the_metrics(build: Any) -> None:
    site = build(app={"metrics": ["10.0.0.0/8", "127.0.0.1"]})
    for address, status in (("127.0.0.1", 200), ("10.2.3.4", 200), ("127.0.0.2", 404), ("testclient", 404)):
        assert TestClient(site.app, client=(address, 1)).get("/metrics").status_code == status


def test_by_default_nobody_does(site: Any) -> None:
    assert TestClient(site.app, client=HERE).get("/metrics").status_code == 404


def test_they_count_answers_pairs_requests_and_refusals(metrics: Any) -> None:
    site, read = metrics
    ann = site.program()
    queries = ann.ask(2, annotator="Ann")
    assert ann.tell(queries[0], annotator="Ann").status_code == 200
    assert ann.tell(queries[0], annotator="Ann").status_code == 409
    assert site.client.get("/api/v1/studies/essays").status_code == 401
    found = read()
    assert found['ordinate_study_answers{study="essays"}'] == 1
    assert found['ordinate_study_open_pairs{study="essays"}'] == 1
    assert found['ordinate_study_items{study="essays"}'] == 12
    assert found['ordinate_study_ready{study="essays"}'] == 1
    assert found['ordinate_helper_restarts_total{study="essays"}'] == 0
    answers = "/api/v1/studies/{study}/answers"
    for status, number in ((200, 1), (409, 1)):
        assert found[f'ordinate_requests_total{{method="POST",route="{answers}",status="{status}"}}'] == number
    assert found['ordinate_requests_total{method="GET",route="/api/v1/studies/{study}",status="401"}'] == 1
    assert found[f'ordinate_request_seconds_count{{route="{answers}"}}'] == 2
    assert found[f'ordinate_request_seconds_bucket{{route="{answers}",le="+Inf"}}'] == 2


def test_answers_that_are_left_out_are_not_counted(metrics: Any) -> None:
    site, read = metrics
    ann = site.program(annotator="Ann")
    ann.tell(ann.ask()[0])
    site.study.exclude_annotator("Ann")
    assert read()['ordinate_study_answers{study="essays"}'] == 0


def test_a_histogram_has_each_duration_in_all_buckets_above_it() -> None:
    requests = Requests()
    for seconds in (0.005, 0.0051, 3.0, 99.0):
        requests.note("GET", '/a"b\\', 200, seconds)
    found = samples("\n".join(requests.lines()))
    label = r'route="/a\"b\\"'
    buckets = [found[f'ordinate_request_seconds_bucket{{{label},le="{bound}"}}'] for bound in (*BUCKETS, "+Inf")]
    assert buckets == [1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4]
    assert found[f"ordinate_request_seconds_sum{{{label}}}"] == pytest.approx(102.0101)


def test_a_server_is_ready_while_its_studies_can_be_used(site: Any) -> None:
    assert site.client.get("/readyz").json() == {"status": "ok"}
    path: Path = site.served.path
    path.rename(path.with_suffix(".moved"))
    refused = site.client.get("/readyz")
    assert (refused.status_code, refused.json()["studies"]) == (503, 1)
    assert int(refused.headers["Retry-After"]) > 0
    assert site.client.get("/healthz").status_code == 200
    path.with_suffix(".moved").rename(path)
    assert site.client.get("/readyz").status_code == 200


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What the server logs as JSON."""
    kept: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kept.append(self.format(record))

    handler = Keep()
    handler.setFormatter(JsonLines())
    loggers = [logging.getLogger(name) for name in ("ordinate.server", "ordinate.requests")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    yield kept
    for logger in loggers:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def test_a_log_line_names_the_request_and_nothing_of_what_is_in_it(site: Any, lines: list[str]) -> None:
    ann, token = site.browser("Ann the annotator"), site.token()
    (query,) = ann.ask(1)
    told = ann.tell(query, reason="a private reason")
    assert told.status_code == 200
    site.client.get(f"/join/essays/{token}")
    site.client.get("/nowhere/Ann")
    found = [json.loads(line) for line in lines]
    (answer,) = [one for one in found if one.get("route") == "/api/v1/studies/{study}/answers"]
    assert (answer["study"], answer["status"], answer["method"]) == ("essays", 200, "POST")
    assert answer["request"] == told.headers["X-Request-Id"]
    assert answer["milliseconds"] > 0
    written = "\n".join(lines)
    for secret in ("Ann", token, "private", query["left"]["id"], str(query["left"]["text"]), query["id"]):
        assert secret not in written


def test_a_failure_has_the_id_of_its_request(site: Any, lines: list[str]) -> None:
    path: Path = site.served.path
    ann = site.program()
    path.rename(path.with_suffix(".moved"))
    refused = ann.post("/queries", {"annotator": "Ann"})
    assert refused.status_code == 503
    path.with_suffix(".moved").rename(path)
    failures = [one for one in map(json.loads, lines) if "cannot be used" in one["message"]]
    assert [one["request"] for one in failures] == [refused.headers["X-Request-Id"]]
