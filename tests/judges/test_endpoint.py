"""Requests over real sockets: what is repeated, what is given up, and how long that takes."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from tests.judges.conftest import Answer, Model, completion

from ordinate.errors import InvalidInput, JudgeFailed
from ordinate.judges.endpoint import Endpoint, Reply, RequestRefused, checked_url

ASKED = [{"role": "user", "content": "A or B?"}]


def send(model: Model, **options: Any) -> Reply:
    settings = {"timeout": 5.0, "patience": 5.0, "pause": 0.01, "rng": np.random.default_rng(0), **options}

    async def once() -> Reply:
        async with Endpoint(model.url, "m", **settings) as endpoint:
            return await endpoint.send(ASKED)

    return asyncio.run(once())


def test_a_request_holds_the_model_the_messages_the_parameters_and_the_key(model):
    model.next = [completion("[[A]]", 12)]
    assert send(model, parameters={"temperature": 0}, key="sk-1") == Reply("[[A]]", 12)
    (sent,) = model.sent
    assert (sent.path, sent.headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-1")
    assert sent.body == {"model": "m", "messages": ASKED, "temperature": 0}


def test_without_a_key_none_is_sent(model):
    model.next = [completion("[[A]]")]
    send(model)
    assert "authorization" not in model.sent[0].headers


BUSY = [
    Answer(429, b'{"error": {"message": "slow down"}}'),
    Answer(500),
    Answer(503, b"<html>down</html>"),
    Answer(408),
    Answer(200, b"no JSON"),
    Answer(200, b"[" * 100_000),
    Answer(200, b'{"choices": []}'),
    Answer(200, b'{"choices": [{"message": {"content": 7}}]}'),
    completion("[[A]]")._replace(cut=True),
]


@pytest.mark.parametrize("busy", BUSY, ids=lambda one: f"{one.status} {one.body[:12]!r}")
def test_what_may_pass_is_repeated(model, busy):
    model.next = [busy, busy, completion("[[B]]")]
    assert send(model).text == "[[B]]"
    assert len(model.sent) == 3


def test_no_reply_in_time_is_repeated_and_a_reply_that_trickles_is_none(model):
    model.next = [
        completion("[[A]]")._replace(delay=10.0),
        completion("[[A]]")._replace(drip=0.05),
        completion("[[B]]"),
    ]
    began = time.monotonic()
    assert send(model, timeout=0.3).text == "[[B]]"
    assert time.monotonic() - began < 3.0


@pytest.mark.parametrize("named", ["1", "date"])
def test_retry_after_is_waited_for(model, named):
    wait = named if named == "1" else format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    model.next = [Answer(429, headers=(("Retry-After", wait),)), completion("[[A]]")]
    began = time.monotonic()
    send(model)
    assert time.monotonic() - began > 0.9


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        (Answer(500, b'{"error": {"message": "out of memory"}}'), "status 500 (out of memory)"),
        (Answer(200, b"hello"), "no chat completion: 'hello'"),
        (Answer(429, headers=(("Retry-After", "3600"),)), "status 429; it was tried once"),
    ],
)
def test_patience_has_an_end(model, failing, said):
    model.answer = lambda _: failing
    began = time.monotonic()
    with pytest.raises(JudgeFailed) as raised:
        send(model, patience=0.3)
    assert said in str(raised.value)
    assert time.monotonic() - began < 3.0


def test_an_endpoint_that_is_not_there_is_named(model):
    with pytest.raises(JudgeFailed, match=r"http://127.0.0.1:1/v1/chat/completions cannot be reached.*tried"):
        send(Model("http://127.0.0.1:1/v1"), patience=0.1)


@pytest.mark.parametrize("status", [401, 403, 404, 302])
def test_what_another_try_would_not_change_fails_at_once_and_never_shows_the_key(model, status):
    said = json.dumps({"error": {"message": "Incorrect API key provided: sk-secret"}}).encode()
    model.answer = lambda _: Answer(status, said, headers=(("Location", "http://127.0.0.1:1/"),))
    with pytest.raises(JudgeFailed) as raised:
        send(model, key="sk-secret")
    assert f"status {status} (Incorrect API key provided: ...)" in str(raised.value)
    assert "sk-secret" not in str(raised.value) + repr(Endpoint(model.url, "m", key="sk-secret"))
    assert len(model.sent) == 1


def test_a_key_that_is_repeated_escaped_is_not_shown_either(model):
    key = 'sk-"/secret'
    for said in (b'no key sk-\\"/secret', b"no key sk-%22%2Fsecret"):
        model.answer = lambda _, said=said: Answer(401, said)
        with pytest.raises(JudgeFailed, match=r"\(no key \.\.\.\)"):
            send(model, key=key)


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-secr\u00e9t", ""])
def test_what_cannot_be_a_key_is_refused_before_anything_is_sent(key):
    with pytest.raises(InvalidInput, match="outside ASCII") as raised:
        Endpoint("http://localhost/v1", "m", key=key)
    assert "secr" not in str(raised.value)


def test_a_request_that_cannot_be_made_is_not_repeated_and_shows_no_header(model):
    async def once() -> None:
        async with Endpoint(model.url, "m", patience=30.0, key="sk-secret") as endpoint:
            endpoint._http.headers["Authorization"] = "Bearer sk-secret\n"
            await endpoint.send(ASKED)

    began = time.monotonic()
    with pytest.raises(JudgeFailed, match="check the key") as raised:
        asyncio.run(once())
    assert "secret" not in str(raised.value)
    assert time.monotonic() - began < 3.0


@pytest.mark.parametrize("when", ["Fri, 31 Dec 99999 23:59:59 GMT", "Fri, 31 Dec 1 23:59:59 +2359", "soon", ""])
def test_a_retry_after_that_is_no_time_is_none(model, when):
    model.next = [Answer(503, headers=(("Retry-After", when),)), completion("[[A]]")]
    assert send(model).text == "[[A]]"


def test_absurd_numbers_of_tokens_are_none(model):
    model.next = [completion("[[A]]", 10**30), completion("[[A]]", -1), completion("[[A]]", 10**6)]
    assert [send(model).tokens for _ in range(3)] == [None, None, 10**6]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_is_refused_says_why(model, status):
    model.next = [Answer(status, b'{"error": "too long"}')]
    with pytest.raises(RequestRefused, match="too long"):
        send(model)


def test_a_response_without_end_is_given_up(model):
    model.next = [Answer(200, b" " * (5 << 20))]
    with pytest.raises(JudgeFailed, match="more than 4 MiB"):
        send(model)


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (completion(None, message={"refusal": "I cannot"}), Reply(None, 100)),
        (completion("", finish_reason="content_filter"), Reply(None, 100)),
        (completion("[[A", finish_reason="length"), Reply("[[A", 100, False)),
        (completion(None, message={"reasoning_content": "Hm"}, finish_reason="length"), Reply("", 100, False)),
        (completion(None, message={"reasoning_content": "Hm"}), Reply("", 100)),
        (completion([{"type": "text", "text": "[[A]]"}], None), Reply("[[A]]", None)),  # type: ignore[arg-type]
    ],
)
def test_refusals_cut_replies_and_parts_are_told_apart(model, answer, reply):
    model.next = [answer]
    assert send(model) == reply


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "https://user:key@host/v1", "https://host/v1?key=x", "http://[::1"]
)
def test_addresses_that_are_none_or_hold_a_key_are_refused(url):
    with pytest.raises(InvalidInput, match="endpoint") as raised:
        checked_url(url)
    assert "key@" not in str(raised.value)


def test_an_address_may_be_whole():
    assert checked_url("http://h/v1/") == checked_url("http://h/v1/chat/completions") == "http://h/v1/chat/completions"
