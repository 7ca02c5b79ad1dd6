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
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import quote

import httpx

from ordinate import errors
from ordinate.data.comparisons import Answer, Comparison, Query
from ordinate.study.machines import Orders

_LONGEST_PAUSE = 4.0
_STUDIES = "/api/v1/studies"
_PAGE = 1000
_PROXY_FAILED = (502, 504)
"""What a proxy says where its connection to the server broke, as while the server starts again."""
_KINDS = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}


class OrderedItem(NamedTuple):
    """A row of `Client.ordering`; the fields `rank_...` are those of `ordinate.data.ordering.RankIntervals`."""

    id: str
    rank: int
    score: float
    standard_error: float
    rank_low: int
    rank_high: int
    rank_best: float
    rank_tied_low: int
    rank_tied_high: int
    group: str | None = None
    grade: int | None = None
    grade_probability: float | None = None
    part: int | None = None
    membership: float | None = None


class Client:
    """A study on a server, for whom the link is. A server of a folder has a link for its owner, with `study` a name of
    a study there; without, the client only lists and creates studies.

    timeout   seconds that one request may take, and that `ask` waits for a pair
    patience  seconds for which a request is sent again while the server cannot be reached or is too busy
    pause     seconds before a request is sent again after a failure; doubled each time, up to four seconds

    Errors are those of the package: AlreadyAnswered, PoolExhausted, UnknownQuery, InvalidInput; StorageFailed where the
    server cannot be reached or has no pair in time.
    """

    def __init__(
        self,
        link: str,
        *,
        study: str | None = None,
        timeout: float = 60.0,
        patience: float = 15.0,
        pause: float = 0.5,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        found = re.fullmatch(r"(https?://.+)/(?:join/([^/?#]+)|enter)/([^/?#]+)/?", link.strip())
        if found is None:
            raise errors.InvalidInput("a server is named by a link such as http://127.0.0.1:8000/join/study/TOKEN")
        base, named, token = found.groups()
        if study is not None and named is not None and study != named:
            raise errors.InvalidInput(f"this link is of the study {named!r}, not of {study!r}")
        self.study = named or study or ""
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._timeout, self._patience, self._pause = timeout, patience, pause
        self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout, transport=transport)

    def status(self, annotator: str | None = None) -> dict[str, Any]:
        """Where the study stands; see docs/server.md."""
        headers = {} if annotator is None else {"X-Annotator": quote(annotator)}
        return self._send("GET", "", headers=headers)

    def ask(self, annotator: str | None = None, count: int = 1) -> list[Query]:
        """The annotator's open queries, topped up to `count`. Raises PoolExhausted, BudgetSpent, StudyPaused."""
        return [as_query(one) for one in self.ask_shown(annotator, count)]

    def ask_shown(self, annotator: str | None = None, count: int = 1) -> list[dict[str, Any]]:
        """`ask` as the server sends it, with what there is to show of each item."""
        until = time.monotonic() + self._timeout
        while True:
            given = self._send("POST", "/queries", json={"count": count, "annotator": annotator})
            queries: list[dict[str, Any]] = given["queries"]
            if queries:
                return queries
            if given.get("over"):
                raise errors.DeadlinePassed("the time for this study is over")
            if given["paused"]:
                raise errors.StudyPaused("the owner has paused this study")
            if given["finished"] == "exhausted":
                raise errors.PoolExhausted("no pair is left to ask")
            if given["finished"] is not None:
                total = given["finished"] == "total-budget"
                raise errors.BudgetSpent("all answers that were asked for are given", total)
            wait = given["retry_after"]
            if time.monotonic() + wait > until:
                raise errors.StorageFailed("the server has no pair to give at the moment; ask again later")
            time.sleep(wait)

    def tell(
        self,
        query: str,
        answer: Answer | str,
        annotator: str | None = None,
        *,
        reason: str | None = None,
        duration_ms: int | None = None,
        client: str | None = None,
        tokens: int | None = None,
    ) -> int:
        """Answer a query by a word, as `Study.tell`, or by the id of the item that won; returns how many answers the
        annotator has given. On the server's disk on return.

        tokens  what the replies of a model took
        """
        body = {"query": query, "answer": answer, "annotator": annotator, "reason": reason, "count": 0}
        body |= {"duration_ms": duration_ms, "client": client, "tokens": tokens}
        told = self._send("POST", "/answers", json=body, headers={"Idempotency-Key": uuid.uuid4().hex})
        return int(told["your_answers"])

    def undo(self, annotator: str | None = None) -> Query:
        """Take the annotator's newest answer back; its query is open again."""
        return as_query(self._send("POST", "/undo", once=True, json={"annotator": annotator})["query"])

    def ordering(self) -> list[OrderedItem]:
        """The ordering so far, highest first; with an owner's link."""
        return [
            OrderedItem(row["item"]["id"], **{name: row[name] for name in OrderedItem._fields[1:]})
            for row in self._rows("ordering")
        ]

    def selection(self) -> dict[str, Any] | None:
        """How many of the wanted items are expected to be found; None where the study is about the whole order. With an
        owner's link."""
        found: dict[str, Any] | None = self._send("GET", "/ordering", params={"limit": 1})["selection"]
        return found

    def forecast(self, target: float | None = None) -> dict[str, Any]:
        """How many more answers bring the expected error to the target, and how long these take, each with an interval
        of 80 %; without a target, to that of the rules. With an owner's link."""
        return self._send("GET", "/forecast", params={} if target is None else {"target": target})

    def check(self) -> dict[str, Any]:
        """Whether the order can be relied on: a sentence, the expected error unless it is withheld, and `checks`. With
        an owner's link."""
        return self._send("GET", "/check")

    def comparisons(self) -> list[Comparison]:
        """The comparisons that count; with an owner's link."""
        return [
            Comparison(row["left"], row["right"], row["winner"], row["annotator"]) for row in self._rows("comparisons")
        ]

    def items(self) -> list[dict[str, Any]]:
        """All items, as annotators see them; with an owner's link."""
        return list(self._rows("items"))

    def add_items(self, items: list[dict[str, Any]]) -> int:
        """Add items, each with an id and perhaps features, group, text, image, audio, video, link, html; returns how
        many there are then. With an owner's link."""
        return int(self._send("POST", "/items", once=True, json={"items": items})["items"])

    def rules(self) -> dict[str, Any]:
        """What annotators are asked for; see docs/server.md. With an owner's link."""
        return self._send("GET", "/rules")

    def set_rules(self, **changes: Any) -> dict[str, Any]:
        """Change rules, for instance `set_rules(paused=True)`; returns all of them. With an owner's link."""
        return self._send("PATCH", "/rules", json=changes)

    def links(self) -> list[dict[str, Any]]:
        """The links that owners made, oldest first; `url` is what to hand out, `names` how many names were given by it.
        With an owner's link."""
        links: list[dict[str, Any]] = self._send("GET", "/links")["links"]
        return links

    def names(self, link: str) -> list[dict[str, Any]]:
        """The links of those who gave their names by a shared link, named by its id, newest first; with an owner's
        link."""
        return list(self._rows(f"links/{quote(link, safe='')}/names", "names"))

    def make_link(
        self,
        role: Literal["owner", "viewer", "annotator"] = "annotator",
        annotator: str | None = None,
        expires_at: datetime | None = None,
    ) -> dict[str, Any]:
        """Make a link, perhaps for one annotator or until a time that has its zone; with an owner's link."""
        until = None if expires_at is None else expires_at.isoformat()
        body = {"role": role, "annotator": annotator, "expires_at": until}
        return self._send("POST", "/links", once=True, json=body)

    def revoke_link(self, id: str) -> dict[str, Any]:
        """Revoke a link; with an owner's link."""
        return self._send("POST", f"/links/{quote(id, safe='')}/revoke")

    def annotators(self) -> list[dict[str, Any]]:
        """Everybody who was asked or has answered; with an owner's link."""
        annotators: list[dict[str, Any]] = self._send("GET", "/annotators")["annotators"]
        return annotators

    def annotator_quality(self) -> dict[str, Any]:
        """What the answers say of each annotator: sharpness, agreement, side bias, whether they may be coin tosses; see
        docs/statistics.md. With an owner's link."""
        return self._send("GET", "/annotators/quality")

    def warnings(self) -> dict[str, Any]:
        """Items that annotators skipped because they did not load, and annotators with very fast answers; with an
        owner's link."""
        return self._send("GET", "/warnings")

    def make_links(self, annotators: Sequence[str], expires_at: datetime | None = None) -> list[dict[str, Any]]:
        """A link for each of these annotators, all or none; with an owner's link."""
        until = None if expires_at is None else expires_at.isoformat()
        body = {"annotators": list(annotators), "expires_at": until}
        links: list[dict[str, Any]] = self._send("POST", "/links/many", json=body)["links"]
        return links

    def answers(self, *, annotator: str | None = None, item: str | None = None) -> list[dict[str, Any]]:
        """Answers and skips that were not taken back, newest first, perhaps only of an annotator or with an item; with
        an owner's link."""
        wanted = {"annotator": annotator, "item": item}
        return list(self._rows("answers", **{name: value for name, value in wanted.items() if value is not None}))

    def discard(
        self, *, queries: Sequence[str] = (), annotator: str | None = None, since: datetime | None = None
    ) -> int:
        """Take answers back for good: those to some queries, or all of an annotator, perhaps from a time with its zone
        on; returns how many. With an owner's link."""
        from_ = None if since is None else since.isoformat()
        body = {"queries": list(queries), "annotator": annotator, "since": from_}
        return int(self._send("POST", "/answers/discard", once=True, json=body)["discarded"])

    def machines(self) -> list[dict[str, Any]]:
        """The models that answer, by what the log knows of each, with the tokens that they took; with an owner's
        link."""
        machines: list[dict[str, Any]] = self._send("GET", "/machines")["machines"]
        return machines

    def add_machine(
        self, annotator: str, model: str, prompt: str, orders: Orders = "one", parameters: str = "{}"
    ) -> str:
        """Say that a model answers under this name, as `Study.add_machine`; returns the name as it is stored. With an
        owner's link."""
        body = {"annotator": annotator, "model": model, "prompt": prompt, "orders": orders, "parameters": parameters}
        return str(self._send("POST", "/machines", json=body)["annotator"])

    def media(self, address: str) -> bytes:
        """A picture, sound or video of an item, by the address that came with it."""
        whole = self._http.base_url.join(address)
        if (whole.scheme, whole.netloc) != (self._http.base_url.scheme, self._http.base_url.netloc):
            raise errors.InvalidInput(f"{address} is not on this server")  # which alone is sent the token
        response = self._request("GET", str(whole))
        _require_success(response)
        return response.content

    def let_rest(self, annotator: str, resting: bool = True) -> None:
        """Give an annotator no pairs for now, or go on; with an owner's link."""
        self._send("POST", "/annotators/rest", json={"annotator": annotator, "resting": resting})

    def exclude(self, *, item: str | None = None, annotator: str | None = None) -> None:
        """Leave an item or an annotator out of everything; with an owner's link."""
        self._send("POST", "/exclusions", json={"item": item, "annotator": annotator, "excluded": True})

    def include(self, *, item: str | None = None, annotator: str | None = None) -> None:
        """Take an excluded item or annotator in again; with an owner's link."""
        self._send("POST", "/exclusions", json={"item": item, "annotator": annotator, "excluded": False})

    def export(self, what: Literal["ordering", "comparisons", "history"]) -> str:
        """The ordering, the comparisons that count, or every answer and skip, as CSV; with an owner's link."""
        response = self._request("GET", f"{self._study}/export/{what}.csv")
        _require_success(response)
        return response.text

    def studies(self) -> list[dict[str, Any]]:
        """The studies of the server that this link opens."""
        studies: list[dict[str, Any]] = _content(self._request("GET", _STUDIES))["studies"]
        return studies

    def create_study(
        self,
        name: str,
        items: list[dict[str, Any]],
        *,
        question: str = "Which ranks higher?",
        rules: dict[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Create a study beside this one; returns its name and its links. With an owner's link; for a server of a
        folder with that of its owner.

        rules    as for `set_rules`, for instance {"budget": 500, "target": 0.1}
        options  of `Study.create`: algorithm, seed, scaling, refit_every, candidates, coefficient_variance,
                 item_variance, likelihood, renew_covariance, random
        """
        body = {"name": name, "items": items, "question": question, "rules": rules, **options}
        return _content(self._request("POST", _STUDIES, once=True, json=body))

    def shown(self, query: str, annotator: str | None = None) -> str | None:
        """Say that a query is on the screen, which may prolong its lease; returns until when it is held."""
        expires_at: str | None = self._send("POST", "/shown", json={"query": query, "annotator": annotator})[
            "expires_at"
        ]
        return expires_at

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _rows(self, path: str, what: str | None = None, **wanted: str) -> Iterator[dict[str, Any]]:
        """All rows of a list that comes in pages; `what`: its name, if that is not the path."""
        cursor: str | None = "0"
        while cursor is not None:
            page = self._send("GET", f"/{path}", params={"limit": _PAGE, "cursor": cursor, **wanted})
            yield from page[what or path]
            cursor = page["next_cursor"]

    @property
    def _study(self) -> str:
        return f"{_STUDIES}/{self.study}"

    def _send(self, method: str, path: str, *, once: bool = False, **request: Any) -> dict[str, Any]:
        return _content(self._request(method, self._study + path, once=once, **request))

    def _request(self, method: str, address: str, *, once: bool = False, **request: Any) -> httpx.Response:
        """The response; `once`: a request that may have arrived is not sent again."""
        until, pause = time.monotonic() + self._patience, self._pause
        while True:
            wait = pause
            try:
                response = self._http.request(method, address, **request)
                named = response.headers.get("Retry-After", "")
                wait = float(named) if named.isdecimal() else pause
                if response.status_code in _PROXY_FAILED:
                    raise httpx.RemoteProtocolError(f"a proxy before it answers with status {response.status_code}")
                if response.status_code not in (429, 503) or time.monotonic() + wait > until:
                    return response
            except httpx.TransportError as error:
                arrived = once and not isinstance(error, httpx.ConnectError)
                if arrived or time.monotonic() + wait > until:
                    raise errors.StorageFailed(f"{self._http.base_url} cannot be reached: {error}") from error
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _content(response: httpx.Response) -> dict[str, Any]:
    _require_success(response)
    content: dict[str, Any] = _json(response)
    return content


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise errors.StorageFailed(f"{response.url} gave no JSON, but status {response.status_code}") from None


def _require_success(response: httpx.Response) -> None:
    """Raise the error that a response tells of."""
    if response.is_success:
        return
    content = _json(response)
    detail, kind = str(content.get("detail")), str(content.get("type")).removeprefix("urn:ordinate:")
    if kind == "BudgetSpent":
        raise errors.BudgetSpent(detail, total=False)
    found = _KINDS.get(kind, errors.StorageFailed if response.status_code >= 500 else errors.InvalidInput)
    raise found(detail)


def as_query(given: dict[str, Any]) -> Query:
    """A query as a server sends it."""
    return Query(given["id"], given["left"]["id"], given["right"]["id"], given["annotator"])
