"""Where a model's pairs come from and its answers go: a study that this process has open, or one on a server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ordinate.client import Client
from ordinate.data.comparisons import Answer
from ordinate.errors import InvalidInput, StorageFailed
from ordinate.judges.prompt import Shown, read_picture
from ordinate.storage import AnswerDetails
from ordinate.study.machines import Machine
from ordinate.study.study import Study

MOST_AT_ONCE = 20
"""A server gives so many pairs at once."""


class Pair(NamedTuple):
    """query        its id; "" for a pair that is only looked at
    left, right  read what the model is shown of the item; pictures take a while
    ties         whether the study takes them
    """

    query: str
    left: Callable[[], Shown]
    right: Callable[[], Shown]
    group: str | None
    question: str
    ties: bool


class Place(Protocol):
    """Items, the question and the rules may change while a model judges, so nothing of them is kept."""

    def register(self, annotator: str, machine: Machine) -> str:
        """Say that this model answers under this name; returns the name as it is stored."""

    def spent(self, annotator: str) -> tuple[int, int]:
        """How many answers it gave so far, and how many tokens they took."""

    def ask(self, annotator: str, count: int) -> list[Pair]:
        """Its open pairs, topped up to `count`. Raises PoolExhausted, BudgetSpent, StudyPaused, AnnotatorExcluded."""

    def takes_ties(self) -> bool: ...

    def tell(self, pair: Pair, answer: Answer, details: AnswerDetails, annotator: str) -> None:
        """It is on disk on return. Raises AlreadyAnswered."""


class InFile:
    """A study in a file or a database; `folder`: where the relative paths of its pictures start."""

    def __init__(self, study: Study, folder: Path) -> None:
        self._study, self._folder = study, folder
        _require_shown(study.items.content)

    def register(self, annotator: str, machine: Machine) -> str:
        return self._study.add_machine(annotator, machine)

    def spent(self, annotator: str) -> tuple[int, int]:
        return self._study.annotators().get(annotator, 0), self._study.tokens(annotator)

    def ask(self, annotator: str, count: int) -> list[Pair]:
        return [self._pair(one.id, one.left, one.right) for one in self._study.ask_model(annotator, count)]

    def look(self, annotator: str) -> Pair:
        """The pair that would come next; nothing is written. Raises PoolExhausted."""
        if held := self._study.held(annotator):
            return self._pair(*held[0].query[:3])
        offer = self._study.choose([annotator])[0]
        if offer is None:
            return self.ask(annotator, 1)[0]  # which says why there is none
        return self._pair("", offer.left, offer.right)

    def takes_ties(self) -> bool:
        return self._study.rules.ties

    def tell(self, pair: Pair, answer: Answer, details: AnswerDetails, annotator: str) -> None:
        self._study.tell(pair.query, answer, details)

    def _pair(self, query: str, left: str, right: str) -> Pair:
        with self._study.unchanged():
            group, row = self._study.items.group, self._study.row(left)
            return Pair(
                query,
                partial(self._shown, left),
                partial(self._shown, right),
                None if group is None else group[row] or None,
                self._study.question,
                self._study.rules.ties,
            )

    def _shown(self, item: str) -> Shown:
        with self._study.unchanged():
            row, content = self._study.row(item), self._study.items.content
        _require_shown(content)
        text = content["text"][row] if "text" in content else None
        place = content["image"][row] if "image" in content else None
        if place is None:
            # As in the terminal and the browser, an id is shown where there is nothing else.
            return Shown(item if text is None else text)
        try:
            return Shown(text, read_picture(place, self._folder))
        except InvalidInput as error:
            raise InvalidInput(f"item {item!r}: {error}") from error


class OnServer:
    """A study on a server, by an owner's link."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._group = self._groups()

    def register(self, annotator: str, machine: Machine) -> str:
        return self._client.add_machine(annotator, **machine._asdict())

    def spent(self, annotator: str) -> tuple[int, int]:
        answers = int(self._client.status(annotator)["your"]["answers"])
        return answers, next(one["tokens"] for one in self._client.machines() if one["annotator"] == annotator)

    def ask(self, annotator: str, count: int) -> list[Pair]:
        given = self._client.ask_shown(annotator, min(count, MOST_AT_ONCE))
        status = self._client.status(annotator)
        if any(one["left"]["id"] not in self._group for one in given):
            self._group = self._groups()
        return [
            Pair(
                one["id"],
                partial(self._shown, one["left"]),
                partial(self._shown, one["right"]),
                self._group[one["left"]["id"]],
                str(status["question"]),
                bool(status["ties_allowed"]),
            )
            for one in given
        ]

    def _groups(self) -> dict[str, str | None]:
        return {one["id"]: one["group"] or None for one in self._client.items()}

    def look(self, annotator: str) -> Pair:
        """The pair that comes next. A server has no other way to name it than to give it: it stays open."""
        return self.ask(annotator, 1)[0]

    def takes_ties(self) -> bool:
        return bool(self._client.status()["ties_allowed"])

    def tell(self, pair: Pair, answer: Answer, details: AnswerDetails, annotator: str) -> None:
        sent = {name: value for name, value in details._asdict().items() if value is not None}
        self._client.tell(pair.query, answer, annotator, **sent)

    def _shown(self, item: dict[str, Any]) -> Shown:
        elsewhere = item["link_kinds"]
        if any(item.get(f"{kind}_url") for kind in ("audio", "video", "html")) or set(elsewhere) - {"image"}:
            raise InvalidInput(f"item {item['id']!r}: {_UNSHOWN}")
        if elsewhere:
            if item.get("link") is None:
                raise InvalidInput(f"item {item['id']!r}: its picture has no address that begins with http")
            return Shown(item.get("text"), item["link"])
        place = item.get("image_url")
        if place is None:
            return Shown(item["id"] if item.get("text") is None else item["text"])
        try:
            return Shown(item.get("text"), self._client.media(place))
        except StorageFailed as error:
            raise InvalidInput(f"the picture of item {item['id']!r} does not come: {error}") from error


_UNSHOWN = "a model judges texts and pictures, not sounds, videos, links or HTML pages"


def _require_shown(content: Any) -> None:
    if kinds := [kind for kind in ("audio", "video", "link", "html") if kind in content]:
        raise InvalidInput(f"the items have a column {kinds[0]}; {_UNSHOWN}")
