"""API for whoever answers: status, queries, answers, undo. Routes parse, call the study, and format."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Header

from ordinate.server.authentication import Anybody, Caller
from ordinate.server.problems import Problem
from ordinate.server.question import rendered
from ordinate.server.schemas import (
    Accepted,
    Answered,
    AskFor,
    Finished,
    Lease,
    Queries,
    Shown,
    Status,
    TakeBack,
    Undone,
    Yours,
)
from ordinate.storage import Circumstances

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["judging"])


@router.get("", summary="Where the study stands")
def status(
    caller: Anybody, annotator: Annotated[str | None, Header(alias="X-Annotator", max_length=200)] = None
) -> Status:
    served, name = caller.served, caller.name(annotator)
    study, rules = served.study, served.study.rules
    answers = study.annotators()
    total, own = sum(answers.values()), answers.get(name, 0)
    served.prefetcher.answered(total)
    results = served.prefetcher.results
    finished: Finished | None = None
    if rules.budget is not None and total >= rules.budget:
        finished = "total-budget"
    elif rules.annotator_budget is not None and own >= rules.annotator_budget:
        finished = "budget"
    return Status(
        study=served.name,
        role=caller.link.role,
        question=study.settings.question,
        question_html=rendered(study.settings.question),
        items=len(study.items) - len(study.excluded_items),
        answers=total,
        open=len(study.open_queries()),
        goal=rules.budget,
        expected_error=None
        if results is None or results.expected_error != results.expected_error
        else results.expected_error,
        error_history=[] if results is None else results.history,
        your=Yours(name=name, answers=own, skips=study.skips(name), budget=rules.annotator_budget),
        ties_allowed=rules.ties,
        paused=rules.paused,
        finished=finished,
        theme=rules.theme,
    )


@router.post("/queries", summary="Get pairs to judge")
def queries(caller: Anybody, wanted: AskFor) -> Queries:
    """The annotator's open pairs, oldest first, topped up with new ones to `count`."""
    given = caller.served.give(caller.name(wanted.annotator), wanted.count, wanted.tab)
    shown = [caller.served.shown(lease) for lease in given.queries]
    return Queries(queries=shown, finished=given.finished, paused=given.paused)


@router.post("/answers", summary="Answer or skip a pair")
def answers(
    caller: Anybody,
    told: Answered,
    key: Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)] = None,
) -> Accepted:
    """The answer is on disk before this returns. Sent again with the same Idempotency-Key it is the same answer.

    `next` holds the annotator's open pairs, topped up to `count` as far as pairs are ready.
    """
    served, annotator = caller.served, caller.name(told.annotator)
    _require_own(caller, told.query, annotator)
    circumstances = Circumstances(
        told.reason, _text(told.shown_at), _text(told.answered_at), told.duration_ms, told.client, key
    )
    served.study.tell(told.query, told.answer, circumstances)
    own, total = served.counted(annotator)
    accepted = Accepted(your_answers=own, answers=total, next=[])
    # Whoever was excluded meanwhile is given nothing more; the answer is stored all the same.
    if told.count and annotator not in served.study.excluded_annotators:
        given = served.give(annotator, told.count, told.tab, wait=False)
        accepted.next = [served.shown(lease) for lease in given.queries]
        accepted.finished, accepted.paused = given.finished, given.paused
    return accepted


@router.post("/shown", summary="Say that a pair is on the screen")
def shown(caller: Anybody, what: Shown) -> Lease:
    """Where less than half of the pair's time is left, it starts anew."""
    _require_own(caller, what.query, caller.name(what.annotator))
    lease = caller.served.study.show(what.query, _text(what.shown_at))
    return Lease(query=lease.query.id, expires_at=lease.expires_at)


@router.post("/undo", summary="Take an answer back")
def undo(caller: Anybody, what: TakeBack) -> Undone:
    """The newest one, or the one that came with `key`: sent again, that takes nothing else back."""
    served, annotator = caller.served, caller.name(what.annotator)
    lease, was = served.study.take_back(annotator, what.key)
    own, total = served.counted(annotator)
    return Undone(query=served.shown(lease), was=was, your_answers=own, answers=total)


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _require_own(caller: Caller, query: str, annotator: str | None) -> None:
    """An annotator answers their own pairs; an owner's token may answer for everybody."""
    whose = caller.served.study.query(query).annotator
    if whose != annotator and not (caller.is_owner and caller.session is None):
        raise Problem(403, f"query {query!r} was given to somebody else")
