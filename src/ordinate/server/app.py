"""create_app(): the application over studies. It holds only caches; everything else is in the studies."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.routing import BaseRoute

from ordinate import __version__
from ordinate.server import (
    answers_api,
    data_quality,
    events,
    folder_api,
    judging,
    machines_api,
    operating,
    owner_api,
    pages,
    problems,
    start,
    thumbnails,
)
from ordinate.server.authentication import Authenticator
from ordinate.server.headers import SecurityHeaders
from ordinate.server.helper import HelperProcess
from ordinate.server.limits import DEFAULT, Limits
from ordinate.server.operating import RequestLog, Requests
from ordinate.server.registry import StudyRegistry
from ordinate.server.schemas import ProblemShown
from ordinate.server.signing import LinkSigner
from ordinate.server.static import FOLDER, VersionedFiles
from ordinate.server.study_database import StudyDatabase
from ordinate.server.study_files import StudyFiles
from ordinate.server.workspace import Workspace
from ordinate.storage import Place
from ordinate.storage.places import PostgresqlDatabase

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemShown, "content": {"application/problem+json": {}}, "description": description}
    for status, description in (
        (400, "Not understood"),
        (401, "No valid link"),
        (403, "Not allowed"),
        (404, "Not here"),
        (409, "Not now"),
        (408, "Too slow"),
        (413, "Too large"),
        (415, "Not JSON"),
        (422, "Not valid"),
        (429, "Too often"),
        (507, "No room"),
        (503, "Not just now"),
    )
}


@cache
def routes() -> tuple[BaseRoute, ...]:
    """What every application answers: made once in a process, since FastAPI takes half a second for it."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, responses=PROBLEMS)
    app.include_router(operating.router)
    app.include_router(judging.router)
    app.include_router(owner_api.router)
    app.include_router(owner_api.results)
    app.include_router(owner_api.server_router)
    app.include_router(answers_api.router)
    app.include_router(machines_api.router)
    app.include_router(answers_api.results)
    app.include_router(data_quality.router)
    app.include_router(events.router)
    app.include_router(folder_api.router)
    app.include_router(start.router)
    # Before the pages, whose media have any other name.
    app.include_router(thumbnails.router)
    app.include_router(pages.router)
    app.mount("/static", VersionedFiles(directory=FOLDER, check_dir=False), name="static")

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    return tuple(app.routes)


def create_app(
    studies: Sequence[Path | Place],
    secret: str,
    *,
    media_folders: Sequence[Path] = (),
    url: str | None = None,
    folder: Path | None = None,
    database: PostgresqlDatabase | None = None,
    metrics: Sequence[str] = (),
    executor: Callable[[], Executor] = HelperProcess,
    limits: Limits = DEFAULT,
    clock: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """The application that serves these studies, in files or other places; closing it closes them.

    secret         signs links and sessions; whoever has it can make links
    media_folders  more folders that items may show files of, beside each study's own
    folder         whose studies are served beside these, and where the owner of the server makes new ones
    database       where those studies are; None: in files of the folder
    metrics        addresses and networks whose callers may read /metrics
    url            the address that links begin with; None: the one that a request was sent to
    clock          in seconds, by which requests are counted and annotators are there or have left
    executor       makes what chooses pairs and computes results, one for each study or for several
    """
    studies_of = None if folder is None else StudyFiles(folder) if database is None else StudyDatabase(folder, database)
    registry = StudyRegistry(
        executor,
        media_folders,
        limits,
        urlsplit(url or "").path.rstrip("/"),
        clock,
        folder,
        None if studies_of is None else studies_of.folders,
        None if studies_of is None else studies_of.shared,
    )
    authenticator = Authenticator(LinkSigner(secret), registry, limits, clock)
    workspace = None if folder is None or studies_of is None else Workspace(folder, studies_of, executor, limits)

    def close() -> None:
        registry.close()
        if workspace is not None:
            workspace.close()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        close()

    app = FastAPI(
        title="ordinate",
        version=__version__,
        summary="Order items by asking people which of two they prefer",
        openapi_url="/api/v1/openapi.json",
        # Their pages load scripts from other sites.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.authenticator = authenticator
    app.state.workspace, app.state.close = workspace, close
    app.state.limits = limits
    app.state.url = url
    app.state.metrics, app.state.requests = tuple(metrics), Requests()
    # Inside the other one, which gives the scope a copy: the route that was found is noted there.
    app.add_middleware(RequestLog, requests=app.state.requests)
    app.add_middleware(SecurityHeaders, url=url)
    problems.add_handlers(app)
    app.router.routes.extend(routes())

    try:
        for study in studies:
            registry.open(study)
        registry.agree()
        for place in [] if studies_of is None else studies_of.unshared():
            registry.open_if_possible(place)
    except BaseException:
        close()
        raise
    return app
