"""`ordinate annotate`: answer questions in the terminal, one key each."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli import media
from ordinate.cli.answering import item_contents
from ordinate.cli.keys import END, LEFT, RIGHT, Keys, open_keys
from ordinate.cli.options import Annotator, StudyFile, open_study
from ordinate.cli.screen import console, count, error_in_short, note, reliability_in_words, visible
from ordinate.errors import (
    AlreadyAnswered,
    AnnotatorExcluded,
    BudgetSpent,
    InvalidInput,
    NothingToUndo,
    PoolExhausted,
    StudyPaused,
)

if TYPE_CHECKING:
    from rich.panel import Panel

    from ordinate.data.comparisons import Answer, Query
    from ordinate.study.study import Study

ANSWER_KEYS: dict[str, Answer] = {LEFT: "left", "1": "left", RIGHT: "right", "2": "right", "s": "skip"}
TIE_KEYS: dict[str, Answer] = {"t": "tie"}
# The same as on the judging page.
STRENGTH_KEYS: dict[str, Answer] = {"4": "left-much", "5": "left-slightly", "6": "right-slightly", "7": "right-much"}
LEGEND = "← or 1 left   → or 2 right   {strengths}{tie}s skip   u undo   {open}q quit"
STRENGTHS = "4 left, much better   5 left, slightly   6 right, slightly   7 right, much   "
TIE = "t tie   "
SIGNS = {"left": "← left", "right": "→ right", "tie": "= tie", "skip": "skipped"}
OPEN = "o open images   "
# Two texts side by side need about this many columns to read well.
SIDE_BY_SIDE = 80
PIPED_WIDTH = 80
# The expected error is computed after every answer if that takes less than QUICK seconds, otherwise after every tenth.
QUICK = 0.2
EVERY_TENTH = 10


def annotate(
    study: StudyFile,
    annotator: Annotator = None,
    after_models: Annotated[
        bool | None,
        typer.Option(
            "--after-models/--no-after-models",
            help="First ask everybody about pairs of which models are unsure, and one in five to check the models.",
        ),
    ] = None,
) -> None:
    """Answer questions in this terminal with one key each.

    Keys: left arrow or 1 for the left item, right arrow or 2 for the right one, t for a tie, s to skip, u to take
    back the last answer, o to open the images (or links) again, q to quit. Where the study asks how much better the
    chosen item is: 4 left, much; 5 left, slightly; 6 right, slightly; 7 right, much. Each answer is stored at once.
    So is --after-models, as a rule of the study that holds for everybody until it is changed.
    """
    with open_study(study) as opened, open_keys() as keys, ExitStack() as at_the_end:
        if after_models is not None:
            opened.set_rules(after_models=after_models)
        _Session(opened, study, annotator, keys, at_the_end).run()


class _Session:
    """One person at one terminal, from the first question to the last."""

    def __init__(self, study: Study, address: str, annotator: str | None, keys: Keys, at_the_end: ExitStack) -> None:
        self._study = study
        self._address = address
        self._annotator = annotator
        self._keys = keys
        self._at_the_end = at_the_end
        self._contents = item_contents(study.items)
        self._folder = media.study_folder(address)
        self._viewer = media.has_viewer()
        self._screen = console()
        self._told: list[Answer] = []
        self._notice = ""
        self._first_error = self._error = self._look_up_error()
        # The first one also loads what later ones need, so its time says nothing about theirs.
        self._lookup_seconds = 0.0

    def run(self) -> None:
        if "html" in self._study.items.content:
            note(f"A terminal shows the source of HTML pages; see them with: ordinate serve {quote(self._address)}")
        while True:
            try:
                query = self._study.ask(self._annotator)
            except (AnnotatorExcluded, BudgetSpent, PoolExhausted, StudyPaused) as error:
                self._screen.print(visible(str(error)))
                break
            if not self._put(query):
                break
        reliability, answers = self._study.reliability(), len(self._study.comparisons())
        self._screen.print(
            f"You gave {count(self._given, 'answer')}. Expected error {reliability_in_words(reliability, answers)}.\n"
            f"See the ordering: ordinate order {visible(quote(self._address))}"
        )

    def _put(self, query: Query) -> bool:
        """Show a question and read keys until it is answered. False: the annotator wants to stop."""
        if self._screen.is_terminal:
            self._screen.clear()
        self._show(query)
        if self._viewer and self._pictures(query):
            self._open(query)
        while True:
            key = self._keys.read()
            key = key.lower() if len(key) == 1 else key
            if key in ("q", END):
                return False
            if (answer := self._answer_keys.get(key)) is not None:
                self._answer(query, answer)
                return True
            if key == "u":
                if self._undo():
                    return True
            elif key == "o":
                self._open(query)
            else:
                self._screen.print(f"Keys: {self._legend(query)}")

    def _answer(self, query: Query, answer: Answer) -> None:
        try:
            self._study.tell(query.id, answer)
        except AlreadyAnswered:
            self._notice = "That question was answered elsewhere. Here is the next one."
            return
        except InvalidInput as error:  # the rules have changed since the question was put
            self._notice = visible(f"Not stored: {error}.")
            return
        side, _, strength = answer.partition("-")
        self._notice = f"{SIGNS[side]}, {strength} better" if strength else SIGNS[side]
        if self._study.is_practice(query.id):
            if (expected := self._study.expected(query.id)) is not None:
                self._notice += f". The owner expects {'a tie' if expected == 'tie' else expected}."
        else:
            self._told.append(answer)
        if self._lookup_seconds < QUICK or self._given % EVERY_TENTH == 0:
            self._error = self._look_up_error()

    def _undo(self) -> bool:
        try:
            self._study.undo(self._annotator)
        except NothingToUndo as error:
            self._screen.print(visible(str(error)))
            return False
        # The answer may be from an earlier session; then there is none to remove.
        del self._told[-1:]
        self._notice = "Answer taken back. Here is the question again."
        self._error = self._look_up_error()
        return True

    @property
    def _given(self) -> int:
        return sum(answer != "skip" for answer in self._told)

    def _look_up_error(self) -> str:
        start = time.perf_counter()
        error = error_in_short(self._study.reliability())
        self._lookup_seconds = time.perf_counter() - start
        return error

    def _show(self, query: Query) -> None:
        from rich.table import Table

        if self._study.is_practice(query.id):
            self._screen.print("Practice: this answer does not count.", style="bold")
        line = f"{count(self._given, 'answer')} from you now · expected error {self._error}"
        if self._first_error != self._error:
            line += f" ({self._first_error} when you began)"
        self._screen.print(f"{self._notice}\n" if self._notice else "", style="dim", end="")
        self._screen.print(line, style="dim")
        self._screen.print(visible(self._study.question), style="bold")
        left, right = self._panel(query.left, "← 1"), self._panel(query.right, "2 →")
        width = self._screen.width if self._screen.is_terminal else PIPED_WIDTH
        if width >= SIDE_BY_SIDE:
            grid = Table.grid(expand=True, padding=(0, 1))
            grid.add_column(ratio=1)
            grid.add_column(ratio=1)
            grid.add_row(left, right)
            self._screen.print(grid, width=width)
        else:
            self._screen.print(left, width=width)
            self._screen.print(right, width=width)
        self._screen.print(self._legend(query), style="dim")
        self._notice = ""

    def _content(self, name: str) -> dict[str, str]:
        if name not in self._contents:  # it was added meanwhile
            self._contents = item_contents(self._study.items)
        return self._contents[name]

    def _panel(self, name: str, title: str) -> Panel:
        from rich.panel import Panel
        from rich.text import Text

        shown = self._content(name)
        lines = [
            visible(value if kind in ("text", "link", "html") else media.resolved(value, self._folder))
            for kind, value in shown.items()
        ]
        # An id may give the answer away ("good-17"), so it is shown only if there is nothing else to show.
        return Panel(Text("\n".join(lines) if lines else visible(name), overflow="fold"), title=title, expand=True)

    @property
    def _answer_keys(self) -> dict[str, Answer]:
        rules = self._study.rules
        return ANSWER_KEYS | (TIE_KEYS if rules.ties else {}) | (STRENGTH_KEYS if rules.strengths else {})

    def _legend(self, query: Query) -> str:
        rules = self._study.rules
        return LEGEND.format(
            strengths=STRENGTHS if rules.strengths else "",
            tie=TIE if rules.ties else "",
            open=OPEN if self._places(query) else "",
        )

    def _places(self, query: Query) -> list[str]:
        """The files and links of the two items that another program can show."""
        return [
            media.resolved(shown[kind], self._folder)
            for shown in (self._content(query.left), self._content(query.right))
            for kind in ("image", "audio", "video", "link")
            if kind in shown
        ]

    def _pictures(self, query: Query) -> bool:
        return any("image" in self._content(name) for name in (query.left, query.right))

    @cached_property
    def _scratch(self) -> Path:
        """A folder for pictures that a viewer shows."""
        return Path(self._at_the_end.enter_context(TemporaryDirectory(prefix="ordinate-")))

    def _open(self, query: Query) -> None:
        places = self._places(query)
        if not places:
            problem: str | None = "These items have no image, sound, video or link to open."
        elif not self._viewer:
            problem = "This terminal cannot open a viewer. The files and links are:\n" + "\n".join(places)
        else:
            problem = media.open_outside(places, self._scratch)
        if problem is not None:
            self._screen.print(visible(problem))
