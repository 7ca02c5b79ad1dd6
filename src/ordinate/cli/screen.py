"""Output to the terminal: consoles, texts made safe to show, JSON, and numbers in words."""

from __future__ import annotations

import json
import math
import sys
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console

    from ordinate.learning.forecast import Forecast
    from ordinate.study.inference import Reliability

# They change the direction of the text around them, so one text could be made to look like another.
DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# The width of output that goes to no terminal: nothing is wrapped or cut.
ENDLESS = 10_000
_ENDLESS_ANSWERS = 1e6
FIRST_LINE, NEXT_LINE = 10.0, 30.0
"""Seconds until the first line about progress where there is no terminal, and between two lines."""


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
        self._tasks: list[tuple[str, float]] = []
        self._next: dict[int, float] = {}

    def add_task(self, description: str, *, total: float | None) -> int:
        begun = time.monotonic()
        self._tasks.append((description, begun))
        self._next[len(self._tasks) - 1] = begun + FIRST_LINE
        return len(self._tasks) - 1

    def update(self, task: int, /, *, completed: float, total: float | None) -> None:
        description, begun = self._tasks[task]
        now = time.monotonic()
        if now < self._next[task]:
            return
        self._next[task] = now + NEXT_LINE
        if not total:
            note(f"{description}: {completed:,.0f}")
            return
        left = ""
        if 0 < completed < total:
            left = f", about {duration((now - begun) * (total - completed) / completed)} left"
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


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def error_in_words(error: float, within: tuple[float, float] | None = None) -> str:
    """An expected ordering error for a person, perhaps with its interval: 0.08 is "about 1 in 12 pairs ..."."""
    if math.isnan(error):
        return "unknown: there is no pair to compare"
    shown = percent(error)
    if within is not None and error >= 0.0005:
        shown += f" ({100 * within[0]:.1f} to {percent(within[1])})"
    if error > 0.45:
        return f"{shown}: not much better than a random order yet"
    if error < 0.0005:
        return f"{shown}: almost no pair is likely to be in the wrong order"
    if error > 0.3:
        # 0.4 is neither near 1 in 3 nor near 1 in 2.
        return f"{shown}: about {round(10 * error)} in 10 pairs are likely to be in the wrong order"
    return f"{shown}: about 1 in {round(1 / error)} pairs is likely to be in the wrong order"


def span(low: int, high: int) -> str:
    """ "3", "3 to 7"."""
    return str(low) if low == high else f"{low} to {high}"


def count(number: int, singular: str, plural: str = "") -> str:
    """ "1 item", "2 items"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def forecast_in_words(forecast: Forecast) -> str:
    """ "10 % after about 400 more answers (280 to 560), about 2 hours at the pace of the newest answers"."""
    more, seconds, target = forecast.more_answers, forecast.seconds, f"{100 * forecast.target:g} %"
    if more is None:
        return f"unknown: {forecast.withheld}"
    if more.estimate == 0.0:
        return f"{target} is reached" if more.high < 1.0 else f"{target} is reached, or after {rough(more.high)} more"
    presumed = ", if people answered sensibly" if forecast.presumes_sense else ""
    if more.estimate > _ENDLESS_ANSWERS:
        return f"{target} after more than a million more answers{presumed}"
    answers = f"about {rough(more.estimate)} more answers ({rough(more.low)} to {rough(more.high)})"
    pace = "" if seconds is None else f", about {duration(seconds.estimate)} at the pace of the newest answers"
    return f"{target} after {answers}{pace}{presumed}"


def grade_in_words(grade: Mapping[str, Any]) -> str:
    """ "Grade 1 (ranks 1 to 10): about 2 of 10 items belong elsewhere (0 to 4)"."""
    items = grade["items"]
    ranks = f"ranks {grade['first']:,} to {grade['last']:,}" if grade["last"] else f"ranks from {grade['first']:,} on"
    about, low, high = (items * grade[name] for name in ("misplaced", "misplaced_low", "misplaced_high"))
    return (
        f"Grade {grade['grade']} ({ranks}): about {about:.0f} of {count(items, 'item')} belong elsewhere "
        f"({low:.0f} to {high:.0f})."
    )


def rough(number: float) -> str:
    """Two digits, and no more than a million: "420", "1,300", "more than a million"."""
    if number > _ENDLESS_ANSWERS:
        return "more than a million"
    return f"{float(f'{number:.2g}'):,.0f}"


def duration(seconds: float) -> str:
    """ "3 minutes", "2 hours", "5 days": hours of work, so a day has 24 of them."""
    for unit, size in (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 1.5 * size or unit == "minute":
            return count(max(round(seconds / size), 1), unit)
    raise AssertionError


def reliability_in_words(reliability: Reliability) -> str:
    """The expected error for a person, with what it presumes: people who answer blindly make it too small."""
    tested, error = reliability.better_than_coins, reliability.expected_error
    words = error_in_words(error, (reliability.error_low, reliability.error_high))
    if tested is False:
        return f"unknown: the answers cannot be told from coin tosses yet (if people answered sensibly, {words})"
    return f"{words}, if people answered sensibly" if tested is None and error <= 0.45 else words
