"""The HTML pages, made from templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates
from jinja2 import pass_context

from ordinate import __version__
from ordinate.server.static import versioned

_templates = Jinja2Templates(Path(__file__).parent / "templates")


@pass_context
def _static(context: Any, name: str) -> str:
    request = context.get("request")  # none where a macro is imported without context
    return versioned(name) if request is None else request.scope.get("root_path", "") + versioned(name)


_templates.env.globals["static"] = _static


def page(request: Request, template: str, **context: Any) -> HTMLResponse:
    """`root` is what the addresses of this server's pages begin with: "" or, behind a proxy, a path."""
    root = request.scope.get("root_path", "")
    return _templates.TemplateResponse(request, template, {"version": __version__, "root": root, **context})


def error_page(request: Request, status: int, message: str, headers: dict[str, str]) -> HTMLResponse:
    response = page(request, "closed.html", message=message)
    response.status_code = status
    response.headers.update(headers)
    return response


def wants_page(request: Request) -> bool:
    """Whether a person looks at the response in a browser, rather than a program."""
    return "text/html" in request.headers.get("accept", "")
