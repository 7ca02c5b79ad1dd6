"""API for annotators: status, queries, answers, undo. Routes parse, call the study, and format."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Header, Response
from fastapi.concurrency import run_in_threadpool

from ordinate.errors import DeadlinePassed, PairsHeld, StudyPaused
from ordinate.server.authentication import Caller, TheCaller
from ordinate.server.helper import Results
from ordinate.server.markdown import rendered
from ordinate.server.problems import RETRY_SECONDS, Problem
from ordinate.server.routes import StudyRoute
from ordinate.server.schemas import (
    Accepted,
    Answered,
    AskFor,
    Finished,
    ForecastShown,
    Lease,
    Queries,
    Shown,
    Status,
    TakeBack,
    Undone,
    Yours,
)
from ordinate.server.served_study import finished
from ordinate.storage import AnswerDetails
from ordinate.study.words import STAGES

router = APIRouter(prefix="/api/v1/studies/{study}", tags=["judging"], route_class=StudyRoute)


@router.get("", summary="Where the study stands")
def status(
    caller: TheCaller,
    annotator: Annotated[
        str | None, Header(alias="X-Annotator", max_length=2000, description="The name in UTF-8, percent-encoded.")
    ] = None,
) -> Status:
    served, name = caller.served, caller.name(None if annotator is None else unquote(annotator))
    progress, question = served.study.progress(name, served.presence.everybody()), served.study.question
    rules = progress.rules
    served.prefetcher.basis_is(progress.basis)
    served.prefetcher.rules_are(rules)
    results = served.prefetcher.results
    stage = served.stage
    reached: Finished | None = None
    if served.is_finished or (rules.budget is not None and progress.total >= rules.budget):
        reached = "total-budget"
    elif rules.annotator_budget is not None and progress.answers >= rules.annotator_budget:
        reached = "budget"
    return Status(
        study=served.name,
        role=caller.link.role,
        question=question,
        question_html=rendered(question),
        items=progress.items,
        answers=progress.total,
        basis="-".join(map(str, progress.basis)),
        open=progress.open,
        goal=rules.budget,
        last_hour=served.study.answers_since(datetime.now(UTC) - timedelta(hours=1)) if caller.views else None,
        **({} if results is None else results.reliability.fields()),
        error_history=[] if results is None else _history(results),
        forecast=None if (forecast := served.forecast()) is None else ForecastShown(**forecast.fields()),
        your=Yours(name=name, answers=progress.answers, skips=progress.skips, budget=rules.annotator_budget),
        ties_allowed=rules.ties,
        state=stage,
        state_in_words=STAGES[stage],
        paused=rules.paused,
        deadline=rules.deadline,
        over=stage == "over",
        answers_by_deadline=served.study.answers_until(datetime.fromisoformat(rules.deadline))
        if caller.views and rules.deadline is not None
        else None,
        finished=reached,
        problem=served.problem if caller.views else None,
        theme=rules.theme,
    )


def _history(results: Results) -> list[tuple[int, float]]:
    """Expected errors that may be shown: of what may be coin tosses those if people answered sensibly, up to now, and
    none where a check failed that they presume."""
    known, history = results.reliability, results.history
    if known.withheld is None or not results.basis.answers:
        return history
    if known.better_than_coins is not False or isnan(known.expected_error):
        return []
    return (
        history
        if history and history[-1][0] >= results.basis.answers
        else [*history, (results.basis.answers, known.expected_error)]
    )


@router.post("/queries", summary="Get pairs to judge")
async def queries(caller: TheCaller, wanted: AskFor, response: Response) -> Queries:
    """The annotator's open pairs, oldest first, topped up with new ones to `count`.

    Where there is no pair, the response says why: `finished`, `paused`, or `retry_after`, when to ask again.
    """
    if caller.session is not None:
        name = caller.name(wanted.annotator)
    else:
        name = await run_in_threadpool(caller.name, wanted.annotator)
    pairs, refusal = await caller.served.give(caller.came_by, name, wanted.count, wanted.tab)
    given = Queries(
        queries=pairs,
        finished=finished(refusal),
        paused=isinstance(refusal, StudyPaused),
        over=isinstance(refusal, DeadlinePassed),
        held=isinstance(refusal, PairsHeld),
        question_html=await run_in_threadpool(_question, caller),
    )
    if not pairs and (refusal is None or given.held):
        given.retry_after = RETRY_SECONDS
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return given


@router.post("/answers", summary="Answer or skip a pair")
async def answers(
    caller: TheCaller,
    told: Answered,
    key: Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)] = None,
) -> Accepted:
    """The answer is on disk before this returns. Sent again with the same Idempotency-Key it is the same answer.

    `next` holds the annotator's open pairs, topped up to `count` as far as pairs are ready.
    """
    return await caller.served.write(_answer, caller, told, key)


def _answer(caller: Caller, told: Answered, key: str | None) -> Accepted:
    if told.tokens is not None and not caller.speaks_for_others:
        raise Problem(403, "only an owner's program says how many tokens a reply took; leave tokens out")
    details = AnswerDetails(
        told.reason, _text(told.shown_at), _text(told.answered_at), told.duration_ms, told.client, key, told.tokens
    )
    answered = caller.served.answer(
        told.query,
        told.answer,
        details,
        caller.name(told.annotator),
        link=caller.came_by,
        for_others=caller.speaks_for_others,
        count=told.count,
        tab=told.tab,
    )
    return Accepted(
        counts=answered.counts,
        practice=answered.practice,
        your_answers=answered.answers,
        answers=answered.total,
        next=caller.served.queries(answered.queries),
        finished=finished(answered.refusal),
        paused=isinstance(answered.refusal, StudyPaused),
        question_html=_question(caller),
    )


def _question(caller: Caller) -> str:
    return rendered(caller.served.study.question)


@router.post("/shown", summary="Say that a pair is on the screen")
async def shown(caller: TheCaller, what: Shown) -> Lease:
    """Where less than half of the pair's lease is left, the lease starts again."""
    return await caller.served.write(_show, caller, what)


def _show(caller: Caller, what: Shown) -> Lease:
    study, annotator = caller.served.study, caller.name(what.annotator)
    if not caller.speaks_for_others:
        study.require_own(what.query, annotator)
    lease = study.show(what.query, _text(what.shown_at))
    return Lease(query=lease.query.id, expires_at=lease.expires_at)


@router.post("/undo", summary="Take an answer back")
async def undo(caller: TheCaller, what: TakeBack) -> Undone:
    """The newest one, or the one that came with `key`: sent again, that takes nothing else back."""
    return await caller.served.write(_take_back, caller, what)


def _take_back(caller: Caller, what: TakeBack) -> Undone:
    served, annotator = caller.served, caller.name(what.annotator)
    lease, was = served.study.take_back(annotator, what.key)
    served.note_change()
    progress = served.study.progress(annotator, ())
    return Undone(query=served.queries([lease])[0], was=was, your_answers=progress.answers, answers=progress.total)


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
