"""API for the owner of a server: the studies of its folder, and new ones of files that are dropped on a page."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from concurrent.futures import Future
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool

from ordinate.data.items import Items
from ordinate.data.joining import require_same_grouping
from ordinate.embedding import DEFAULTS, FAMILIES
from ordinate.errors import InvalidInput, OrdinateError, StorageFailed
from ordinate.server import making
from ordinate.server.authentication import TheAuthenticator
from ordinate.server.drafts import Draft, being_made, forget_media, link_media
from ordinate.server.folder_schemas import (
    Adding,
    Copying,
    Deleting,
    Done,
    DraftShown,
    DroppedShown,
    EncoderShown,
    Making,
    MarkdownGiven,
    MarkdownShown,
    Overview,
    Preview,
    PreviewShown,
    Refusal,
    StudyLine,
)
from ordinate.server.headers import MEDIA as MEDIA_POLICY
from ordinate.server.markdown import rendered
from ordinate.server.owner_api import show_link
from ordinate.server.problems import Problem
from ordinate.server.receiving import announced, receive
from ordinate.server.registry import StudyRegistry
from ordinate.server.routes import FolderRoute
from ordinate.server.schemas import ItemShown
from ordinate.server.served_study import ServedStudy
from ordinate.server.thumbnails import thumbnail_of
from ordinate.server.workspace import Workspace
from ordinate.study.ledger import acting
from ordinate.study.study import Study
from ordinate.study.words import STAGES

router = APIRouter(prefix="/api/v1/server", tags=["serving a folder"], route_class=FolderRoute)
FIRST = 24
"""Items that a preview shows."""
REFUSED = 100
"""Refusals that a preview lists."""


async def _workspace(request: Request) -> Workspace:
    workspace: Workspace = request.app.state.workspace
    return workspace


TheWorkspace = Annotated[Workspace, Depends(_workspace)]


@router.get("", summary="The studies of the folder")
def overview(authenticator: TheAuthenticator, workspace: TheWorkspace) -> Overview:
    studies = [_line(served, workspace) for served in authenticator.registry]
    encoders = [
        EncoderShown(
            name=f"{name}:{family.example}",
            reads=family.content,
            summary=family.summary,
            installed=family.is_installed,
            install=family.install,
        )
        for name, family in FAMILIES.items()
    ]
    # The ones that `auto` chooses come first.
    encoders.sort(key=lambda one: one.name not in DEFAULTS.values())
    return Overview(studies=studies, archived=workspace.studies.archived(), encoders=encoders)


def _line(served: ServedStudy, workspace: Workspace) -> StudyLine:
    study, results = served.study, served.prefetcher.results
    progress, newest = study.progress(None), study.newest_answer
    known = None if results is None else results.reliability.fields()
    stage = served.stage
    return StudyLine(
        study=served.name,
        question=study.question,
        items=progress.items,
        answers=progress.total,
        state=stage,
        state_in_words=STAGES[stage],
        expected_error=None if known is None or not progress.total else known["expected_error"],
        better_than_coins=None if known is None else known["better_than_coins"],
        withheld=None if known is None else known["withheld"],
        last_answer=None if newest is None else newest.at,
        own_folder=workspace.studies.is_own(served.place),
    )


@router.post("/markdown", summary="Markdown as the pages show it")
def markdown(given: MarkdownGiven) -> MarkdownShown:
    return MarkdownShown(html=rendered(given.text))


# Files that are dropped -----------------------------------------------------------------------------------------------


@router.post("/drafts", summary="Begin to drop files", status_code=201)
def new_draft(workspace: TheWorkspace) -> DraftShown:
    return DraftShown(draft=workspace.new_draft().name, state="open", files=0)


@router.get("/drafts/{draft}", summary="How far a study is that is being made")
def draft_state(authenticator: TheAuthenticator, workspace: TheWorkspace, draft: str) -> DraftShown:
    found = workspace.draft(draft)
    job = workspace.job(found)
    shown = DraftShown(draft=draft, state="open", files=len(found.files()))
    elsewhere = job is None and workspace.is_made_elsewhere(found)
    if job is None and not elsewhere:
        return shown
    if job is None or not job.done():
        shown.state = "working"
        if found.progress_file.is_file() and (counts := found.progress_file.read_text().split()):
            shown.done, shown.total = int(counts[0]), int(counts[-1])
    elif (error := job.exception()) is not None:
        shown.state, shown.reason = "failed", authenticator.registry.without_folders(_reason(error))
    return shown


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, OrdinateError) else "the server failed; its log says why"


@router.delete("/drafts/{draft}", summary="Delete what was dropped")
def discard(workspace: TheWorkspace, draft: str) -> Done:
    workspace.discard(workspace.draft(draft))
    return Done()


@router.put(
    "/drafts/{draft}/files",
    summary="Drop a file",
    status_code=201,
    openapi_extra={
        "requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
async def drop(
    request: Request,
    workspace: TheWorkspace,
    draft: str,
    name: Annotated[str, Query(max_length=2000, description="The name of the file, perhaps with folders.")],
) -> DroppedShown:
    """The body is the file itself. A file that cannot be shown is refused with the reason."""
    found = await run_in_threadpool(workspace.draft, draft)
    if await run_in_threadpool(workspace.is_made_elsewhere, found):
        raise being_made()
    try:
        async with contextmanager_in_threadpool(found.arriving(announced(request))) as arrived:
            await receive(request, arrived)
            kept = await run_in_threadpool(found.take, name, arrived)
    except InvalidInput as error:
        raise InvalidInput(f"{name} {error}" if not str(error).startswith(name) else str(error)) from None
    return DroppedShown(name=kept.name, kind=kept.kind, bytes=kept.bytes)


@router.get(
    "/drafts/{draft}/thumbnail", summary="A small version of a picture that was dropped", response_class=Response
)
def thumbnail(
    workspace: TheWorkspace, draft: str, name: Annotated[str, Query(max_length=2000, description="Of the file.")]
) -> Response:
    found = workspace.draft(draft)
    one = next((one for one in found.files() if one.name == name and one.kind == "image"), None)
    made = None if one is None else thumbnail_of(found.folder / one.stored)
    if made is None:
        raise Problem(404, "there is no such picture, or none that a thumbnail can be made of")
    return Response(made, media_type="image/webp", headers={"Content-Security-Policy": MEDIA_POLICY})


@router.post("/drafts/{draft}/preview", summary="What a study of these files would hold")
async def preview(
    authenticator: TheAuthenticator, workspace: TheWorkspace, draft: str, wanted: Preview
) -> PreviewShown:
    found = await run_in_threadpool(workspace.draft, draft)
    served = None if wanted.study is None else await run_in_threadpool(authenticator.find_study, wanted.study)
    columns, more = _columns(wanted), None
    if served is None:
        job = await run_in_threadpool(workspace.look, found, making.find_items, found.folder, columns)
    else:
        more = await run_in_threadpool(making.Wanted.by, served.study)
        job = await run_in_threadpool(workspace.look, found, making.look_for_more, found.folder, columns, more)
    try:
        made: making.Found = await asyncio.wrap_future(job)
    except FileNotFoundError:
        raise Problem(404, "what was dropped here is gone; begin again") from None
    if served is not None and more is not None:
        await run_in_threadpool(_require_addable, served.study, more, made.items)
    return await run_in_threadpool(_preview, found, made, frozenset() if more is None else more.known)


def _columns(wanted: Any) -> making.Columns:
    return making.Columns(
        wanted.id_column or None, wanted.text_column or None, tuple(getattr(wanted, "feature_columns", ()))
    )


def _require_addable(study: Study, wanted: making.Wanted, items: Items) -> None:
    """Raise InvalidInput where the study would refuse those of the items that it does not have."""
    new = wanted.new(items)
    if not len(new):
        return
    if wanted.encoder is None:
        study.require_addable(wanted.reduced(new))
    else:  # whose features are only made once they are added
        require_same_grouping(study.items, new)


def _preview(draft: Draft, found: making.Found, known: Collection[str]) -> PreviewShown:
    items = found.items
    names = {one.stored: one.name for one in draft.files()}
    first = []
    for row, item in enumerate(items.ids[:FIRST]):
        content = {kind: values[row] for kind, values in items.content.items()}
        picture = names.get(str(content.get("image")))
        text = content.get("text")
        first.append(ItemShown(id=item, text=None if text is None else text[:1000], thumbnail_url=picture))
    return PreviewShown(
        items=len(items),
        groups=1 if items.group is None else len(set(items.group)),
        new=sum(item not in known for item in items.ids),
        kinds=list(items.content),
        columns=found.columns,
        numbers=found.numbers,
        id_column=found.id_column,
        text_column=found.text_column,
        first=first,
        refused=[Refusal(name=name, reason=reason) for name, reason in found.refused[:REFUSED]],
        refused_in_all=len(found.refused),
        notes=found.notes,
    )


@router.post("/drafts/{draft}/study", summary="Make a study of these files", status_code=201)
async def make(
    request: Request, authenticator: TheAuthenticator, workspace: TheWorkspace, draft: str, wanted: Making
) -> DraftShown:
    """The response comes once it is served. With an encoder that takes long; GET of the draft says how far it is."""
    plan = making.Plan(_columns(wanted), wanted.encoder, wanted.pca, wanted.for_study(), acting())

    def start() -> tuple[Draft, Future[int]]:
        found = workspace.draft(draft)
        _require_free(authenticator.registry, workspace, wanted.name)
        target = workspace.studies.target(found.folder, wanted.name)
        return found, workspace.make(found, making.make, found.folder, target, plan)

    found, job = await run_in_threadpool(start)
    return await _finish(request, authenticator, workspace, found, wanted.name, job)


@router.post("/studies/{study}/duplicate", summary="Make a study of the same items, without answers", status_code=201)
async def duplicate(
    request: Request, authenticator: TheAuthenticator, workspace: TheWorkspace, study: str, wanted: Copying
) -> DraftShown:
    """With the same settings and rules; only of studies that have a folder of their own."""

    def start() -> tuple[Draft, Future[int]]:
        served = _own(authenticator, workspace, study)
        place, media = served.place, workspace.studies.media(served.place)
        _require_free(authenticator.registry, workspace, wanted.name)
        making.require_copyable(served.study, media, authenticator.registry.media_folders)
        draft = workspace.new_draft()
        source = making.Target(place.url, media)
        target = workspace.studies.target(draft.folder, wanted.name)
        return draft, workspace.make(draft, making.duplicate, source, draft.folder, target, acting())

    draft, job = await run_in_threadpool(start)
    try:
        return await _finish(request, authenticator, workspace, draft, wanted.name, job)
    except Exception:
        if draft.folder.is_dir():  # which nobody else knows of
            await run_in_threadpool(workspace.discard, draft)
        raise


async def _finish(
    request: Request,
    authenticator: TheAuthenticator,
    workspace: Workspace,
    draft: Draft,
    name: str,
    job: Future[int],
) -> DraftShown:
    """Wait until the study is made, then serve it."""
    files = await run_in_threadpool(draft.files)
    shown = DraftShown(draft=draft.name, state="made", files=len(files), study=name)
    try:
        shown.items = await asyncio.shield(asyncio.wrap_future(job))
        served, link = await run_in_threadpool(workspace.serve, draft, name, authenticator.registry)
    except BaseException:
        workspace.release(draft)
        raise
    shown.link = show_link(request, authenticator, served, link)
    return shown


@router.post("/drafts/{draft}/items", summary="Add these files to a study as items")
async def add(authenticator: TheAuthenticator, workspace: TheWorkspace, draft: str, wanted: Adding) -> DraftShown:
    """Items that the study has already stay as they are."""
    served = await run_in_threadpool(authenticator.find_study, wanted.study)

    def start() -> tuple[Draft, Future[Items]]:
        found = workspace.draft(draft)
        how = _columns(wanted), making.Wanted.by(served.study)
        return found, workspace.make(found, making.find_more, found.folder, *how)

    found, job = await run_in_threadpool(start)
    try:
        more = await asyncio.shield(asyncio.wrap_future(job))

        def commit() -> None:
            linked = link_media(found.folder, workspace.studies.media(served.place), more)
            try:
                served.study.add_items(workspace.studies.stored(more, served.place))
            except StorageFailed:
                # They may be stored all the same, so the files stay.
                raise
            except OrdinateError:
                forget_media(linked)
                raise
            served.note_change()

        await served.write(commit)
    except BaseException:
        workspace.release(found)
        raise
    await run_in_threadpool(workspace.delete_sealed, found)
    return DraftShown(draft=draft, state="made", files=0, study=wanted.study, items=len(more))


# Studies --------------------------------------------------------------------------------------------------------------


@router.post("/studies/{study}/archive", summary="Put a study into the archive")
def archive(authenticator: TheAuthenticator, workspace: TheWorkspace, study: str) -> Done:
    """It is no longer served: its links open nothing until it is taken out again."""
    _own(authenticator, workspace, study)
    authenticator.registry.remove(study, workspace.studies.archive)
    return Done()


@router.post("/archived/{study}/restore", summary="Take a study out of the archive")
def restore(authenticator: TheAuthenticator, workspace: TheWorkspace, study: str) -> Done:
    place = workspace.studies.restore(study)
    try:
        authenticator.registry.open(place, study)
    except BaseException:
        workspace.studies.archive(place)
        raise
    return Done()


@router.post("/studies/{study}/delete", summary="Delete a study with its answers and its media")
def delete(authenticator: TheAuthenticator, workspace: TheWorkspace, study: str, typed: Deleting) -> Done:
    """It cannot be taken back."""
    _own(authenticator, workspace, study)
    _require_typed(study, typed)
    authenticator.registry.remove(study, workspace.studies.delete)
    return Done()


@router.post("/archived/{study}/delete", summary="Delete a study that is in the archive")
def delete_archived(workspace: TheWorkspace, study: str, typed: Deleting) -> Done:
    _require_typed(study, typed)
    workspace.studies.delete_archived(study)
    return Done()


def _require_typed(study: str, typed: Deleting) -> None:
    if typed.name != study:
        raise InvalidInput(f"to delete the study, type its name: {study}")


def _own(authenticator: TheAuthenticator, workspace: Workspace, study: str) -> ServedStudy:
    served = authenticator.find_study(study)
    if not workspace.studies.is_own(served.place):
        raise InvalidInput(
            f"{served.name} was made elsewhere and is not this server's to move; handle it yourself, where it is"
        )
    return served


def _require_free(registry: StudyRegistry, workspace: Workspace, name: str) -> None:
    workspace.studies.require_free(name)
    if registry.get(name) is not None:
        raise Problem(409, f"a study {name!r} is served here already; choose another name")
