"""A study that is being served: its short name, the study, the pairs chosen ahead, and what of an item may be shown."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

from ordinate.data.comparisons import Answer
from ordinate.errors import BudgetSpent, OrdinateError, PoolExhausted, StudyExists, StudyPaused
from ordinate.server import media
from ordinate.server.prefetcher import Prefetcher
from ordinate.server.schemas import Finished, ItemShown, QueryShown
from ordinate.storage import AnswerDetails
from ordinate.study.leases import Lease
from ordinate.study.questions import Answered
from ordinate.study.rules import PEOPLE, Rules
from ordinate.study.study import Study

ATTEMPTS = 5
"""How many offers may turn out to be taken by others before an annotator gets a random pair."""


def finished(refusal: OrdinateError | None) -> Finished | None:
    """How a page names the reason why an annotator is given nothing more."""
    match refusal:
        case BudgetSpent():
            return "total-budget" if refusal.total else "budget"
        case PoolExhausted():
            return "exhausted"
        case _:
            return None


class ServedStudy:
    def __init__(self, name: str, path: Path, executor: Callable[[], Executor], media_folders: Sequence[Path]) -> None:
        self.name, self.path = name, path
        self.folders = (Path(os.path.realpath(path)).parent, *media_folders)
        url = f"sqlite:///{path}"
        self._closing = ExitStack()
        self.study = self._closing.enter_context(Study.open(url))
        media.require_inside(self.study.items, self.folders)
        self._closing.enter_context(self.study.serving())
        if self.study.rules == Rules():
            self.study.set_rules(**PEOPLE)
        self.prefetcher = Prefetcher(url, executor)
        self._closing.callback(self.prefetcher.close)
        # Whoever comes first need not wait for the first fit.
        self.prefetcher.prepare(None)
        self.prefetcher.answered(self.answers)

    @property
    def answers(self) -> int:
        return sum(self.study.annotators().values())

    def counted(self, annotator: str | None) -> tuple[int, int]:
        """How many answers the annotator has given, and how many there are; results will follow them."""
        counts = self.study.annotators()
        total = sum(counts.values())
        self.prefetcher.answered(total)
        return counts.get(annotator, 0), total

    def give(self, annotator: str | None, count: int, tab: str | None) -> tuple[list[Lease], OrdinateError | None]:
        """The annotator's open queries, topped up to `count`, and the reason where there are none.

        Waits for a pair that is being chosen.
        """
        queries: list[Lease] = []
        try:
            for _ in range(count + ATTEMPTS):
                queries = self.study.take(annotator, count, self.prefetcher.offers(annotator), tab=tab)
                if len(queries) >= count or self.prefetcher.fetch(annotator) is None:
                    break
            for _ in range(ATTEMPTS):
                # Others may take the random pair before this annotator does.
                if queries:
                    break
                queries = self.study.take(annotator, 1, [self.study.draw(annotator)], tab=tab)
            self._replace(annotator, queries)
        except (BudgetSpent, StudyPaused) as error:
            return queries, error
        except PoolExhausted as error:
            # A tab that was closed may hold the last pairs.
            queries = queries or self.study.held(annotator)[:count]
            return queries, None if queries else error
        return queries, None

    def answer(
        self,
        query: str,
        answer: Answer,
        details: AnswerDetails,
        annotator: str | None,
        *,
        for_others: bool,
        count: int,
        tab: str | None,
    ) -> Answered:
        """Store an answer and take up to `count` queries for the annotator, as far as pairs are ready."""
        offers = self.prefetcher.offers(annotator) if count else []
        answered = self.study.answer(
            query, answer, details, annotator=annotator, for_others=for_others, count=count, offers=offers, tab=tab
        )
        if count and answered.refusal is None:
            self._replace(annotator, answered.queries)
        self.prefetcher.answered(answered.total)
        return answered

    def _replace(self, annotator: str | None, queries: Sequence[Lease]) -> None:
        """The annotator holds these queries now; have their next pair chosen."""
        self.prefetcher.used(annotator, [lease.query for lease in queries])
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
            )
            for lease in leases
        ]

    def items(self, names: Sequence[str]) -> list[ItemShown]:
        """What a browser gets to see of items; files are addressed by the item's row, so no path leaves the server."""
        if not names:
            return []
        # In this order: every item that has a row is among the items that are read after it.
        rows = self.study.rows(names)
        content = self.study.items.content
        return [self._item(name, row, content) for name, row in zip(names, rows, strict=True)]

    def item(self, name: str) -> ItemShown:
        return self.items([name])[0]

    def _item(self, name: str, row: int, content: Mapping[str, Sequence[str | None]]) -> ItemShown:
        values = {kind: column[row] for kind, column in content.items()}
        shown = ItemShown(id=name, text=values.get("text"))
        links = [values.get("link")]
        for kind in media.KINDS:
            place = values.get(kind)
            if place is None:
                continue
            if media.is_elsewhere(place) and not place.startswith("data:"):
                links.append(place)
            else:
                setattr(shown, f"{kind}_url", f"/media/{quote(self.name)}/{row}/{kind}")
        shown.link = next((link for link in links if link and re.match(r"https?://", link)), None)
        return shown

    def close(self) -> None:
        self._closing.close()


class StudyRegistry:
    """All studies that one server serves, by name."""

    def __init__(self, executor: Callable[[], Executor], media_folders: Sequence[Path]) -> None:
        self._executor, self._media_folders = executor, media_folders
        self._served: dict[str, ServedStudy] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[ServedStudy]:
        return iter(list(self._served.values()))

    def get(self, name: str) -> ServedStudy | None:
        return self._served.get(name)

    def open(self, path: Path, name: str | None = None) -> ServedStudy:
        """Serve a study. Raises StudyExists where one of that name is served already."""
        with self._lock:
            chosen = name or self._free_name(path)
            if chosen in self._served:
                raise StudyExists(f"a study {chosen!r} is served already; choose another name")
            served = ServedStudy(chosen, path, self._executor, self._media_folders)
            self._served[chosen] = served
            return served

    def close(self) -> None:
        while self._served:
            self._served.popitem()[1].close()

    def _free_name(self, path: Path) -> str:
        name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "study"
        names = [name, *(f"{name}-{number}" for number in range(2, len(self._served) + 3))]
        return next(one for one in names if one not in self._served)
