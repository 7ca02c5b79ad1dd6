"""API for owners: single answers, of a person or with an item; taking them back; letting a person rest."""

from __future__ import annotations

from math import exp
from typing import Annotated

from fastapi import APIRouter, Query

from ordinate.data.comparisons import OUTCOME_VALUES
from ordinate.data.comparisons import Query as Asked
from ordinate.errors import InvalidInput
from ordinate.server.authentication import TheCaller
from ordinate.server.owner_api import Cursor, Limit, page
from ordinate.server.routes import OwnerRoute, ViewerRoute
from ordinate.server.schemas import AnswerShown, AnswersPage, Discard, Discarded, Rest
from ordinate.server.served_study import ServedStudy
from ordinate.storage import Entry

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["owning"], route_class=OwnerRoute)
results = APIRouter(prefix="/api/v1/studies/{study}", tags=["looking"], route_class=ViewerRoute)


@results.get("/answers", summary="Answers and skips, newest first")
def answers(
    caller: TheCaller,
    annotator: Annotated[str | None, Query(max_length=200, description="Only this annotator's.")] = None,
    item: Annotated[str | None, Query(max_length=4000, description="Only those with this item.")] = None,
    other: Annotated[str | None, Query(max_length=4000, description="Only those with this item, too.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> AnswersPage:
    """Those given in this study that were not taken back; without imported comparisons."""
    found = caller.served.study.given_answers(annotator=annotator, item=item, other=other)
    rows, following = page(found, limit, cursor)
    items = iter(caller.served.items([name for asked, _ in rows for name in (asked.left, asked.right)]))
    shown = [
        AnswerShown(
            query=asked.id,
            left=next(items),
            right=next(items),
            answer=entry.answer,
            annotator=entry.annotator,
            at=entry.at,
            duration_ms=entry.duration_ms,
            reason=entry.reason,
            surprise=_surprise(caller.served, asked, entry),
        )
        for asked, entry in rows
    ]
    return AnswersPage(answers=shown, total=len(found), next_cursor=following)


def _surprise(served: ServedStudy, asked: Asked, entry: Entry) -> float | None:
    """The probability of the opposite answer, by the scores of the newest ordering and a logistic model."""
    scores, outcome = served.newest_scores, OUTCOME_VALUES.get(entry.answer or "", 0.5)
    if outcome == 0.5 or asked.left not in scores or asked.right not in scores:
        return None
    ahead = (scores[asked.left] - scores[asked.right]) * (1.0 if outcome == 1.0 else -1.0)
    return 1.0 / (1.0 + exp(min(ahead, 700.0)))


@router.post("/answers/discard", summary="Take answers back")
def discard(caller: TheCaller, what: Discard) -> Discarded:
    """Their pairs may be asked again. The log keeps that they were given and taken back."""
    if bool(what.queries) == (what.annotator is not None) or (what.since is not None and what.annotator is None):
        raise InvalidInput("name queries, or an annotator and perhaps a time")
    study = caller.served.study
    if what.queries:
        discarded = study.discard_answers(what.queries)
    else:
        discarded = study.discard_answers_of(what.annotator, None if what.since is None else what.since.isoformat())
    caller.served.note_change()
    return Discarded(discarded=discarded)


@router.post("/annotators/rest", summary="Let an annotator rest, or go on")
def rest(caller: TheCaller, who: Rest) -> Rest:
    """Whoever rests gets no pairs; their answers count."""
    caller.served.study.let_rest(who.annotator, who.resting)
    return who
