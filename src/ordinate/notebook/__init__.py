"""Judge pairs of a study in a notebook. An answer is stored in the study before the next pair is shown.

    >>> from ordinate.notebook import judge
    >>> judge(study, annotator="ada")                                            # doctest: +SKIP

Studies, orderings and items show themselves as tables, and `ordinate.plots` draws figures; both need no extra.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordinate.data.embedded_pictures import embedded
from ordinate.data.media import is_address
from ordinate.errors import InvalidInput, MissingExtra, OrdinateError

if TYPE_CHECKING:
    from ordinate.data.comparisons import Query
    from ordinate.study.study import Study

_PICTURE = 1200
"""Pixels of the longer side at most."""


def judge(study: Study, annotator: str | None = None) -> Any:
    """A widget that asks one question after another; its `study` is the one given.

    Keys, as on the judging page: arrows choose, Space is a tie, S skips, U takes the newest answer back. Where the
    study asks how much better the chosen item is, 4 to 7 are left, much and slightly, and right, slightly and much.
    Texts and pictures are shown, pictures from the folder of the study's file; in place of one that cannot be shown, it
    says why. Sounds, videos and HTML pages are refused.
    """
    if {"audio", "video", "html"} & study.items.content.keys():
        raise InvalidInput("sounds, videos and HTML pages are judged in the browser: ordinate serve STUDY.db")
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtra("anywidget", "notebook", "judging in a notebook") from None

    class Judge(anywidget.AnyWidget):
        """Sends the state of the judging page, a dict, and receives what the annotator does."""

        _esm = Path(__file__).with_name("judge.js")
        state = traitlets.Dict().tag(sync=True)

        def __init__(self) -> None:
            super().__init__()
            self.study = study
            self._query: Query | None = None
            self._said = 0
            self.on_msg(self._receive)
            self._show("")

        def _receive(self, _widget: object, message: dict[str, Any], _buffers: object) -> None:
            query, told = self._query, ""
            try:
                if message.get("do") == "undo":
                    self.study.undo(annotator)
                    told = "The newest answer is taken back."
                elif query is not None and message.get("query") == query.id:
                    # An answer to another pair was pressed before this one was shown; it must not count for this one.
                    self.study.tell(query.id, str(message.get("do")))
                    told = self._expected(query.id)
            except OrdinateError as error:
                told = str(error)
            self._show(told)

        def _expected(self, query_id: str) -> str:
            """What is said after the answer to a practice pair."""
            expected = self.study.expected(query_id) if self.study.is_practice(query_id) else None
            return "" if expected is None else f"The owner expects {'a tie' if expected == 'tie' else expected}."

        def _show(self, told: str) -> None:
            """Set what the page shows; the number makes each message a change."""
            self._said += 1
            try:
                self._query = self.study.ask(annotator)
            except OrdinateError as error:
                self._query, told = None, f"{told} {error}".strip()
            answers = self.study.annotators().get(self.study.name_of(annotator), 0)
            skips = self.study.skips(annotator)
            counts = {"answers": answers, "skips": skips, "number": self._said}
            shown = {"question": self.study.question, "said": told, **counts}
            rules = self.study.rules
            pair = None
            if self._query is not None:
                left, right = (_item(self.study, one) for one in (self._query.left, self._query.right))
                pair = {"query": self._query.id, "left": left, "right": right}
                if self.study.is_practice(self._query.id):
                    shown["said"] = f"{told} Practice: this pair does not count.".strip()
            self.state = shown | {"pair": pair, "ties": rules.ties, "strengths": rules.strengths}

    return Judge()


def _item(study: Study, name: str) -> dict[str, str]:
    """The id, and the text and the picture where there are such."""
    row = study.row(name)
    shown = {"id": name}
    content = {kind: values[row] for kind, values in study.items.content.items()}
    if text := content.get("text"):
        shown["text"] = text
    if place := content.get("image"):
        folder = study.folder or Path.cwd()
        picture = embedded(place, [folder], _PICTURE)
        if picture is None:
            shown["text"] = "\n\n".join(filter(None, [_not_shown(place, folder), content.get("text")]))
        else:
            shown["image"] = picture
    return shown


def _not_shown(place: str, folder: Path) -> str:
    if place.startswith("data:"):
        return "The picture in the table of items cannot be read."
    if is_address(place):
        return f"The picture {place} is on the web and is not fetched here; see it with: ordinate serve STUDY.db"
    return f"The picture {place} cannot be shown: there is no such picture in {folder}."
