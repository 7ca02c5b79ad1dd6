"""Pages and files for the browser: the way in by a link, the judging page, the owner's page, media of items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from fastapi.templating import Jinja2Templates

from ordinate import __version__
from ordinate.data.cells import plain_text
from ordinate.server import media
from ordinate.server.authentication import (
    Authenticator,
    TheAuthenticator,
    cookie_name,
    require_free_name,
    require_owner,
)
from ordinate.server.headers import MEDIA
from ordinate.server.keys import SESSION_SECONDS
from ordinate.server.problems import Problem
from ordinate.server.question import rendered
from ordinate.server.registry import ServedStudy
from ordinate.server.static import versioned

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(Path(__file__).parent / "templates")
templates.env.globals["static"] = versioned
LONGEST_NAME = 80


@router.get("/join/{study}/{signed}", name="join")
def join(request: Request, authenticator: TheAuthenticator, study: str, signed: str) -> Response:
    """The way in: a page that says what the link is for, and asks for a name unless the link has one."""
    try:
        served = authenticator.served(study)
        link = authenticator.signed_link(served, signed)
    except Problem as problem:
        authenticator.knock(request)
        return _closed(request, problem)
    known = _session_name(request, authenticator, served)
    context = {"study": study, "question_html": rendered(served.study.settings.question), "role": link.role}
    return _page(request, "join.html", name=link.annotator or known or "", named=link.annotator is not None, **context)


@router.post("/join/{study}/{signed}")
def enter(
    request: Request,
    authenticator: TheAuthenticator,
    study: str,
    signed: str,
    name: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    try:
        authenticator.knock(request)
        served = authenticator.served(study)
        link = authenticator.signed_link(served, signed)
        annotator = link.annotator or _name(name)
        if link.annotator is None:
            require_free_name(served, annotator)
    except Problem as problem:
        return _closed(request, problem)
    target = f"/owner/{study}" if link.role == "owner" else f"/judge/{study}"
    response = RedirectResponse(target, 303)
    response.set_cookie(
        cookie_name(served),
        authenticator.new_session(served, link, annotator),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


@router.get("/judge/{study}")
def judge(request: Request, authenticator: TheAuthenticator, study: str) -> Response:
    return _inside(request, authenticator, study, "judge.html", owner=False)


@router.get("/owner/{study}")
def owner(request: Request, authenticator: TheAuthenticator, study: str) -> Response:
    return _inside(request, authenticator, study, "owner.html", owner=True)


@router.get("/media/{study}/{row}/{kind}")
def item_media(request: Request, authenticator: TheAuthenticator, study: str, row: int, kind: str) -> Response:
    """A file of an item, for whoever came by a link."""
    served = authenticator.served(study)
    authenticator.enter(request, served)
    items = served.study.items
    place = (
        items.content[kind][row] if kind in media.KINDS and kind in items.content and 0 <= row < len(items) else None
    )
    headers = {"Content-Security-Policy": MEDIA, "Cache-Control": "private, max-age=3600"}
    if place is not None and place.startswith("data:"):
        found = media.data_url(place)
        if found is not None:
            return Response(found[1], media_type=found[0], headers=headers)
    elif place is not None and not media.is_elsewhere(place):
        path = media.inside(place, served.folders)
        if path is not None and path.is_file() and (type_ := media.media_type(media.read_head(path))):
            return FileResponse(path, media_type=type_, headers=headers, content_disposition_type="inline")
    raise Problem(404, "there is no such picture, sound or video")


@router.get("/")
def front(request: Request) -> Response:
    return _closed(request, Problem(404, "open the link that you were given"))


def _inside(request: Request, authenticator: Authenticator, study: str, template: str, *, owner: bool) -> Response:
    try:
        served = authenticator.served(study)
        caller = authenticator.enter(request, served)
        if owner:
            require_owner(caller)
    except Problem as problem:
        return _closed(request, problem)
    settings = served.study.settings
    return _page(
        request,
        template,
        study=study,
        role=caller.link.role,
        name=caller.annotator or "",
        question=settings.question,
        question_html=rendered(settings.question),
        theme=served.study.rules.theme,
        csrf=authenticator.keys.form_token(caller.session or ""),
    )


def _page(request: Request, template: str, **context: Any) -> HTMLResponse:
    return templates.TemplateResponse(request, template, {"version": __version__, **context})


def _closed(request: Request, problem: Problem) -> Response:
    response = templates.TemplateResponse(
        request, "closed.html", {"version": __version__, "message": problem.detail}, problem.status
    )
    response.headers.update(problem.headers)
    return response


def _session_name(request: Request, authenticator: Authenticator, served: ServedStudy) -> str | None:
    try:
        return authenticator.caller(request, served).annotator
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
