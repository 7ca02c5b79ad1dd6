"""A study that is being served: its short name, the study, the pairs chosen ahead, and what of an item may be shown."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from fastapi.concurrency import run_in_threadpool

from ordinate.data.comparisons import Answer
from ordinate.data.ordering import Ordering
from ordinate.errors import (
    BudgetSpent,
    OrdinateError,
    PairsHeld,
    PoolExhausted,
    StorageFailed,
    StudyPaused,
)
from ordinate.learning.forecast import Forecast
from ordinate.server import helper, media
from ordinate.server.helpers import Helpers
from ordinate.server.limits import Limits
from ordinate.server.markdown import rendered
from ordinate.server.prefetcher import Prefetcher
from ordinate.server.problems import Problem, TryLater
from ordinate.server.schemas import Finished, ItemShown, QueryShown
from ordinate.storage import AnswerDetails, Place, now
from ordinate.storage.places import SqliteFile
from ordinate.study.checking import Verdict
from ordinate.study.leases import Lease, Offer
from ordinate.study.questions import Answered
from ordinate.study.rules import PEOPLE, Link, Stage
from ordinate.study.stopping import Met
from ordinate.study.study import Study

log = logging.getLogger("ordinate.server")

T = TypeVar("T")

WRITERS = 20
"""Threads in which requests write, or wait for their turn to."""
ATTEMPTS = 5
"""How often offers may turn out to be taken by others before an annotator gets a random pair."""
FAILURE_SECONDS = 60.0
"""A failure that did not come again for so long has passed; who waits to have answers stored tries more often."""
PRESENT_SECONDS = 90.0
"""Whoever has made no request for so long has left: the page of somebody who judges makes one every half a minute."""


def finished(refusal: OrdinateError | None) -> Finished | None:
    """How a page names the reason why an annotator is given nothing more; None where there may be more later."""
    match refusal:
        case BudgetSpent():
            return "total-budget" if refusal.total else "budget"
        case PairsHeld():
            return None
        case PoolExhausted():
            return "exhausted"
        case _:
            return None


def has_expired(link: Link) -> bool:
    return link.expires_at is not None and link.expires_at <= now()


def is_valid(link: Link) -> bool:
    return not link.revoked and not has_expired(link)


class Failure(NamedTuple):
    """Why the study could not be used, and when by a clock that does not jump."""

    reason: str
    at: float


class Holdings:
    """Which open queries were given to whoever came by which link.

    Those from before the server started count for the link by which their annotator came; who was spoken for by a
    program with a shared link came by none.
    """

    def __init__(self, most: int, study: Study) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._queries: dict[str, set[str]] = {}
        came_by = {link.annotator: link.shared or link.id for link in study.links() if link.annotator is not None}
        for query in study.open_queries():
            if query.annotator in came_by:
                self._queries.setdefault(came_by[query.annotator], set()).add(query.id)

    def add(self, link: str, queries: Sequence[Lease]) -> None:
        with self._lock:
            self._queries.setdefault(link, set()).update(lease.query.id for lease in queries)

    def full(self, link: str, study: Study) -> bool:
        """Whether a link holds as many queries as one may."""
        with self._lock:
            held = self._queries.setdefault(link, set())
            if len(held) >= self._most:
                held &= {query.id for query in study.open_queries()}
            return len(held) >= self._most


class Presence:
    """Which annotators are there: whoever made a request lately, since the server started."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began = clock()
        self._seen: dict[str | None, float] = {}

    def note(self, annotator: str | None) -> None:
        with self._lock:
            self._seen[annotator] = self._clock()

    def everybody(self) -> set[str | None]:
        with self._lock:
            since = self._clock() - PRESENT_SECONDS
            self._seen = {name: at for name, at in self._seen.items() if at > since}
            return set(self._seen)

    def has_left(self, annotator: str | None) -> bool:
        """Whether the annotator has made no request for long. Whoever came before the server started may still be there
        at first."""
        with self._lock:
            return self._clock() - self._seen.get(annotator, self._began) > PRESENT_SECONDS


class ServedStudy:
    """folders  that it shows files of; relative paths of its items start at the first
    version  what tells it from another study of the same name in a database that others use, too
    """

    def __init__(
        self,
        name: str,
        place: Place,
        executor: Callable[[], Executor],
        helpers: Helpers,
        folders: Sequence[Path],
        limits: Limits,
        root: str,
        clock: Callable[[], float],
        version: int | None = None,
    ) -> None:
        self.name, self.place, self._limits, self._root, self.version = name, place, limits, root, version
        self.presence = Presence(clock)
        self._drawing = threading.Lock()
        self._writers = ThreadPoolExecutor(WRITERS, "writer")
        self._is_closed = False
        self._revoking = threading.Lock()
        self._failure: Failure | None = None
        self._executor, self._reporting = executor, asyncio.Lock()
        self.listeners = 0
        self._newest: Ordering | None = None
        self._scores: tuple[Ordering, dict[str, float]] | None = None
        self.folders = tuple(folders)
        self.url = place.url
        with ExitStack() as closing:  # also where the study is refused
            self.study = closing.enter_context(Study.open(self.url))
            closing.enter_context(self.study.serving())  # first: before, each look at the study reads the storage
            media.require_inside(self.study.items, self.folders)
            self._holdings = Holdings(limits.open_per_link, self.study)
            self.study.set_first_rules(PEOPLE)
            self.prefetcher = Prefetcher(self.url, helpers, limits)
            closing.callback(self.prefetcher.close)
            # The first annotator need not wait for the first fit.
            self.prefetcher.prepare(None)
            self.note_change()
            self._closing = closing.pop_all()

    @property
    def path(self) -> Path:
        """The file of a study that is in one."""
        assert isinstance(self.place, SqliteFile)
        return self.place.path

    def note_change(self) -> None:
        """Results follow the study as it is now, which somebody has just changed."""
        self.prefetcher.basis_is(self.study.progress(None, ()).basis)

    async def give(
        self, link: str, annotator: str | None, count: int, tab: str | None
    ) -> tuple[list[QueryShown], OrdinateError | None]:
        """The annotator's open queries, topped up to `count`, or to one where pairs are scarce; and why there are none,
        unless the server is only starting.

        Waits for a chosen pair for at most `pair_seconds` in all, without a thread; then one random pair is given.
        """
        until = time.monotonic() + self._limits.pair_seconds
        queries: list[Lease] = []
        chosen: list[Offer] = []
        try:
            for _ in range(count + ATTEMPTS):
                queries, shown = await self.write(self._take, link, annotator, count, chosen, tab)
                if shown is not None:
                    return shown, None
                offer = self.prefetcher.fetch(annotator)
                try:
                    chosen = [await asyncio.wait_for(asyncio.wrap_future(offer), until - time.monotonic())]
                except (PoolExhausted, TryLater):
                    raise
                except Exception:
                    # Too late, or the helper failed, which is in the log.
                    break
        except (BudgetSpent, StudyPaused) as error:
            return [], error
        except PoolExhausted:
            # A tab that was closed may hold the last pairs. One that was chosen for somebody else may be drawn.
            queries = queries or (await run_in_threadpool(self.study.held, annotator))[:count]
        try:
            for _ in range(ATTEMPTS):
                # Others may take the random pair before this annotator does.
                if queries:
                    break
                queries = await self.write(self._take_random, annotator, tab)
        except (BudgetSpent, PoolExhausted, StudyPaused) as error:
            return [], error
        return await self.write(self._hand_out, link, annotator, queries), None

    def _take(
        self, link: str, annotator: str | None, count: int, chosen: Sequence[Offer], tab: str | None
    ) -> tuple[list[Lease], list[QueryShown] | None]:
        """`_take_free`; where others hold all that is left, those who have left hold it no longer.

        Of a study in a database another server may know better who is there.
        """
        try:
            return self._take_free(link, annotator, count, chosen, tab)
        except PairsHeld:
            if not isinstance(self.place, SqliteFile) or not self.study.end_leases_of(self.presence.has_left):
                raise
            return self._take_free(link, annotator, count, chosen, tab)

    def _take_free(
        self, link: str, annotator: str | None, count: int, chosen: Sequence[Offer], tab: str | None
    ) -> tuple[list[Lease], list[QueryShown] | None]:
        """What `Study.take` gives, handed out if it is enough. Who came by a link that holds as many queries as one may
        is given nothing new.

        Raises PoolExhausted, PairsHeld where no pair could be given.
        """
        self._finish_if_met()
        full = self._holdings.full(link, self.study)
        offers = [] if full else [*chosen, *self.prefetcher.offers(annotator)]
        taken = self.study.take(annotator, count, offers, tab=tab)
        self._note_success()
        if not taken and not full:
            self.study.draw(annotator)
        enough = full or len(taken) >= count or (bool(taken) and self.study.are_pairs_scarce(annotator))
        return taken, self._hand_out(link, annotator, taken) if enough else None

    def _take_random(self, annotator: str | None, tab: str | None) -> list[Lease]:
        # One at a time: from the same log everybody would draw the same pair.
        with self._drawing:
            return self.study.take(annotator, 1, [self.study.draw(annotator)], tab=tab)

    def _hand_out(self, link: str, annotator: str | None, queries: Sequence[Lease]) -> list[QueryShown]:
        self._replace(link, annotator, queries)
        return self.queries(queries)

    def answer(
        self,
        query: str,
        answer: Answer | str,
        details: AnswerDetails,
        annotator: str | None,
        *,
        link: str,
        for_others: bool,
        count: int,
        tab: str | None,
    ) -> Answered:
        """Store an answer and take up to `count` queries for the annotator, as far as pairs are ready."""
        self._finish_if_met()
        offers = self.prefetcher.offers(annotator) if count and not self._holdings.full(link, self.study) else []
        answered = self.study.answer(
            query, answer, details, annotator=annotator, for_others=for_others, count=count, offers=offers, tab=tab
        )
        self._note_success()
        if count and answered.refusal is None:
            self._replace(link, annotator, answered.queries)
        self.note_change()
        return answered

    def forecast(self, target: float | None = None) -> Forecast | None:
        """From the newest results, for this target or that of the rules as they are now; None: there are none yet."""
        results = self.prefetcher.results
        return None if results is None else results.forecast.with_target(target or self.study.rules.target)

    @property
    def is_finished(self) -> bool:
        """Whether a rule has finished the study, or will as soon as somebody asks for a pair."""
        return self.study.finished is not None or self._met() is not None

    @property
    def stage(self) -> Stage:
        """As `Study.stage`, with what the newest results say."""
        stage = self.study.stage
        return "finished" if stage == "running" and self.is_finished else stage

    def _met(self) -> Met | None:
        """The rule that the newest results meet."""
        results = self.prefetcher.results
        met = None if results is None else results.met
        return met if met is not None and self.study.still_met(met) else None

    def _finish_if_met(self) -> None:
        """Give out no more pairs where the newest results meet a rule."""
        met = self._met()
        if met is not None and self.study.finished is None:
            self.study.finish(met)

    def _replace(self, link: str, annotator: str | None, queries: Sequence[Lease]) -> None:
        """The annotator holds these queries now; have their next pair chosen."""
        self._holdings.add(link, queries)
        self.prefetcher.took(annotator, [lease.query for lease in queries])
        self.prefetcher.prepare(annotator)

    def queries(self, leases: Sequence[Lease]) -> list[QueryShown]:
        """What a browser gets to see of queries."""
        shown = iter(self.items([item for lease in leases for item in (lease.query.left, lease.query.right)]))
        return [
            QueryShown(
                id=lease.query.id,
                left=next(shown),
                right=next(shown),
                annotator=lease.query.annotator,
                expires_at=lease.expires_at,
                repeat=lease.repeat,
                practice=lease.practice,
                expected=lease.expected,
            )
            for lease in leases
        ]

    def items(self, names: Sequence[str]) -> list[ItemShown]:
        """What a browser gets to see of items; files are addressed by the item's row, so no path leaves the server."""
        if not names:
            return []
        with self.study.unchanged():
            rows = self.study.rows(names)
            content, markdown = self.study.items.content, self.study.rules.markdown
        return [self._item(name, row, content, markdown) for name, row in zip(names, rows, strict=True)]

    def item(self, name: str) -> ItemShown:
        return self.items([name])[0]

    def _item(self, name: str, row: int, content: Mapping[str, Sequence[str | None]], markdown: bool) -> ItemShown:
        values = {kind: column[row] for kind, column in content.items()}
        shown = ItemShown(id=name, text=values.get("text"))
        if markdown and shown.text is not None:
            shown.text_html = rendered(shown.text)
        links = [values.get("link")]
        if links[0] is not None:
            shown.link_kinds.append("link")
        for kind in media.KINDS:
            place = values.get(kind)
            if place is None:
                continue
            if media.is_elsewhere(place) and not place.startswith("data:"):
                links.append(place)
                shown.link_kinds.append(kind)
            else:
                setattr(shown, f"{kind}_url", f"{self._root}/media/{quote(self.name)}/{row}/{kind}")
        if values.get("html") is not None:
            shown.html_url = f"{self._root}/media/{quote(self.name)}/{row}/html"
        if shown.image_url is not None:
            shown.thumbnail_url = f"{self._root}/media/{quote(self.name)}/{row}/thumbnail"
        shown.link = next((link for link in links if link and re.match(r"https?://", link)), None)
        return shown

    async def write(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do what may wait for the file in one of the threads that are for it, so that reading goes on."""
        gone = TryLater("the study is not served at the moment; try again soon")
        try:
            future = self._writers.submit(partial(copy_context().run, work, *arguments))
        except RuntimeError:  # it was archived or deleted, or the server stops
            raise gone from None
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if self._is_closed and future.cancelled():
                raise gone from None
            raise

    def revoke_link(self, name: str) -> Link:
        """Revoke a link. Raises a problem 409 for the last one of an owner that is still valid."""
        with self._revoking:
            owners = [link.id for link in self.study.links() if link.role == "owner" and is_valid(link)]
            if owners == [name]:
                raise Problem(409, "this is the last link of an owner; make another one first, then revoke this one")
            self.study.revoke_link(name)
            return self.study.link(name)

    async def ordering(self) -> Ordering:
        """The ordering of all answers until now. Raises TryLater where it takes too long."""
        self._newest = found = await self._in_time(self.prefetcher.ordering(), "the ordering takes")
        return found

    async def check(self) -> Verdict:
        """Whether the order can be relied on. Raises TryLater where it takes too long."""
        return await self._in_time(self.prefetcher.check(), "the checks take")

    async def report(self) -> str:
        """The report as of now, in HTML: one at a time, in a process that is there for it. Raises TryLater."""
        async with self._reporting:
            executor = self._executor()
            try:
                made = executor.submit(helper.report, self.url, self.folders)
                return await self._in_time(made, "the report takes")
            finally:
                if isinstance(executor, helper.HelperProcess):
                    executor.kill()
                executor.shutdown(wait=False, cancel_futures=True)

    async def _in_time(self, future: Future[T], what: str) -> T:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.results_seconds)
        except TimeoutError:
            raise TryLater(f"{what} longer than usual; try again in a minute") from None

    @property
    def newest_scores(self) -> Mapping[str, float]:
        """The scores of the newest ordering that somebody asked for, by item; empty before the first."""
        found = self._newest
        if found is None:
            return {}
        if self._scores is None or self._scores[0] is not found:
            self._scores = found, dict(zip(found.ids, found.scores.tolist(), strict=True))
        return self._scores[1]

    # Failures ---------------------------------------------------------------------------------------------------------

    def note_failure(self, error: OrdinateError) -> None:
        """Log why the study cannot be used, once until it can be again; the owner's page shows it."""
        before, self._failure = self._current_failure(), Failure(str(error), time.monotonic())
        if before is None or before.reason != self._failure.reason:
            log.error("%s cannot be used: %s", self.place.shown, error)

    def _note_success(self) -> None:
        if self._failure is not None:
            self._failure = None
            log.info("%s can be used again", self.place.shown)

    def _current_failure(self) -> Failure | None:
        failure = self._failure
        return None if failure is None or time.monotonic() - failure.at > FAILURE_SECONDS else failure

    @property
    def problem(self) -> str | None:
        """For the owner: why answers cannot be stored at the moment. It shows no folder of this machine."""
        failure = self._current_failure()
        reason = None if failure is None else failure.reason
        try:
            self.study.require_unmoved()
        except StorageFailed as error:
            reason = str(error)
        if reason is None:
            return None
        return (
            "answers cannot be stored at the moment and wait in the browsers of those who judge: "
            f"{self.without_folders(reason)}"
        )

    @property
    def is_ready(self) -> bool:
        """Whether the study is where it was, and can be reached."""
        try:
            self.study.require_unmoved()
        except StorageFailed:
            return False
        return True

    def without_folders(self, message: str) -> str:
        """The message with files named as seen from the folders that are served."""
        if not isinstance(self.place, SqliteFile):
            message = message.replace(self.place.shown, self.name)
        for folder in (*([self.path.absolute().parent] if isinstance(self.place, SqliteFile) else []), *self.folders):
            message = message.replace(f"{folder}{os.sep}", "").replace(str(folder), "the folder of the study")
        return message

    def close(self) -> None:
        self._is_closed = True
        self._writers.shutdown(wait=False, cancel_futures=True)
        self._closing.close()
