"""A study that is being served: its short name, the study, the pairs chosen ahead, and what of an item may be shown."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from ordinate.errors import BudgetSpent, PoolExhausted, StudyExists, StudyPaused
from ordinate.server import media
from ordinate.server.prefetcher import Prefetcher
from ordinate.server.schemas import Finished, ItemShown, QueryShown
from ordinate.study.leases import Lease
from ordinate.study.rules import PEOPLE, Rules
from ordinate.study.study import Study

ATTEMPTS = 5
"""How many offers may turn out to be taken by others before an annotator gets a random pair."""


class Given(NamedTuple):
    """What an annotator got, and why it is not more."""

    queries: list[Lease]
    finished: Finished | None = None
    paused: bool = False


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

    def give(self, annotator: str | None, count: int, tab: str | None, *, wait: bool = True) -> Given:
        """The annotator's open queries, topped up to `count`; without `wait` only as far as pairs are ready."""
        queries: list[Lease] = []
        try:
            for _ in range(count + ATTEMPTS):
                queries = self.study.take(annotator, count, self.prefetcher.offers(annotator), tab=tab)
                if len(queries) >= count or not wait:
                    break
                if self.prefetcher.fetch(annotator) is None:
                    break
            if wait and not queries:
                queries = self.study.take(annotator, 1, [self.study.draw(annotator)], tab=tab)
            self.prefetcher.used(annotator, [lease.query for lease in queries])
            self.prefetcher.prepare(annotator)
        except BudgetSpent as error:
            return Given(queries, "total-budget" if error.total else "budget")
        except StudyPaused:
            return Given(queries, paused=True)
        except PoolExhausted:
            # A tab that was closed may hold the last pairs.
            queries = queries or self.study.held(annotator)[:count]
            return Given(queries, None if queries else "exhausted")
        return Given(queries)

    def shown(self, lease: Lease) -> QueryShown:
        query = lease.query
        return QueryShown(
            id=query.id,
            left=self.item(query.left),
            right=self.item(query.right),
            annotator=query.annotator,
            expires_at=lease.expires_at,
            repeat=lease.repeat,
        )

    def item(self, name: str) -> ItemShown:
        """What a browser gets to see of an item; its files by the item's row, so that no path leaves the server."""
        items = self.study.items
        row = self.study.row(name)
        content = {kind: values[row] for kind, values in items.content.items()}
        shown = ItemShown(id=name, text=content.get("text"))
        links = [content.get("link")]
        for kind in media.KINDS:
            place = content.get(kind)
            if place is None:
                continue
            if media.is_elsewhere(place) and not place.startswith("data:"):
                links.append(place)
            else:
                setattr(shown, f"{kind}_url", f"/media/{quote(self.name)}/{row}/{kind}")
        if shown.image_url is not None:
            shown.thumbnail_url = f"/media/{quote(self.name)}/{row}/thumbnail"
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
