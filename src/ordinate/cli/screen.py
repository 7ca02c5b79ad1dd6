"""Output to the terminal: consoles, texts made safe to show, JSON; numbers in words are from `study/words.py`."""

from __future__ import annotations

import json
import math
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol

from ordinate.study.words import connection_in_words as connection_in_words
from ordinate.study.words import count as count
from ordinate.study.words import duration as duration
from ordinate.study.words import error_in_short as error_in_short
from ordinate.study.words import error_in_words as error_in_words
from ordinate.study.words import forecast_in_words as forecast_in_words
from ordinate.study.words import grade_in_words as grade_in_words
from ordinate.study.words import percent as percent
from ordinate.study.words import reliability_in_words as reliability_in_words
from ordinate.study.words import rough as rough
from ordinate.study.words import share_in_words as share_in_words
from ordinate.study.words import span as span

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table


# They change the direction of the text around them, so one text could be made to look like another.
DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# The width of output that goes to no terminal: nothing is wrapped or cut.
ENDLESS = 10_000
FIRST_LINE, NEXT_LINE = 10.0, 30.0
"""Seconds until the first line about progress where there is no terminal, and between two lines."""
STEADY = 2.0
"""The time left is said where the paces of the last two quarters of the time so far differ by a smaller factor."""
ENOUGH_STEPS, ENOUGH_SHARE = 20.0, 0.05
"""And where so many steps, or so large a share of them all, were done in each: every one of a few may have compiled."""
SETTLED_SECONDS, SETTLED_SHARE = 60.0, 0.1
"""And after so long, or once such a share is done: compiling can look like a slow, steady pace on a busy machine."""


def visible(text: str) -> str:
    """The text with escape sequences and control characters, which would control the terminal, shown as `\\x1b`."""
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if character != "\n" and (unicodedata.category(character) in ("Cc", "Cs") or character in DIRECTION_MARKS)
        else character
        for character in text.replace("\r\n", "\n").replace("\t", "    ")
    )


def one_line(text: str) -> str:
    """`visible`, on one line."""
    return visible(" ".join(text.splitlines()))


def console(*, error: bool = False) -> Console:
    """A console on standard output (or error) that prints texts literally, without markup or emoji codes."""
    from rich.console import Console

    # Made for each use: the streams may have been replaced meanwhile (by a test, by a pager).
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else ENDLESS
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def print_table(table: Table) -> None:
    """A table on standard output; where that is no terminal, without lines, so that other programs can read it."""
    if sys.stdout.isatty():
        console().print(table)
        return
    for line in plain_lines(table):
        print(line)


def plain_lines(table: Table) -> Iterator[str]:
    """A table of texts as lines of columns two spaces apart: what rich makes of it, in a thirtieth of its time."""
    from rich.cells import cell_len
    from rich.text import Text

    def shown(cell: str, most: int | None) -> list[str]:
        if most is None or cell_len(cell) <= most:
            return cell.split("\n")
        text = Text(cell)
        text.truncate(most, overflow="ellipsis")
        return [text.plain]

    if table.title is not None:
        yield str(table.title)
    columns = []
    for column in table.columns:
        cells = [shown(str(cell), column.max_width) for cell in column.cells]
        columns.append([*([str(column.header).split("\n")] if table.show_header else []), *cells])
    widths = [max((cell_len(line) for cell in cells for line in cell), default=0) for cells in columns]
    to_the_right = [column.justify == "right" for column in table.columns]
    for row in zip(*columns, strict=True):
        for parts in zip_longest(*row, fillvalue=""):
            padded = [
                " " * (width - cell_len(part)) + part if right else part + " " * (width - cell_len(part))
                for part, width, right in zip(parts, widths, to_the_right, strict=True)
            ]
            yield "  ".join(padded).rstrip()


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first few names, and how many more there are: a table of many must fit a line."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f", and {more:,} more (all of them: --json)" if more > 0 else "")


def say(text: str = "") -> None:
    """A line on standard output."""
    print(visible(text))


def note(text: str) -> None:
    """A line on standard error, for people: scripts read standard output."""
    print(visible(text), file=sys.stderr)


def print_json(value: Any) -> None:
    """One JSON document, in ASCII so that any encoding works. Infinite numbers and NaN become null."""
    print(json.dumps(_finite(value), indent=2, default=_plain))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value


def _plain(value: Any) -> Any:
    """A NumPy number or a path as a JSON value."""
    return value.item() if hasattr(value, "item") else str(value)


class Bar(Protocol):
    """Progress of several tasks."""

    def add_task(self, description: str, *, total: float | None) -> Any: ...
    def update(self, task: Any, /, *, completed: float, total: float | None) -> None: ...


class Pace:
    """How much of a task was done when, and the time left, once that can be known.

    Compiling takes seconds and happens once, before the first steps and between some of them. So the pace is that of
    the last half of the time since the first step, and it is known only if that half was steady.
    """

    _MARKS = 64

    def __init__(self) -> None:
        self._marks: list[tuple[float, float]] = []
        self._apart = 0.0

    def seconds_left(self, completed: float, total: float | None) -> float | None:
        """Call it with each step; None: not known."""
        now = time.monotonic()
        if not self._marks or now - self._marks[-1][0] >= self._apart:
            self._marks.append((now, completed))
        if len(self._marks) > self._MARKS:
            self._marks = self._marks[::2]
            self._apart = (now - self._marks[0][0]) / self._MARKS
        if not total or completed >= total:
            return None
        begun = self._marks[0][0]
        if now - begun < SETTLED_SECONDS and completed < SETTLED_SHARE * total:
            return None
        (half, at_half), (later, at_later) = (
            min(self._marks, key=lambda mark: abs(mark[0] - begun - share * (now - begun))) for share in (0.5, 0.75)
        )
        enough = min(ENOUGH_STEPS, ENOUGH_SHARE * total)
        if not half < later < now or min(at_later - at_half, completed - at_later) < enough:
            return None
        before, since = (at_later - at_half) / (later - half), (completed - at_later) / (now - later)
        if not 1.0 / STEADY < since / before < STEADY:
            return None
        return (total - completed) * (now - half) / (completed - at_half)

    def time_left(self, completed: float, total: float | None) -> str:
        """The same in words, or nothing."""
        seconds = self.seconds_left(completed, total)
        if seconds is None:
            return ""
        return "less than a minute left" if seconds < 60.0 else f"about {duration(seconds)} left"


class _Lines:
    """Progress where there is no terminal, as in a log: a line after some seconds, and then every half minute."""

    def __init__(self) -> None:
        self._tasks: list[str] = []
        self._next: dict[int, float] = {}
        self._paces: dict[int, Pace] = {}

    def add_task(self, description: str, *, total: float | None) -> int:
        self._tasks.append(description)
        task = len(self._tasks) - 1
        self._next[task] = time.monotonic() + FIRST_LINE
        self._paces[task] = Pace()
        return task

    def update(self, task: int, /, *, completed: float, total: float | None) -> None:
        description = self._tasks[task]
        left = self._paces[task].time_left(completed, total)
        now = time.monotonic()
        if now < self._next[task]:
            return
        self._next[task] = now + NEXT_LINE
        if not total:
            note(f"{description}: {completed:,.0f}")
            return
        share = f"{100 * completed / total:.0f} %"
        note(f"{description}: {completed:,.0f} of {total:,.0f} ({share})" + (f", {left}" if left else ""))


class _Bars:
    """Progress in a terminal: a bar for each task."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._paces: dict[int, Pace] = {}

    def add_task(self, description: str, *, total: float | None) -> int:
        task = self._bars.add_task(description, total=total, left="")
        self._paces[task] = Pace()
        return task

    def update(self, task: Any, /, *, completed: float, total: float | None) -> None:
        left = self._paces[task].time_left(completed, total)
        self._bars.update(task, completed=completed, total=total, left=left)


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """A progress bar on standard error, or lines now and then if that is not a terminal."""
    screen = console(error=True)
    if not screen.is_terminal:
        yield _Lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    what, left = (TextColumn(f"{{task.{field}}}", markup=False) for field in ("description", "fields[left]"))
    with Progress(what, BarColumn(), MofNCompleteColumn(), left, console=screen) as bars:
        yield _Bars(bars)
