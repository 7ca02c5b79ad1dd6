"""Pages and files for the browser: the way in by a link, the judging page, the owner's page, media of items."""

from __future__ import annotations

import hashlib
from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse
from starlette.staticfiles import NotModifiedResponse

from ordinate.data.cells import plain_text
from ordinate.server import media
from ordinate.server.authentication import (
    Authenticator,
    TheAuthenticator,
    cookie_name,
    require_free_name,
    require_owner,
)
from ordinate.server.bodies import read_body
from ordinate.server.headers import MEDIA
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem
from ordinate.server.question import rendered
from ordinate.server.registry import ServedStudy
from ordinate.server.rendering import error_page, page
from ordinate.server.signing import SESSION_SECONDS

router = APIRouter(include_in_schema=False)
LONGEST_NAME = 80
FORM = ("application/x-www-form-urlencoded",)


@router.get("/join/{study}/{signed}", name="join")
def join(request: Request, authenticator: TheAuthenticator, study: str, signed: str) -> Response:
    """The page that a link leads to: it says what the link is for, and asks for a name unless the link has one."""
    try:
        served, link = authenticator.open_link(request, study, signed)
    except Problem as problem:
        return _refused(request, problem)
    known = _session_name(request, authenticator, served)
    context = {"study": study, "question_html": rendered(served.study.settings.question), "role": link.role}
    return page(request, "join.html", name=link.annotator or known or "", named=link.annotator is not None, **context)


@router.post("/join/{study}/{signed}")
async def begin_session(request: Request, authenticator: TheAuthenticator, study: str, signed: str) -> Response:
    limits: Limits = request.app.state.limits
    try:
        served, link = await run_in_threadpool(authenticator.open_link, request, study, signed)
        form = parse_qs((await read_body(request, FORM, limits.body, limits.body_seconds)).decode("utf-8", "replace"))
        annotator = link.annotator or _name(form.get("name", [""])[0])
        if link.annotator is None:
            await run_in_threadpool(require_free_name, served, annotator)
    except Problem as problem:
        return _refused(request, problem)
    root = request.scope.get("root_path", "")
    response = RedirectResponse(f"{root}/{'owner' if link.role == 'owner' else 'judge'}/{study}", 303)
    response.set_cookie(
        cookie_name(served),
        authenticator.new_session(served, link, annotator),
        max_age=SESSION_SECONDS,
        path=root or "/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


@router.get("/judge/{study}")
def judge(request: Request, authenticator: TheAuthenticator, study: str) -> Response:
    return _study_page(request, authenticator, study, "judge.html", owner=False)


@router.get("/owner/{study}")
def owner(request: Request, authenticator: TheAuthenticator, study: str) -> Response:
    return _study_page(request, authenticator, study, "owner.html", owner=True)


@router.get("/media/{study}/{row}/{kind}")
def item_media(request: Request, authenticator: TheAuthenticator, study: str, row: int, kind: str) -> Response:
    """A file of an item, for everybody with a link."""
    served = authenticator.authenticate(request, study).served
    items = served.study.items
    place = (
        items.content[kind][row] if kind in media.KINDS and kind in items.content and 0 <= row < len(items) else None
    )
    headers = {"Content-Security-Policy": MEDIA, "Cache-Control": "private, max-age=3600"}
    if place is not None and place.startswith("data:"):
        found = media.data_url(place)
        if found is not None:
            tag = hashlib.sha256(found[1]).hexdigest()[:32]
            headers["ETag"] = f'"{tag}"'
            return _unless_known(request, Response(found[1], media_type=found[0], headers=headers))
    elif place is not None and not media.is_elsewhere(place):
        path = media.inside(place, served.folders)
        if path is not None and path.is_file() and (type_ := media.media_type(media.read_head(path))):
            stat = path.stat()
            file = FileResponse(
                path, media_type=type_, headers=headers, content_disposition_type="inline", stat_result=stat
            )
            return _unless_known(request, file)
    raise Problem(404, "there is no such picture, sound or video")


@router.get("/")
def start(request: Request) -> Response:
    return _refused(request, Problem(404, "open the link that you were given"))


def _study_page(request: Request, authenticator: Authenticator, study: str, template: str, *, owner: bool) -> Response:
    try:
        caller = authenticator.authenticate(request, study)
        if owner:
            require_owner(caller)
    except Problem as problem:
        return _refused(request, problem)
    settings = caller.served.study.settings
    return page(
        request,
        template,
        study=study,
        role=caller.link.role,
        name=caller.annotator or "",
        question=settings.question,
        question_html=rendered(settings.question),
        theme=caller.served.study.rules.theme,
        csrf=authenticator.signer.form_token(caller.session or ""),
    )


def _refused(request: Request, problem: Problem) -> Response:
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


def _name(given: str) -> str:
    try:
        name = plain_text(" ".join(given.split()), "the name")
    except ValueError as error:
        raise Problem(422, str(error)) from None
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise Problem(422, f"give a name of 1 to {LONGEST_NAME} characters")
    return name
