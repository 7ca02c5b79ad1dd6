"""API for owners: the ordering and comparisons, items, links, rules, annotators, and new studies."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import segno
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from ordinate.data.comparisons import comparison_columns
from ordinate.data.formats import FORMATS
from ordinate.data.names import caseless
from ordinate.data.ordering import Ordering
from ordinate.errors import InvalidInput
from ordinate.server.authentication import Authenticator, Caller, TheAuthenticator, TheCaller, TheCallers
from ordinate.server.headers import MEDIA
from ordinate.server.new_items import items_of, more_items, require_own_files
from ordinate.server.problems import Problem
from ordinate.server.routes import OwnerRoute, ServerRoute, ViewerRoute
from ordinate.server.schemas import (
    Added,
    Annotator,
    Annotators,
    AnnotatorsQuality,
    ChangeShown,
    ChangesPage,
    ComparedShown,
    ComparisonShown,
    ComparisonsPage,
    Created,
    Exclusion,
    ForecastShown,
    GradeShown,
    ItemListed,
    ItemsPage,
    Links,
    LinkShown,
    NamesPage,
    NewItems,
    NewLink,
    NewLinks,
    NewStudy,
    OrderedItem,
    OrderingPage,
    Revoked,
    RuleChanges,
    RulesShown,
    SelectionShown,
    Studies,
    StudyShown,
    ThroughShown,
    VerdictShown,
)
from ordinate.server.served_study import ServedStudy, is_valid
from ordinate.study.rules import Link, Person
from ordinate.study.study import Study

router = APIRouter(prefix="/api/v1/studies", tags=["owning"], route_class=OwnerRoute)
results = APIRouter(prefix="/api/v1/studies", tags=["looking"], route_class=ViewerRoute)
server_router = APIRouter(prefix="/api/v1/studies", tags=["owning"], route_class=ServerRoute)
MOST_GROUPS, MOST_EXCLUDED = 1000, 1000
"""Groups and items left out that come with the ordering."""
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(pattern=r"^[0-9]{1,12}$", description="The next_cursor of the page before.")]


def page(rows: Sequence[Any], limit: int, cursor: str | None) -> tuple[Sequence[Any], str | None]:
    """A part of the rows, and the cursor of the part after it; None at the end."""
    start = int(cursor or 0)
    end = start + limit
    return rows[start:end], str(end) if end < len(rows) else None


async def _ordering(caller: TheCaller) -> Ordering:
    """Waits for the helper without a thread, so that other requests go on."""
    return await caller.served.ordering()


TheOrdering = Annotated[Ordering, Depends(_ordering)]


@results.get("/{study}/ordering", summary="The ordering so far")
def ordering(
    caller: TheCaller,
    result: TheOrdering,
    search: Annotated[str, Query(max_length=200, description="A part of the id or the text, whatever its case.")] = "",
    group: Annotated[str | None, Query(max_length=4000, description="Only this group.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> OrderingPage:
    """Highest first, group after group. It moves as answers come in, so pages fetched later may be of a later one."""
    columns = result.to_columns()
    names = [name for name in columns if name != "id"]
    found: Sequence[int] = range(len(result))
    if group is not None:
        groups = columns.get("group", [""] * len(result))
        found = [place for place in found if groups[place] == group]
    if search:
        wanted, texts = caseless(search), _texts(caller.served)
        found = [
            place
            for place in found
            if wanted in caseless(result.ids[place]) or wanted in caseless(texts.get(result.ids[place], ""))
        ]
    places, following = page(found, limit, cursor)
    shown = caller.served.items([result.ids[place] for place in places])
    rows = [
        OrderedItem(item=item, **{name: columns[name][place] for name in names})
        for item, place in zip(shown, places, strict=True)
    ]
    grades = [] if result.grades is None else [GradeShown(**grade) for grade in result.grades.rows()]
    chosen = None if result.selection is None else SelectionShown(**result.selection.fields())
    study = caller.served.study
    return OrderingPage(
        ordering=rows,
        total=len(found),
        next_cursor=following,
        grades=grades,
        selection=chosen,
        groups=list(dict.fromkeys(study.items.group or ()))[:MOST_GROUPS],
        excluded=list(study.excluded_items)[:MOST_EXCLUDED],
    )


def _texts(served: ServedStudy) -> dict[str, str]:
    """The texts of the items by their ids, where there are any."""
    items = served.study.items
    return {item: text or "" for item, text in zip(items.ids, items.content.get("text", ()), strict=False)}


@results.get("/{study}/forecast", summary="When the ordering will be as good as wanted")
def forecast(
    caller: TheCaller,
    target: Annotated[
        float | None, Query(ge=0.001, le=0.5, description="Expected error that is wanted; default: the rule's.")
    ] = None,
) -> ForecastShown:
    """From the newest results of the study, which are a few answers old where these come fast."""
    made = caller.served.forecast(target)
    if made is None:
        raise Problem(503, "the forecast is being computed; ask again in some seconds")
    return ForecastShown(**made.fields())


@results.get("/{study}/check", summary="Whether the order can be relied on")
async def check(caller: TheCaller) -> VerdictShown:
    """One sentence, and a row for each check of the answers. It may take seconds."""
    return VerdictShown(**(await caller.served.check()).fields())


@results.get("/{study}/compare", summary="Two items side by side")
def compare(
    caller: TheCaller,
    left: Annotated[str, Query(max_length=4000, description="The id of an item.")],
    right: Annotated[str, Query(max_length=4000, description="The id of another one.")],
) -> ComparedShown:
    """How sure their order is, by all answers, and which answers say so. It takes a fit: seconds in a large study."""
    # With a study of its own, so that nobody waits for the fit.
    with Study.open(caller.served.url) as study:
        found = study.compare(left, right)
    items = caller.served.items([left, right, *(one.item for one in found.through)])
    through = [
        ThroughShown(**{**one._asdict(), "item": item}) for one, item in zip(found.through, items[2:], strict=True)
    ]
    return ComparedShown(**{**found._asdict(), "left": items[0], "right": items[1], "through": through})


@results.get("/{study}/comparisons", summary="The comparisons that count")
def comparisons(caller: TheCaller, limit: Limit = 100, cursor: Cursor = None) -> ComparisonsPage:
    """In the order in which they came in."""
    made = caller.served.study.comparisons()
    rows, following = page(made, limit, cursor)
    shown = [
        ComparisonShown(left=one.left, right=one.right, winner=one.outcome, annotator=one.annotator) for one in rows
    ]
    return ComparisonsPage(comparisons=shown, total=len(made), next_cursor=following)


TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
TABLES: dict[int | str, dict[str, Any]] = {200: {"content": {media_type: {} for media_type in TYPES.values()}}}
FileType = Annotated[
    Literal["csv", "jsonl", "parquet"], Path(description="CSV opens in spreadsheet programs; the others keep types.")
]


@results.get("/{study}/export/ordering.{kind}", summary="Download the ordering", responses=TABLES)
def export_ordering(caller: TheCaller, result: TheOrdering, kind: FileType) -> Response:
    return _table(caller, "ordering", kind, result.to_columns())


@results.get("/{study}/export/comparisons.{kind}", summary="Download the comparisons that count", responses=TABLES)
def export_comparisons(caller: TheCaller, kind: FileType) -> Response:
    return _table(caller, "comparisons", kind, comparison_columns(caller.served.study.comparisons()))


@results.get("/{study}/export/history.{kind}", summary="Download every answer and skip", responses=TABLES)
def export_history(caller: TheCaller, kind: FileType) -> Response:
    """Every answer and skip with all that is stored of it."""
    return _table(caller, "history", kind, caller.served.study.history())


@results.get("/{study}/export/report.html", summary="Download the report", response_class=HTMLResponse)
async def export_report(caller: TheCaller) -> Response:
    """As of now: one HTML file that needs nothing else. It may take half a minute."""
    made = await caller.served.report()
    headers = {"Content-Disposition": f'attachment; filename="{caller.served.name}-report.html"'}
    return HTMLResponse(made, headers=headers)


@router.get("/{study}/export/links.{kind}", summary="Download the links of annotators", responses=TABLES)
def export_links(request: Request, caller: TheCaller, authenticator: TheAuthenticator, kind: FileType) -> Response:
    """Those for one annotator each that are not revoked, for instance to send them by mail."""
    made = [one for one in caller.served.study.links() if one.shared is None and one.role == "annotator"]
    shown = [show_link(request, authenticator, caller.served, one) for one in made if one.annotator and not one.revoked]
    columns = {name: [getattr(one, name) for one in shown] for name in ("annotator", "url", "expires_at")}
    return _table(caller, "links", kind, columns)


def _table(caller: Caller, what: str, kind: str, columns: Mapping[str, Sequence[Any]]) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{caller.served.name}-{what}.{kind}"'}
    return Response(FORMATS[f".{kind}"].encode(columns), media_type=TYPES[kind], headers=headers)


@results.get("/{study}/items", summary="The items")
def items(caller: TheCaller, limit: Limit = 100, cursor: Cursor = None) -> ItemsPage:
    ids = caller.served.study.items.ids
    rows, following = page(list(ids), limit, cursor)
    group = dict(zip(ids, caller.served.study.items.group or (), strict=False))
    listed = [ItemListed(**dict(one), group=group.get(one.id)) for one in caller.served.items(rows)]
    return ItemsPage(items=listed, total=len(ids), next_cursor=following)


@router.post("/{study}/items", summary="Add items")
def add_items(request: Request, caller: TheCaller, new: NewItems) -> Added:
    """With as many feature numbers each as the others have. Where the study was made with an encoder: those of its
    named columns alone, or none if it has no such columns.

    Paths of files start at the study's folder.
    """
    study = caller.served.study
    require_own_files(new.items, caller, request.app.state.workspace)
    study.add_items(more_items(new.items, study, caller.served.folders, caller.served.place.folder))
    caller.served.note_change()
    return Added(items=len(study.items))


@router.get("/{study}/links", summary="The links that owners made")
def links(request: Request, caller: TheCaller, authenticator: TheAuthenticator) -> Links:
    """Oldest first, each with how many names were given by it."""
    made = caller.served.study.links()
    given = Counter(link.shared for link in made)
    shown = [show_link(request, authenticator, caller.served, link) for link in made if link.shared is None]
    return Links(links=[link.model_copy(update={"names": given[link.id]}) for link in shown])


@router.get("/{study}/links/{link}/names", summary="The links of those who gave their names by a shared one")
def names(
    request: Request,
    caller: TheCaller,
    authenticator: TheAuthenticator,
    link: str,
    search: Annotated[str, Query(max_length=200, description="A part of the name, whatever its case.")] = "",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> NamesPage:
    """Newest first. Whoever opens such a link goes on under its name, for instance in another browser."""
    study, wanted = caller.served.study, caseless(search)
    study.link(link)
    found = [one for one in reversed(study.links()) if one.shared == link and wanted in caseless(one.annotator or "")]
    rows, following = page(found, limit, cursor)
    shown = [show_link(request, authenticator, caller.served, one) for one in rows]
    return NamesPage(names=shown, total=len(found), next_cursor=following)


@router.post("/{study}/links", summary="Make a link", status_code=201)
def make_link(request: Request, caller: TheCaller, authenticator: TheAuthenticator, new: NewLink) -> LinkShown:
    """For an owner, for viewers of the results, or for annotators; perhaps for one person, perhaps until some time.

    Where a proxy says who somebody is, they have the role of the newest link that is for them alone.
    """
    if new.expires_at is not None and new.expires_at <= datetime.now(UTC):
        raise InvalidInput(f"expires_at is past: {new.expires_at.isoformat()}; give a time to come, or none")
    link = caller.served.study.make_link(new.role, new.annotator, new.expires_at)
    return show_link(request, authenticator, caller.served, link)


@router.post("/{study}/links/many", summary="Make a link for each of several annotators", status_code=201)
def make_links(request: Request, caller: TheCaller, authenticator: TheAuthenticator, new: NewLinks) -> Links:
    """All or none. Whoever has such a link already gets no other one: theirs is returned."""
    study, until = caller.served.study, new.expires_at
    if until is not None and until <= datetime.now(UTC):
        raise InvalidInput(f"expires_at is past: {until.isoformat()}; give a time to come, or none")
    made = study.make_links(new.annotators, until)
    return Links(links=[show_link(request, authenticator, caller.served, link) for link in made])


@router.post("/{study}/links/{link}/revoke", summary="Revoke a link")
def revoke_link(request: Request, caller: TheCaller, authenticator: TheAuthenticator, link: str) -> Revoked:
    """Sessions that began with it end, too. The last valid link of an owner is not revoked: make another one first.

    Another link of the same person stays valid, and is named in the reply.
    """
    served = caller.served
    revoked = served.revoke_link(link)
    theirs = [] if revoked.annotator is None else served.study.links_of(revoked.annotator)
    others = [show_link(request, authenticator, served, one) for one in theirs if is_valid(one)]
    return Revoked(**dict(show_link(request, authenticator, served, revoked)), others=others)


class _Drawing(Response):
    media_type = "image/svg+xml"


@router.get("/{study}/links/{link}/qr.svg", summary="A link as a QR code", response_class=_Drawing)
def qr_code(request: Request, caller: TheCaller, authenticator: TheAuthenticator, link: str) -> Response:
    shown = show_link(request, authenticator, caller.served, caller.served.study.link(link))
    if shown.url is None:
        raise Problem(404, "this link was revoked")
    drawing = io.BytesIO()
    segno.make(shown.url, micro=False).save(drawing, kind="svg", border=2, light="#fff", scale=4, xmldecl=False)
    return _Drawing(drawing.getvalue(), headers={"Content-Security-Policy": MEDIA})


@results.get("/{study}/rules", summary="The rules")
def rules(caller: TheCaller) -> RulesShown:
    return RulesShown.of(caller.served.study.rules)


@router.patch("/{study}/rules", summary="Change rules")
def change_rules(caller: TheCaller, changes: RuleChanges) -> RulesShown:
    """Only the rules that the request names."""
    served = caller.served
    served.study.set_rules(**changes.changes())
    rules = served.study.rules
    served.prefetcher.rules_are(rules)
    served.note_change()
    return RulesShown.of(rules)


@results.get("/{study}/annotators", summary="Who answers")
def annotators(caller: TheCaller) -> Annotators:
    """Everybody who was given a pair or whose answers were imported, with how often they agreed with themselves."""
    return Annotators(annotators=[_shown_person(one) for one in caller.served.study.people()])


def _shown_person(one: Person) -> Annotator:
    fields = one._asdict()
    practised, known, right = fields.pop("practice")
    return Annotator(**fields, practised=practised, practice_known=known, practice_right=right)


@results.get("/{study}/annotators/quality", summary="What the answers say of each annotator")
def annotator_quality(caller: TheCaller) -> AnnotatorsQuality:
    """Sharpness, probability of coin tosses, agreement, side bias. It takes some fits: seconds in a large study."""
    # With a study of its own, so that nobody waits for the fits.
    with Study.open(caller.served.url) as study:
        return AnnotatorsQuality(**study.annotator_quality().fields())


@results.get("/{study}/changes", summary="What owners changed")
def changes(caller: TheCaller, limit: Limit = 50, cursor: Cursor = None) -> ChangesPage:
    """Newest first: items, exclusions, rules, links, answers that were taken back; and who did it."""
    made = caller.served.study.changes()
    rows, following = page(made, limit, cursor)
    shown = [ChangeShown(**one._asdict()) for one in rows]
    return ChangesPage(changes=shown, total=len(made), next_cursor=following)


@router.post("/{study}/exclusions", summary="Leave an item or an annotator out, or take them in again")
def exclusions(caller: TheCaller, what: Exclusion) -> Exclusion:
    study = caller.served.study
    if (what.item is None) == (what.annotator is None):
        raise InvalidInput("name an item or an annotator")
    if what.item is not None:
        (study.exclude_item if what.excluded else study.include_item)(what.item)
    elif what.annotator is not None:
        (study.exclude_annotator if what.excluded else study.include_annotator)(what.annotator)
    caller.served.note_change()
    return what


@server_router.get("", summary="The studies that a link opens")
def studies(callers: TheCallers) -> Studies:
    found = [
        StudyShown(study=one.served.name, question=one.served.study.question, role=one.link.role) for one in callers
    ]
    return Studies(studies=found)


@server_router.post("", summary="Create a study", status_code=201)
def create(request: Request, callers: TheCallers, authenticator: TheAuthenticator, new: NewStudy) -> Created:
    """In the folder that is served, by its owner; else beside the study whose owner's link comes with the request.

    It is served at once.
    """
    registry, workspace = authenticator.registry, request.app.state.workspace
    if registry.get(new.name) is not None:
        raise Problem(409, f"a study {new.name!r} is served here already; choose another name")
    if workspace is None:
        beside = next(one.served for one in callers if one.is_owner)
        folders = beside.folders
        place = beside.place.beside(new.name)
    else:
        workspace.studies.require_free(new.name)
        place = workspace.studies.place(new.name)
        folders = workspace.studies.folders(place)
    Study.create(items_of(new.items, folders), storage=place.url, **new.for_study()).close()
    served, (owner, shared) = registry.serve_new(place, new.name, ("owner", "annotator"), lambda made: made.delete())
    return Created(
        study=served.name,
        owner=show_link(request, authenticator, served, owner),
        annotators=show_link(request, authenticator, served, shared),
    )


def show_link(request: Request, authenticator: Authenticator, served: ServedStudy, link: Link) -> LinkShown:
    """A link with the address to hand out, unless it is revoked."""
    if link.revoked:
        return LinkShown(**link._asdict())
    url = authenticator.address((request.app.state.url or str(request.base_url)).rstrip("/"), served, link)
    return LinkShown(**link._asdict(), url=url, token=url.rpartition("/")[2])
