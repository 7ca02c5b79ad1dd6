"""Who is asking: a session's cookie from a page, or a link as a bearer token from a program. Owners and annotators."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import Depends, Path, Request
from fastapi.security import HTTPBearer

from ordinate.errors import InvalidInput
from ordinate.server.headers import SAFE
from ordinate.server.keys import Keys, Session
from ordinate.server.problems import Problem
from ordinate.server.rates import Rate
from ordinate.server.registry import ServedStudy, StudyRegistry
from ordinate.storage import now
from ordinate.study.rules import Link

CSRF_HEADER = "X-CSRF-Token"
StudyName = Annotated[str, Path(alias="study", max_length=100)]


class Caller(NamedTuple):
    """`annotator` is the name a session or a link has; `session` the cookie's value, None for a program."""

    served: ServedStudy
    link: Link
    annotator: str | None
    session: str | None

    @property
    def is_owner(self) -> bool:
        return self.link.role == "owner"

    def name(self, given: str | None) -> str | None:
        """Whose questions these are: the session's or the link's own; with a shared link's token, who is named."""
        if self.session is None and self.link.annotator is None:
            if not self.is_owner:
                require_free_name(self.served, given)
            return given or None
        if given not in (None, "", self.annotator):
            raise Problem(403, f"this link is that of {self.annotator!r}; it cannot speak for {given!r}")
        return self.annotator


class Authenticator:
    """Lets callers in: the secret's keys, the studies, and how often one may knock."""

    def __init__(self, keys: Keys, registry: StudyRegistry, *, per_second: float = 30.0, burst: float = 120.0) -> None:
        self.keys, self.registry = keys, registry
        self._callers = Rate(per_second, burst)
        # A program may speak for many annotators.
        self._programs = Rate(10 * per_second, 10 * burst)
        self._strangers = Rate(2.0, 60.0)

    def served(self, name: str) -> ServedStudy:
        served = self.registry.get(name)
        if served is None:
            raise Problem(404, f"no study {name!r} is served here")
        return served

    def link(self, served: ServedStudy, token: str | None, name: str | None) -> Link:
        """A link that still counts. Raises a problem 401."""
        if token != served.study.token or name is None:
            raise Problem(401, "this link is of another study")
        try:
            link = served.study.link(name)
        except InvalidInput:
            raise Problem(401, "this link is not known to the study") from None
        if link.revoked:
            raise Problem(401, "this link was revoked; ask the owner of the study for a new one")
        if link.expires_at is not None and link.expires_at <= now():
            raise Problem(401, "this link has expired; ask the owner of the study for a new one")
        return link

    def signed_link(self, served: ServedStudy, signed: str) -> Link:
        found = self.keys.read_link(signed)
        if found is None:
            raise Problem(401, "this is no link that this server made")
        return self.link(served, *found)

    def enter(self, request: Request, served: ServedStudy) -> Caller:
        """The caller of a request. Raises problems 401, 403, 429."""
        try:
            caller = self.caller(request, served)
        except Problem:
            self.knock(request)
            raise
        self._spend(caller)
        return caller

    def callers(self, request: Request) -> list[tuple[ServedStudy, Caller]]:
        """Every study that the request's link or cookies open. Raises a problem 401 where there is none."""
        found: list[tuple[ServedStudy, Caller]] = []
        refusal: Problem | None = None
        for served in self.registry:
            try:
                found.append((served, self.caller(request, served)))
            except Problem as problem:
                refusal = problem
        if not found:
            self.knock(request)
            raise refusal or Problem(401, "no study is served here")
        self._spend(found[0][1])
        return found

    def _spend(self, caller: Caller) -> None:
        rate = self._programs if caller.session is None else self._callers
        rate.spend((caller.served.name, caller.link.id, caller.annotator))

    def knock(self, request: Request) -> None:
        """Count somebody who has shown no valid link, or who begins a session."""
        self._strangers.spend(request.client.host if request.client else "")

    def caller(self, request: Request, served: ServedStudy) -> Caller:
        """The caller of a request, not counted. Raises problems 401, 403."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            link = self.signed_link(served, token.strip())
            return Caller(served, link, link.annotator, None)
        cookie = request.cookies.get(cookie_name(served))
        session = None if cookie is None else self.keys.read_session(cookie)
        if cookie is None or session is None:
            raise Problem(401, "open the link that you were given first", {"WWW-Authenticate": "Bearer"})
        link = self.link(served, session.study, session.link)
        if request.method not in SAFE and not self.keys.is_form_token(cookie, request.headers.get(CSRF_HEADER, "")):
            raise Problem(403, f"the header {CSRF_HEADER} is missing or of another session; reload the page")
        return Caller(served, link, session.annotator, cookie)

    def new_session(self, served: ServedStudy, link: Link, annotator: str | None) -> str:
        return self.keys.session(Session(served.study.token, link.id, annotator))


def cookie_name(served: ServedStudy) -> str:
    return f"ordinate-{served.study.token}"


def require_owner(caller: Caller) -> None:
    if not caller.is_owner:
        raise Problem(403, "only the owner of the study may do this")


def require_free_name(served: ServedStudy, name: str | None) -> None:
    """Raise a problem 409 where this name has a link of its own, so that no shared one speaks for it."""
    if name and any(link.annotator == name for link in served.study.links()):
        raise Problem(409, f"{name} has a link of their own; choose another name")


def _authenticator(request: Request) -> Authenticator:
    authenticator: Authenticator = request.app.state.authenticator
    return authenticator


def _anybody(
    request: Request,
    name: StudyName,
    _token: Annotated[object, Depends(HTTPBearer(auto_error=False, description="The signed part of a link."))],
) -> Caller:
    authenticator = _authenticator(request)
    return authenticator.enter(request, authenticator.served(name))


def _owner(caller: Annotated[Caller, Depends(_anybody)]) -> Caller:
    require_owner(caller)
    return caller


TheAuthenticator = Annotated[Authenticator, Depends(_authenticator)]
Anybody = Annotated[Caller, Depends(_anybody)]
Owner = Annotated[Caller, Depends(_owner)]
