"""A chat endpoint with OpenAI's protocol: messages go out, a reply and what it cost come back.

What may pass is repeated: no connection, no reply in time, status 408, 429 and 5xx, and what is no chat completion. The
pauses double, with some randomness so that many callers do not come back at once; Retry-After is waited for.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlsplit

import httpx
import numpy as np

from ordinate.errors import InvalidInput, JudgeFailed

_PATH = "/chat/completions"
_LARGEST = 4 << 20
"""Bytes of a response; a longer one is not a reply to a question of two items."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_MOST_TOKENS = 10**9
"""An endpoint that says more for one reply does not know."""
_QUOTED = 300
"""Characters of an endpoint's message that an error shows."""
_FOR_THIS_PAIR = (400, 413, 422)
"""The endpoint understood the request and does not want it: too long, or content that it filters."""


class RequestRefused(Exception):
    """The endpoint does not take this request; another pair may do."""


class Reply(NamedTuple):
    """text    what the model wrote; None: it refused
    tokens  of the request and the reply together; None: the endpoint does not say
    whole   False: the reply was cut off at a limit of tokens
    """

    text: str | None
    tokens: int | None
    whole: bool = True


@dataclass
class Endpoint:
    """url         as https://HOST/v1, with or without /chat/completions
    parameters  what else each request holds, such as {"temperature": 0}
    key         is sent as a bearer token, and shown nowhere; None: none is sent
    timeout     seconds until a response must have come whole
    patience    seconds for which a request is repeated
    pause       seconds before a request is repeated for the first time
    key_variable  the environment variable that the key is from, for messages
    """

    url: str
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    patience: float = 300.0
    pause: float = _FIRST_PAUSE
    key_variable: str = "OPENAI_API_KEY"
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def __post_init__(self) -> None:
        self.url = checked_url(self.url)
        self.key = None if self.key is None else checked_key(self.key)
        self._http = httpx.AsyncClient(timeout=self.timeout, headers=self.headers(self.key), limits=httpx.Limits())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    @staticmethod
    def headers(key: str | None) -> dict[str, str]:
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def body(self, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What is sent, as JSON."""
        return {"model": self.model, "messages": list(messages), **self.parameters}

    async def send(self, messages: Sequence[Mapping[str, Any]]) -> Reply:
        """The reply. Raises RequestRefused for these messages; JudgeFailed where no request gets a reply."""
        until, pause, tries = time.monotonic() + self.patience, self.pause, 0
        while True:
            tries += 1
            wait = pause * float(self.rng.uniform(0.5, 1.0))
            try:
                async with asyncio.timeout(self.timeout):
                    status, headers, raw = await self._post(self.body(messages))
                if status < 300 and (reply := _reply(raw)) is not None:
                    return reply
                problem = self._described(status, raw)
                if status >= 300 and status not in (408, 429) and status < 500:
                    self._give_up(status, problem)
                wait = max(wait, _asked_to_wait(headers.get("Retry-After", "")))
            except TimeoutError:
                problem = f"gave no whole reply within {self.timeout:g} seconds"
            except httpx.InvalidURL as error:
                raise InvalidInput(f"the endpoint {self.url!r} is no address: {error}") from error
            except httpx.LocalProtocolError:
                # Its message quotes the header, which holds the key.
                raise JudgeFailed(f"no request can be made for the endpoint {self.url}; check the key") from None
            except httpx.HTTPError as error:
                problem = f"cannot be reached: {self._clean(str(error)) or type(error).__name__}"
            if time.monotonic() + wait > until:
                times = "once" if tries == 1 else f"{tries} times"
                raise JudgeFailed(f"the endpoint {self.url} {problem}; it was tried {times}")
            await asyncio.sleep(wait)
            pause = min(2.0 * pause, _LONGEST_PAUSE)

    async def _post(self, body: Mapping[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        raw = bytearray()
        async with self._http.stream("POST", self.url, json=body) as response:
            async for part in response.aiter_bytes():
                raw += part
                if len(raw) > _LARGEST:
                    raise JudgeFailed(f"the endpoint {self.url} sends more than {_LARGEST >> 20} MiB for one pair")
        return response.status_code, response.headers, bytes(raw)

    def _give_up(self, status: int, problem: str) -> None:
        """Raise what another try would not change."""
        if status in _FOR_THIS_PAIR:
            raise RequestRefused(problem)
        advice = {
            401: f"set the environment variable {self.key_variable} to a valid key",
            403: "the key may not use this model",
            404: "check the address and the name of the model",
        }.get(status, "check the address")
        raise JudgeFailed(f"the endpoint {self.url} {problem}; {advice}")

    def _described(self, status: int, raw: bytes) -> str:
        message = self._clean(" ".join(_message(raw).split()))[:_QUOTED]
        if status < 300:
            return f"sent what is no chat completion: {message!r}"
        return f"answers with status {status}" + (f" ({message})" if message else "")

    def _clean(self, message: str) -> str:
        """Without the key, which some endpoints repeat, as it is or escaped."""
        if self.key:
            for form in (self.key, json.dumps(self.key)[1:-1], quote(self.key, safe="")):
                message = message.replace(form, "...")
        return message


def checked_url(url: str) -> str:
    """The address that requests go to. Raises InvalidInput."""
    try:
        parts = urlsplit(url)
        host, with_password = parts.hostname, parts.username is not None or parts.password is not None
        _ = parts.port
    except ValueError as error:
        raise InvalidInput(f"the endpoint is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidInput(f"an endpoint is an address such as http://localhost:8000/v1, not {url!r}")
    if with_password or parts.query or parts.fragment:
        raise InvalidInput(
            "an endpoint has no name, password, question mark or # in its address; a key comes from the environment"
        )
    plain = url.rstrip("/")
    return plain if plain.endswith(_PATH) else plain + _PATH


def checked_key(given: str) -> str:
    """The key without spaces and ends of lines around it. Raises InvalidInput, which does not show it."""
    key = given.strip()
    if not re.fullmatch("[!-~]+", key):
        raise InvalidInput(
            "the key is empty, or holds a space, a control character or a letter outside ASCII, which no key does; set "
            "the environment variable again"
        )
    return key


def is_unprotected(url: str) -> bool:
    """Whether what goes there could be read on the way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


def _reply(raw: bytes) -> Reply | None:
    """None: it is no chat completion."""
    given = _json(raw)
    try:
        choice = given["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (AttributeError, IndexError, KeyError, TypeError):
        return None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    usage = given.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    tokens = total if isinstance(total, int) and not isinstance(total, bool) and 0 <= total <= _MOST_TOKENS else None
    reason = choice.get("finish_reason")
    if refusal or reason == "content_filter":
        return Reply(None, tokens)
    if content is None and "content" in message:  # all that was paid for was thought
        return Reply("", tokens, reason != "length")
    return Reply(content, tokens, reason != "length") if isinstance(content, str) else None


def _message(raw: bytes) -> str:
    """What an endpoint says of an error."""
    given = _json(raw)
    error = given.get("error", given) if isinstance(given, dict) else None
    found = error.get("message") if isinstance(error, dict) else error
    return found if isinstance(found, str) else raw.decode("utf-8", "replace")


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _asked_to_wait(given: str) -> float:
    """Seconds of a Retry-After, which is a number or a date."""
    if given.strip().isdecimal():
        return float(given)
    try:
        when = parsedate_to_datetime(given)
        return max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, OverflowError):
        return 0.0
