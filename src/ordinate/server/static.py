"""The pages' own files, each with a hash of its contents in its address: kept for ever and never out of date."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"


@cache
def versioned(name: str) -> str:
    """The address of a static file."""
    digest = hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


class VersionedFiles(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        asked_for = (
            scope["query_string"] == versioned(path).partition("?")[2].encode()
            if response.status_code == 200
            else False
        )
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if asked_for else "no-cache"
        return response
