"""create_app(): the application over studies. It holds no state of its own but caches; everything is in the studies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from ordinate import __version__
from ordinate.server import data_quality, judging, owning, pages, problems, thumbnails
from ordinate.server.authentication import Authenticator
from ordinate.server.headers import Guard
from ordinate.server.keys import Keys
from ordinate.server.prefetcher import one_process
from ordinate.server.registry import StudyRegistry
from ordinate.server.schemas import ProblemShown
from ordinate.server.static import FOLDER, KeptFiles

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemShown, "content": {"application/problem+json": {}}, "description": description}
    for status, description in (
        (400, "Not understood"),
        (401, "No valid link"),
        (403, "Not allowed"),
        (404, "Not here"),
        (409, "Not now"),
        (413, "Too large"),
        (422, "Not valid"),
        (429, "Too often"),
        (503, "Not just now"),
    )
}


def create_app(
    studies: Sequence[Path],
    secret: str,
    *,
    media_folders: Sequence[Path] = (),
    executor: Callable[[], Executor] = one_process,
    per_second: float = 30.0,
) -> FastAPI:
    """The application that serves these study files; closing it closes them.

    secret         signs links and sessions; whoever has it can make links
    media_folders  more folders that items may show files of, beside each study's own
    executor       where pairs are chosen and results computed, one for each study
    per_second     requests that one annotator may make in the long run
    """
    registry = StudyRegistry(executor, media_folders)
    authenticator = Authenticator(Keys(secret), registry, per_second=per_second, burst=4 * per_second)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        registry.close()

    app = FastAPI(
        title="ordinate",
        version=__version__,
        summary="Order items by asking people which of two they prefer",
        openapi_url="/api/v1/openapi.json",
        # Their pages load scripts from other sites.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=PROBLEMS,
    )
    app.state.authenticator = authenticator
    app.add_middleware(Guard)
    problems.add_handlers(app)
    app.include_router(judging.router)
    app.include_router(owning.router)
    app.include_router(data_quality.router)
    # Before the pages, whose media have any other name.
    app.include_router(thumbnails.router)
    app.include_router(pages.router)
    app.mount("/static", KeptFiles(directory=FOLDER, check_dir=False), name="static")

    @app.get("/healthz", include_in_schema=False)
    def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    try:
        for path in studies:
            registry.open(path)
    except BaseException:
        registry.close()
        raise
    return app
