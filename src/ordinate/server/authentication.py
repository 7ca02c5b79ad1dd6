"""Who is asking: a session's cookie from a page, or a link as a bearer token from a program. Owners and annotators."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

from fastapi import Depends, Path, Request
from fastapi.security import HTTPBearer

from ordinate.errors import InvalidInput
from ordinate.server.headers import SAFE
from ordinate.server.limits import Limits
from ordinate.server.problems import OTHER_SESSION, Problem, TryLater
from ordinate.server.proxy_users import user_of
from ordinate.server.rates import RateLimit, Turns
from ordinate.server.registry import StudyRegistry
from ordinate.server.served_study import ServedStudy, has_expired, is_valid
from ordinate.server.signing import LinkSigner, Session
from ordinate.study.rules import Link, Role

CSRF_HEADER = "X-CSRF-Token"
SERVER_COOKIE = "ordinate-server"
SERVER_LINK = Link("server", "owner", None, None, "", False)
"""What the owner of a server has instead of a link of each study."""
OWNERS_FIRST: tuple[Role | None, ...] = ("owner", "viewer", "annotator", None)
JUDGES_FIRST: tuple[Role | None, ...] = ("annotator", "owner", "viewer", None)
"""The order of roles where one browser has several; None: a link that the study does not know."""
StudyName = Annotated[str, Path(alias="study", max_length=100)]


class Caller(NamedTuple):
    """`annotator` is the name of the session or the link; `session` is the cookie's value, None for a program.

    is_models  whether the name of the session is that of a model by now
    """

    served: ServedStudy
    link: Link
    annotator: str | None
    session: str | None
    is_models: bool = False

    @property
    def came_by(self) -> str:
        """The id of the link that was handed out."""
        return self.link.shared or self.link.id

    @property
    def is_owner(self) -> bool:
        return self.link.role == "owner"

    @property
    def views(self) -> bool:
        """Whether the results may be seen."""
        return self.link.role in ("owner", "viewer")

    @property
    def speaks_for_others(self) -> bool:
        """Whether the caller may answer everybody's queries, and for models: an owner's program."""
        return self.is_owner and self.session is None

    @property
    def acts_as(self) -> str | None:
        """The name under which the log notes what an owner does; None: the link does not say."""
        return self.annotator or ("owner" if self.owns_server else None)

    @property
    def owns_server(self) -> bool:
        return self.link is SERVER_LINK

    @property
    def has_name(self) -> bool:
        """Whether the session or the link has a name; else the study is asked whom a name stands for."""
        return self.session is not None or self.link.annotator is not None

    def name(self, given: str | None) -> str | None:
        """Whose questions these are: the name of the session or the link; a program with a shared link gives one, and a
        program of any owner that of a model.

        With a session it waits for nobody who uses the study, so that it may be called between requests.
        """
        if not self.has_name or (self.session is None and self._is_model(given)):
            name = self.served.study.name_of(given)
            if not self.is_owner:
                require_free_name(self.served, name)
        elif given not in (None, "", self.annotator):
            raise Problem(
                403,
                f"this link is that of {self.annotator!r} and cannot ask or answer for {given!r}; use a link for "
                f"annotators, or make one for {given!r}",
            )
        else:
            name = self.annotator
        if self.is_models or (self.session is None and not self.is_owner and self.served.study.is_model(name)):
            raise Problem(409, f"{name} is the name of a model; choose another name")
        self.served.presence.note(name)
        return name

    def _is_model(self, given: str | None) -> bool:
        """Whether the caller is an owner who lets this model judge."""
        study = self.served.study
        return self.is_owner and given is not None and study.is_model(study.name_of(given))


class Signed(NamedTuple):
    """What the signature of a request says, before the study's log is asked whether the link is still valid.

    link       the id of the link
    annotator  the name of the session
    session    the value of the cookie, or what stands for it where a proxy says who it is; None for a program
    of_server  whether it is the owner of the server, whose link is in no log
    """

    link: str
    annotator: str | None
    session: str | None
    of_server: bool = False


class Authenticator:
    """Says who sends a request, and counts requests.

    Only requests without a valid link count against an address, so that many people may share one. Signed ones are
    counted before the study is looked at, so that a refusal waits for nobody who uses the study.
    """

    def __init__(self, signer: LinkSigner, registry: StudyRegistry, limits: Limits, clock: Callable[[], float]) -> None:
        self.signer, self.registry = signer, registry
        a_second, failures = limits.requests_per_second, limits.failures_per_second
        self._callers = RateLimit(a_second, 4 * a_second, clock)
        # A program may speak for many annotators.
        self._programs = RateLimit(10 * a_second, 40 * a_second, clock)
        self._caller_turns, self._program_turns = Turns(limits.at_once), Turns(10 * limits.at_once)
        self._failures = RateLimit(failures, 30 * failures, clock)

    def authenticate(self, request: Request, study: str, *, as_owner: bool = False) -> Caller:
        """The caller of a request for this study, counted; `as_owner`: whoever owns the server comes as its owner.

        Raises problems 401, 403, 404, 429.
        """
        with self._counting_failures(request):
            served = self.find_study(study)
            signed = self._read_signed(request, served, as_owner)
        self._count_request(served, signed[0])
        with self._counting_failures(request):
            return self._caller(served, signed)

    def authenticate_everywhere(self, request: Request) -> list[Caller]:
        """The caller in every study that the request's link or cookies open; none for the owner of a server without
        studies. Raises problems 401, 429."""
        signatures: list[tuple[ServedStudy, list[Signed]]] = []
        found: list[Caller] = []
        refusal = Problem(401, "no study is served here")
        for served in self.registry:
            try:
                signatures.append((served, self._read_signed(request, served, as_owner=True)))
            except Problem as problem:
                refusal = problem
        if signatures:
            served, signed = signatures[0]
            self._count_request(served, signed[0])
        for served, signed in signatures:
            try:
                found.append(self._caller(served, signed))
            except Problem as problem:
                refusal = problem
        if not found and self.is_server_owner(request):
            self.authenticate_server_owner(request)
        elif not found:
            with self._counting_failures(request):
                raise refusal
        return found

    def authenticate_server_owner(self, request: Request) -> None:
        """Count a request of the owner of the server. Raises problems 401, 403, 429."""
        with self._counting_failures(request):
            if not self.is_server_owner(request):
                refusal = "open the link that `ordinate serve FOLDER` printed first"
                raise Problem(401, refusal, {"WWW-Authenticate": "Bearer"})
        cookie, token = request.cookies.get(SERVER_COOKIE, ""), request.headers.get(CSRF_HEADER, "")
        if request.method not in SAFE and _bearer(request) is None and not self.signer.is_form_token(cookie, token):
            raise _no_form_token(token)
        self._programs.count(SERVER_COOKIE)

    def is_server_owner(self, request: Request) -> bool:
        token = _bearer(request)
        if token is not None:
            return self.signer.is_server_link(token)
        return self.signer.is_server_session(request.cookies.get(SERVER_COOKIE, ""))

    def open_server_link(self, request: Request, signed: str) -> None:
        """Raises problems 401, 429."""
        with self._counting_failures(request):
            if not self.signer.is_server_link(signed):
                raise Problem(401, "this server did not make this link")

    def turn(self, caller: Caller | None) -> asyncio.Semaphore:
        """Held while a request of this caller is answered; None: the owner of the server."""
        if caller is None:
            return self._program_turns.of(SERVER_COOKIE)
        turns = self._program_turns if caller.session is None else self._caller_turns
        return turns.of((caller.served.name, caller.link.id, caller.annotator))

    def open_link(self, request: Request, study: str, signed: str) -> tuple[ServedStudy, Link]:
        """The study and the link of an address that somebody opens in a browser. Raises problems 401, 404, 429."""
        with self._counting_failures(request):
            served = self.find_study(study)
            return served, self._valid_link(served, self._read_link(served, signed))

    def identify(self, request: Request, served: ServedStudy, *, as_owner: bool = False) -> Caller:
        """The caller of a request, not counted. Raises problems 401, 403."""
        return self._caller(served, self._read_signed(request, served, as_owner))

    def find_study(self, name: str) -> ServedStudy:
        """Raises TryLater, and a problem 404."""
        served = self.registry.get(name)
        if served is None and self.registry.is_out_of_order(name):
            raise TryLater(f"the study {name!r} cannot be opened at the moment; the server's log says why")
        if served is None:
            raise Problem(404, f"no study {name!r} is served here")
        return served

    def address(self, start: str, served: ServedStudy, link: Link) -> str:
        """The address to hand out; it opens the study to whoever has it."""
        return f"{start}/join/{served.name}/{self.signer.link(served.study.token, link.id)}"

    def claim_name(self, request: Request, served: ServedStudy, link: Link, given: str, browser: str) -> Link:
        """The personal link of the browser that came by a shared link and gave a name.

        Raises NameTaken, InvalidInput and problems 401, 429.
        """
        token = served.study.token
        # A name is an entry in the log.
        self._programs.count((served.name, link.id, "names"))

        def link_for(name: str, shared: str) -> str:
            return self.signer.claim(browser, token, name, shared)

        # Sessions of older versions have the name without a link of its own.
        session = self.signer.read_session(request.cookies.get(cookie_name(served), ""))
        came_before = session is not None and (session.study, session.link) == (token, link.id)
        earlier = session.annotator if session is not None and came_before else None
        claimed = served.study.claim_name(given, link_for, link.id, earlier)
        return self._valid_link(served, claimed.id)

    def begin_session(self, request: Request, served: ServedStudy, link: Link, annotator: str | None) -> str:
        """The cookie of a session; the one that the browser has, where it opens the same link again."""
        session = Session(served.study.token, link.id, annotator)
        return self.signer.renewed_session(request.cookies.get(cookie_name(served), ""), session)

    def _read_signed(self, request: Request, served: ServedStudy, as_owner: bool = False) -> list[Signed]:
        """The first whose link is valid counts. Raises problems 401 and 403 where the request has no signature of this
        server for this study.

        A browser may have a session of this study and one of the server's owner, and a proxy may name its user. The
        page that sends the request knows the token of one of them; else `as_owner` says which one comes first.
        """
        token = _bearer(request)
        if token is not None:
            if self.signer.is_server_link(token):
                return [Signed(SERVER_LINK.id, None, None, of_server=True)]
            return [Signed(self._read_link(served, token), None, None)]
        found = self._sessions(request, served, as_owner)
        form_token = request.headers.get(CSRF_HEADER, "")
        own = [signed for signed in found if self.signer.is_form_token(signed.session or "", form_token)]
        # A page whose session is gone is told so even where it only looks: it would show what is somebody else's.
        if not own and (form_token or request.method not in SAFE):
            raise _no_form_token(form_token)
        return own or found

    def _sessions(self, request: Request, served: ServedStudy, as_owner: bool) -> list[Signed]:
        """That of the study, that of the server's owner, and that of whom a proxy names. Raises a problem 401 without
        any.

        Whom a proxy names is nobody else, although another person may have left a session in this browser. Owners come
        first on pages of owners, those who judge on others.
        """
        found: list[Signed] = []
        cookie, of_server = request.cookies.get(cookie_name(served)), request.cookies.get(SERVER_COOKIE)
        session = None if cookie is None else self.signer.read_session(cookie)
        user = user_of(request.scope)
        link = None if user is None else _valid_link_of(served, user)
        is_theirs = session is not None and (link is None or session.annotator in (None, user))
        if session is not None and is_theirs and session.study == served.study.token:
            found.append(Signed(session.link, session.annotator, cookie))
        if link is not None:
            found.append(Signed(link.id, user, f"proxy {user}"))
        if of_server is not None and self.signer.is_server_session(of_server):
            signed = Signed(SERVER_LINK.id, user or "owner", of_server, of_server=True)
            found.insert(0 if as_owner else len(found), signed)
        if link is not None:
            rank = OWNERS_FIRST if as_owner else JUDGES_FIRST
            found.sort(key=lambda signed: rank.index(_role(served, signed)))
        if session is not None and not found:
            _require_study(served, session.study)
        if not found:
            raise Problem(401, "open the link that you were given first", {"WWW-Authenticate": "Bearer"})
        return found

    def _read_link(self, served: ServedStudy, signed: str) -> str:
        """The id of the link that was signed. Raises a problem 401."""
        found = self.signer.read_link(signed)
        if found is None:
            raise Problem(401, "this server did not make this link")
        study, link = found
        _require_study(served, study)
        return link

    def _caller(self, served: ServedStudy, signatures: list[Signed]) -> Caller:
        """Of the first whose link is still valid. Raises a problem 401, that of the first, where none is."""
        refusals: list[Problem] = []
        for signed in signatures:
            try:
                return self._caller_of(served, signed)
            except Problem as problem:
                refusals.append(problem)
        raise refusals[0]

    def _caller_of(self, served: ServedStudy, signed: Signed) -> Caller:
        is_models = signed.session is not None and served.study.is_model(signed.annotator)
        if signed.of_server:
            return Caller(served, SERVER_LINK, signed.annotator, signed.session, is_models)
        link = self._valid_link(served, signed.link)
        if signed.session is None:
            return Caller(served, link, link.annotator, None)
        if link.role == "annotator" and link.annotator is None:
            _require_no_own_link(served, signed.annotator)
        return Caller(served, link, signed.annotator, signed.session, is_models)

    def _valid_link(self, served: ServedStudy, name: str) -> Link:
        with served.study.unchanged():
            try:
                link = served.study.link(name)
            except InvalidInput:
                raise Problem(401, "this link is not known to the study") from None
            for one in (link,) if link.shared is None else (link, served.study.link(link.shared)):
                if one.revoked:
                    raise Problem(401, "this link was revoked; ask the owner of the study for a new one")
                if has_expired(one):
                    raise Problem(401, "this link has expired; ask the owner of the study for a new one")
            if link.shared is not None:
                _require_no_own_link(served, link.annotator)
        return link

    def _count_request(self, served: ServedStudy, signed: Signed) -> None:
        rate = self._programs if signed.session is None else self._callers
        rate.count((served.name, signed.link, signed.annotator))

    @contextmanager
    def _counting_failures(self, request: Request) -> Iterator[None]:
        """Count a problem in the block against the address that the request came from."""
        try:
            yield
        except Problem:
            self._failures.count(request.client.host if request.client else "")
            raise


def _bearer(request: Request) -> str | None:
    """The link that a program sends along."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _no_form_token(given: str) -> Problem:
    if not given:
        return Problem(403, f"the header {CSRF_HEADER} is missing; a page of this server sends it")
    return Problem(
        403,
        "another link was opened in this browser since this page was loaded; load the page again",
        kind=OTHER_SESSION,
    )


def cookie_name(served: ServedStudy) -> str:
    return f"ordinate-{served.study.token}"


def _valid_link_of(served: ServedStudy, user: str) -> Link | None:
    """The newest link that an owner made for this person and that still holds: it gives its role.

    The one that is called "owner" is for whoever has it, although `ordinate serve` writes "owner" where a name goes.
    """
    own = (link for link in served.study.links_of(user) if link.id != "owner")
    return next((link for link in own if is_valid(link)), None)


def _role(served: ServedStudy, signed: Signed) -> Role | None:
    if signed.of_server:
        return SERVER_LINK.role
    try:
        return served.study.link(signed.link).role
    except InvalidInput:
        return None


def require_viewer(caller: Caller) -> None:
    if not caller.views:
        raise Problem(403, "only owners and viewers of the study may do this")


def require_owner(caller: Caller) -> None:
    if not caller.is_owner:
        raise Problem(403, "only the owner of the study may do this")


def require_free_name(served: ServedStudy, name: str | None) -> None:
    """Raise a problem 409 where this name has a link of its own, so that no program with a shared one speaks for it."""
    if served.study.has_link(name) or served.study.is_claimed(name):
        raise Problem(409, f"{name} has a link of their own; choose another name")


def _require_study(served: ServedStudy, token: str) -> None:
    if token != served.study.token:
        raise Problem(401, "this link is of another study")


def _require_no_own_link(served: ServedStudy, name: str | None) -> None:
    """Raise a problem 401 where an owner made a link to judge by for this name: whoever came by a shared link has it no
    longer."""
    if served.study.has_link(name, "annotator"):
        raise Problem(
            401, "there is a link for you alone now, so the shared one does not work under your name any more"
        )


async def _authenticator(request: Request) -> Authenticator:
    authenticator: Authenticator = request.app.state.authenticator
    return authenticator


async def _caller(
    request: Request,
    _name: StudyName,
    _token: Annotated[object, Depends(HTTPBearer(auto_error=False, description="The signed part of a link."))],
) -> Caller:
    """The caller that the route has authenticated already; see routes.py."""
    caller: Caller = request.state.caller
    return caller


async def _callers(request: Request) -> list[Caller]:
    callers: list[Caller] = request.state.callers
    return callers


TheAuthenticator = Annotated[Authenticator, Depends(_authenticator)]
TheCaller = Annotated[Caller, Depends(_caller)]
TheCallers = Annotated[list[Caller], Depends(_callers)]
