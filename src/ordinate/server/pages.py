"""Pages and files for the browser: the way in by a link, the judging page, the owner's page, media of items."""

from __future__ import annotations

import hashlib
import re
import secrets
from pathlib import Path
from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse
from starlette.staticfiles import NotModifiedResponse

from ordinate.errors import InvalidInput, NameTaken
from ordinate.server import media, versions
from ordinate.server.authentication import (
    Authenticator,
    TheAuthenticator,
    cookie_name,
    require_owner,
    require_viewer,
)
from ordinate.server.bodies import read_body
from ordinate.server.headers import ITEM_PAGE, MEDIA
from ordinate.server.item_pages import disarmed
from ordinate.server.limits import Limits
from ordinate.server.markdown import rendered
from ordinate.server.owner_api import show_link
from ordinate.server.problems import Problem
from ordinate.server.rendering import error_page, page
from ordinate.server.served_study import ServedStudy, is_valid
from ordinate.server.signing import SESSION_SECONDS
from ordinate.study.rules import Link

router = APIRouter(include_in_schema=False)
BROWSER = "ordinate-browser"
"""The cookie that tells one browser from another, so that it can come back under a name that it gave."""
BROWSER_SECONDS = 400 * 24 * 3600
FORM = ("application/x-www-form-urlencoded",)
SMALL = 1024 * 1024
"""Files up to this size are read at once to be sent."""
MEDIA_HEADERS = {"Content-Security-Policy": MEDIA, "Cache-Control": "private, max-age=3600"}


@router.get("/join/{study}/{signed}", name="join")
def join(request: Request, authenticator: TheAuthenticator, study: str, signed: str) -> Response:
    """The page that a link leads to: it says what the link is for, and asks for a name unless the link has one."""
    try:
        served, link = authenticator.open_link(request, study, signed)
    except Problem as problem:
        return refused(request, problem)
    name = link.annotator or _session_name(request, authenticator, served) or ""
    response = _join_page(request, served, link, name)
    # Before a name is given: where the response to that is lost, the same browser gives it again.
    set_cookie(request, response, BROWSER, _browser(request), BROWSER_SECONDS)
    return response


@router.post("/join/{study}/{signed}")
async def begin_session(request: Request, authenticator: TheAuthenticator, study: str, signed: str) -> Response:
    """Whoever comes by a shared link and gives a name gets a personal link, so that nobody else has that name."""
    limits: Limits = request.app.state.limits
    browser = _browser(request)
    given = ""
    try:
        served, link = await run_in_threadpool(authenticator.open_link, request, study, signed)
        form = parse_qs((await read_body(request, FORM, limits.body, limits.body_seconds)).decode("utf-8", "replace"))
        given = form.get("name", [""])[0]
        annotator = link.annotator
        if annotator is None and link.role == "owner":
            annotator = await run_in_threadpool(_owner_name, served, given)
        elif annotator is None and link.role == "annotator":
            link = await served.write(authenticator.claim_name, request, served, link, given, browser)
            annotator = link.annotator
    except InvalidInput as error:
        status = 409 if isinstance(error, NameTaken) else 422
        return await run_in_threadpool(_join_page, request, served, link, given, str(error), status)
    except Problem as problem:
        return refused(request, problem)
    root = request.scope.get("root_path", "")
    response = RedirectResponse(f"{root}/{'judge' if link.role == 'annotator' else 'owner'}/{study}", 303)
    session = authenticator.begin_session(request, served, link, annotator)
    set_cookie(request, response, cookie_name(served), session, SESSION_SECONDS)
    set_cookie(request, response, BROWSER, browser, BROWSER_SECONDS)
    return response


@router.get("/judge/{study}")
def judge(request: Request, authenticator: TheAuthenticator, study: str) -> Response:
    return _study_page(request, authenticator, study, "judge.html", owner=False)


@router.get("/owner/{study}")
def owner(request: Request, authenticator: TheAuthenticator, study: str) -> Response:
    return _study_page(request, authenticator, study, "owner.html", owner=True)


@router.get("/owner/{study}/sheet")
def sheet(request: Request, authenticator: TheAuthenticator, study: str) -> Response:
    """Links for annotators with their QR codes, to print and to hand out."""
    try:
        caller = authenticator.authenticate(request, study, as_owner=True)
        require_owner(caller)
    except Problem as problem:
        return refused(request, problem)
    served = caller.served
    links = [
        (link, show_link(request, authenticator, served, link).url)
        for link in served.study.links()
        if link.role == "annotator" and link.shared is None and is_valid(link)
    ]
    return page(request, "sheet.html", study=study, question_html=rendered(served.study.question), links=links)


@router.get("/media/{study}/{row}/{kind}")
async def item_media(request: Request, authenticator: TheAuthenticator, study: str, row: int, kind: str) -> Response:
    """A file of an item, for everybody with a link; of a picture that browsers do not show rightly, a version."""
    if kind == "html":
        return await run_in_threadpool(_html_page, request, authenticator, study, row)
    as_it_is, misshown = await run_in_threadpool(_find_media, request, authenticator, study, row, kind)
    version = None if misshown is None else await versions.made(misshown)
    return as_it_is if version is None else _sent(request, *version)


def _html_page(request: Request, authenticator: Authenticator, study: str, row: int) -> Response:
    """An HTML page that is an item. Its headers let no script run and nothing be loaded, also where somebody opens it
    outside its frame."""
    items = authenticator.authenticate(request, study).served.study.items
    found = items.content["html"][row] if "html" in items.content and 0 <= row < len(items) else None
    if found is None:
        raise Problem(404, "there is no such page")
    headers = {
        "Content-Security-Policy": ITEM_PAGE,
        "X-Frame-Options": "SAMEORIGIN",
        "X-DNS-Prefetch-Control": "off",
        "Referrer-Policy": "no-referrer",
    }
    return Response(disarmed(found), media_type="text/html; charset=utf-8", headers=headers)


def _find_media(
    request: Request, authenticator: Authenticator, study: str, row: int, kind: str
) -> tuple[Response, versions.Source | None]:
    """The file as it is, and what to convert where browsers do not show it rightly."""
    served = authenticator.authenticate(request, study).served
    items = served.study.items
    place = (
        items.content[kind][row] if kind in media.KINDS and kind in items.content and 0 <= row < len(items) else None
    )
    if place is not None and place.startswith("data:"):
        found = media.data_url(place)
        if found is not None:
            source = versions.Source(found[1])
            return _sent(request, *found), source if kind == "image" and versions.is_needed(source) else None
    elif place is not None and not media.is_elsewhere(place):
        path = media.inside(place, served.folders)
        if path is not None and path.is_file() and (type_ := media.media_type(media.read_head(path))):
            source = versions.Source.of_file(path)
            return _file(request, path, type_), source if kind == "image" and versions.is_needed(source) else None
    raise Problem(404, "there is no such picture, sound or video")


def _file(request: Request, path: Path, type_: str) -> Response:
    """The file at once where it is small: sent in pieces, as large files and parts of files are, it would take three
    threads in turn."""
    state = path.stat()
    in_pieces = FileResponse(path, media_type=type_, headers=MEDIA_HEADERS, stat_result=state)
    response = _unless_known(request, in_pieces)
    if response is not in_pieces or state.st_size > SMALL or "range" in request.headers:
        return response
    del in_pieces.headers["content-length"]  # it is that of what was read, should the file just change
    return Response(path.read_bytes(), headers=in_pieces.headers)


def _sent(request: Request, type_: str, data: bytes) -> Response:
    headers = {**MEDIA_HEADERS, "ETag": f'"{hashlib.sha256(data).hexdigest()[:32]}"'}
    return _unless_known(request, Response(data, media_type=type_, headers=headers))


def _study_page(request: Request, authenticator: Authenticator, study: str, template: str, *, owner: bool) -> Response:
    try:
        caller = authenticator.authenticate(request, study, as_owner=owner)
        if owner:
            require_viewer(caller)
        elif caller.link.role == "viewer":
            raise Problem(403, "with this link you see results; ask the owner of the study for one to judge with")
    except Problem as problem:
        return refused(request, problem)
    question, rules = caller.served.study.question, caller.served.study.rules
    return page(
        request,
        template,
        study=study,
        role=caller.link.role,
        name=caller.annotator or "",
        question=question,
        question_html=rendered(question),
        guidelines_html=rendered(rules.guidelines or ""),
        closing_html=rendered(rules.closing or ""),
        first_question=caller.served.study.settings.question,
        theme=rules.theme,
        strengths=rules.strengths,
        server_owner=request.app.state.workspace is not None and authenticator.is_server_owner(request),
        appearance={"brightness": rules.brightness, "contrast": rules.contrast, "invert": rules.invert},
        csrf=authenticator.signer.form_token(caller.session or ""),
    )


def _join_page(
    request: Request, served: ServedStudy, link: Link, name: str, notice: str | None = None, status: int = 200
) -> Response:
    """`notice`: why the name that was given cannot be taken."""
    response = page(
        request,
        "join.html",
        study=served.name,
        question_html=rendered(served.study.question),
        guidelines_html=rendered(served.study.rules.guidelines or "") if link.role == "annotator" else "",
        role=link.role,
        name=name,
        named=link.annotator is not None or link.role == "viewer",
        notice=notice,
    )
    response.status_code = status
    return response


def _browser(request: Request) -> str:
    """What the browser is known by; new for one that is not known yet."""
    known = request.cookies.get(BROWSER, "")
    return known if re.fullmatch(r"[\w-]{22}", known, re.ASCII) else secrets.token_urlsafe(16)


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=request.scope.get("root_path", "") or "/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def refused(request: Request, problem: Problem) -> Response:
    return error_page(request, problem.status, problem.detail, problem.headers)


def _unless_known(request: Request, response: Response) -> Response:
    """304 where the browser has this very content already."""
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return NotModifiedResponse(response.headers) if response.headers["etag"] in known else response


def _session_name(request: Request, authenticator: Authenticator, served: ServedStudy) -> str | None:
    try:
        return authenticator.identify(request, served).annotator
    except Problem:
        return None


def _owner_name(served: ServedStudy, given: str) -> str:
    """Under which name an owner judges. Raises NameTaken, InvalidInput."""
    name = served.study.name_of(given)
    if name is None:
        raise InvalidInput("give a name")
    if served.study.has_link(name) or served.study.is_claimed(name):
        raise NameTaken(f"the annotator {name!r} has a link of their own; choose another name")
    if served.study.is_model(name):
        raise NameTaken(f"{name!r} is the name of a model; choose another name")
    return name
