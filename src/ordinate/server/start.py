"""Pages for the owner of a server: the way in, their studies, and making one of files that are dropped."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from ordinate.server.authentication import SERVER_COOKIE, TheAuthenticator
from ordinate.server.pages import refused, set_cookie
from ordinate.server.problems import Problem
from ordinate.server.rendering import page
from ordinate.server.signing import SESSION_SECONDS

router = APIRouter(include_in_schema=False)


@router.get("/enter/{signed}", name="enter")
def enter(request: Request, authenticator: TheAuthenticator, signed: str) -> Response:
    """The page that the link of a server's owner leads to."""
    try:
        authenticator.open_server_link(request, signed)
    except Problem as problem:
        return refused(request, problem)
    return page(request, "enter.html")


@router.post("/enter/{signed}")
def begin(request: Request, authenticator: TheAuthenticator, signed: str) -> Response:
    try:
        authenticator.open_server_link(request, signed)
    except Problem as problem:
        return refused(request, problem)
    response = RedirectResponse(f"{request.scope.get('root_path', '')}/", 303)
    set_cookie(request, response, SERVER_COOKIE, authenticator.signer.server_session(), SESSION_SECONDS)
    return response


@router.get("/")
def start(request: Request, authenticator: TheAuthenticator) -> Response:
    """The studies, for the owner of a server that serves a folder."""
    return _page(request, authenticator, "start.html")


@router.get("/new")
def new(request: Request, authenticator: TheAuthenticator, study: str = "") -> Response:
    """Make a study, or add items to one."""
    if study and authenticator.registry.get(study) is None:
        return refused(request, Problem(404, "no such study is served here"))
    return _page(request, authenticator, "new.html", study=study)


def _page(request: Request, authenticator: TheAuthenticator, template: str, **context: str) -> Response:
    if request.app.state.workspace is None or not authenticator.is_server_owner(request):
        return refused(request, Problem(404, "open the link that you were given"))
    csrf = authenticator.signer.form_token(request.cookies.get(SERVER_COOKIE, ""))
    return page(request, template, csrf=csrf, **context)
