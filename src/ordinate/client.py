"""The API of a server, from Python: `Client(link)` asks and tells as Study does, over HTTP.

    >>> client = Client("http://127.0.0.1:8000/join/essays/WyJh...")       # doctest: +SKIP
    >>> query = client.ask("Ann")                                          # doctest: +SKIP
    >>> client.tell(query.id, "left", "Ann")                               # doctest: +SKIP

The link is the one that `ordinate serve` printed; its signed part is the token. An answer carries a key, so sending it
again after a broken connection adds nothing.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import httpx

from ordinate import errors
from ordinate.data.comparisons import Answer, Comparison, Query

ATTEMPTS = 6
"""How often a request is sent while the server cannot be reached or is too busy."""
PAUSE = 0.5
_PAGE = 1000
_KINDS = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}


class OrderedItem(NamedTuple):
    id: str
    rank: int
    score: float
    standard_error: float
    group: str | None = None


class Client:
    """A study on a server, for whom the link is.

    Errors are those of the package: AlreadyAnswered, PoolExhausted, UnknownQuery, InvalidInput; StorageFailed where the
    server cannot be reached.
    """

    def __init__(self, link: str, *, timeout: float = 60.0, transport: httpx.BaseTransport | None = None) -> None:
        found = re.fullmatch(r"(https?://.+)/join/([^/?#]+)/([^/?#]+)/?", link.strip())
        if found is None:
            raise errors.InvalidInput("a server is named by a link such as http://127.0.0.1:8000/join/study/TOKEN")
        base, self.study, token = found.groups()
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout, transport=transport)

    def status(self, annotator: str | None = None) -> dict[str, Any]:
        """Where the study stands; see docs/server.md."""
        headers = {} if annotator is None else {"X-Annotator": annotator}
        return self._send("GET", "", headers=headers)

    def ask(self, annotator: str | None = None, count: int = 1) -> list[Query]:
        """The annotator's open queries, topped up to `count`. Raises PoolExhausted, BudgetSpent, StudyPaused."""
        return [as_query(one) for one in self.ask_shown(annotator, count)]

    def ask_shown(self, annotator: str | None = None, count: int = 1) -> list[dict[str, Any]]:
        """`ask` as the server sends it, with what there is to show of each item."""
        given = self._send("POST", "/queries", json={"count": count, "annotator": annotator})
        queries: list[dict[str, Any]] = given["queries"]
        if not queries:
            if given["paused"]:
                raise errors.StudyPaused("the owner has paused this study")
            if given["finished"] == "exhausted":
                raise errors.PoolExhausted("no pair is left to ask")
            raise errors.BudgetSpent("all answers that were asked for are given", given["finished"] == "total-budget")
        return queries

    def tell(self, query: str, answer: Answer, annotator: str | None = None, *, reason: str | None = None) -> int:
        """Answer a query; returns how many answers the annotator has given. On the server's disk on return."""
        body = {"query": query, "answer": answer, "annotator": annotator, "reason": reason, "count": 0}
        told = self._send("POST", "/answers", json=body, headers={"Idempotency-Key": uuid.uuid4().hex})
        return int(told["your_answers"])

    def undo(self, annotator: str | None = None) -> Query:
        """Take the annotator's newest answer back; its query is open again."""
        return as_query(self._send("POST", "/undo", once=True, json={"annotator": annotator})["query"])

    def ordering(self) -> list[OrderedItem]:
        """The ordering so far, highest first; with an owner's link."""
        return [
            OrderedItem(row["item"]["id"], row["rank"], row["score"], row["standard_error"], row["group"])
            for row in self._rows("ordering")
        ]

    def comparisons(self) -> list[Comparison]:
        """The comparisons that count; with an owner's link."""
        return [
            Comparison(row["left"], row["right"], row["winner"], row["annotator"]) for row in self._rows("comparisons")
        ]

    def add_items(self, items: list[dict[str, Any]]) -> int:
        """Add items, each with an id and perhaps features, group, text, image, audio, video, link; returns how many
        there are then. With an owner's link."""
        return int(self._send("POST", "/items", once=True, json={"items": items})["items"])

    def set_rules(self, **changes: Any) -> dict[str, Any]:
        """Change rules, for instance `set_rules(paused=True)`; returns all of them. With an owner's link."""
        return self._send("PATCH", "/rules", json=changes)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _rows(self, what: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = "0"
        while cursor is not None:
            page = self._send("GET", f"/{what}", params={"limit": _PAGE, "cursor": cursor})
            yield from page[what]
            cursor = page["next_cursor"]

    def _send(self, method: str, path: str, *, once: bool = False, **request: Any) -> dict[str, Any]:
        """The content of the answer; `once`: what may have arrived is not sent again."""
        address = f"/api/v1/studies/{self.study}{path}"
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            try:
                response = self._http.request(method, address, **request)
            except httpx.TransportError as error:
                if last or (once and not isinstance(error, httpx.ConnectError)):
                    raise errors.StorageFailed(f"{self._http.base_url} cannot be reached: {error}") from error
                time.sleep(PAUSE * 2**attempt)
                continue
            if response.status_code in (429, 503) and not last:
                wait = response.headers.get("Retry-After", "")
                time.sleep(float(wait) if wait.isdecimal() else PAUSE * 2**attempt)
                continue
            return _content(response)
        raise AssertionError("the last attempt returns or raises")


def _content(response: httpx.Response) -> dict[str, Any]:
    try:
        content: dict[str, Any] = response.json()
    except ValueError:
        raise errors.StorageFailed(f"{response.url} gave no JSON, but status {response.status_code}") from None
    if response.is_success:
        return content
    detail, kind = str(content.get("detail")), str(content.get("type")).removeprefix("urn:ordinate:")
    if kind == "BudgetSpent":
        raise errors.BudgetSpent(detail, total=False)
    found = _KINDS.get(kind, errors.StorageFailed if response.status_code >= 500 else errors.InvalidInput)
    raise found(detail)


def as_query(given: dict[str, Any]) -> Query:
    """A query as a server sends it."""
    return Query(given["id"], given["left"]["id"], given["right"]["id"], given["annotator"])
