"""Output to the terminal: consoles, texts made safe to show, JSON; numbers in words are from `study/words.py`."""

from __future__ import annotations

import json
import math
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ordinate.study.words import connection_in_words as connection_in_words
from ordinate.study.words import count as count
from ordinate.study.words import duration as duration
from ordinate.study.words import error_in_words as error_in_words
from ordinate.study.words import forecast_in_words as forecast_in_words
from ordinate.study.words import grade_in_words as grade_in_words
from ordinate.study.words import percent as percent
from ordinate.study.words import reliability_in_words as reliability_in_words
from ordinate.study.words import rough as rough
from ordinate.study.words import span as span

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


# They change the direction of the text around them, so one text could be made to look like another.
DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# The width of output that goes to no terminal: nothing is wrapped or cut.
ENDLESS = 10_000
FIRST_LINE, NEXT_LINE = 10.0, 30.0
"""Seconds until the first line about progress where there is no terminal, and between two lines."""
ESTIMATE_AFTER = 5.0
"""Seconds of work until the time left is estimated, where less than 2 % are done."""


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
    screen = console()
    if sys.stdout.isatty():
        screen.print(table)
        return
    table.box, table.padding, table.pad_edge = None, (0, 2, 0, 0), False
    with screen.capture() as lines:
        screen.print(table)
    for line in lines.get().splitlines():  # rich fills each up with spaces
        print(line.rstrip())


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


class _Lines:
    """Progress where there is no terminal, as in a log: a line after some seconds, and then every half minute."""

    def __init__(self) -> None:
        self._tasks: list[str] = []
        self._next: dict[int, float] = {}
        self._first: dict[int, tuple[float, float]] = {}

    def add_task(self, description: str, *, total: float | None) -> int:
        self._tasks.append(description)
        self._next[len(self._tasks) - 1] = time.monotonic() + FIRST_LINE
        return len(self._tasks) - 1

    def update(self, task: int, /, *, completed: float, total: float | None) -> None:
        description = self._tasks[task]
        now = time.monotonic()
        # The time left follows from the pace since the first step: what that takes, such as compiling, happens once.
        since, already = self._first.setdefault(task, (now, completed)) if completed else (now, completed)
        if now < self._next[task]:
            return
        self._next[task] = now + NEXT_LINE
        if not total:
            note(f"{description}: {completed:,.0f}")
            return
        left = ""
        known = completed >= 0.02 * total or now - since >= ESTIMATE_AFTER
        if known and already < completed < total:
            left = f", about {duration((now - since) * (total - completed) / (completed - already))} left"
        note(f"{description}: {completed:,.0f} of {total:,.0f} ({100 * completed / total:.0f} %){left}")


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """A progress bar on standard error, or lines now and then if that is not a terminal."""
    screen = console(error=True)
    if not screen.is_terminal:
        yield _Lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen) as bar:
        yield bar
