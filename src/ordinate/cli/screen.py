"""Output to the terminal: consoles, texts made safe to show, JSON, and numbers in words."""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from ordinate.study.inference import Reliability

# They change the direction of the text around them, so one text could be made to look like another.
DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# The width of output that goes to no terminal: nothing is wrapped or cut.
ENDLESS = 10_000


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


def progress_bar() -> Progress:
    """A progress bar on standard error; it shows nothing if that is not a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = console(error=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        disable=not screen.is_terminal,
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def error_in_words(error: float) -> str:
    """An expected ordering error for a person: 0.08 is "about 1 in 12 pairs ..."."""
    if math.isnan(error):
        return "unknown: there is no pair to compare"
    if error > 0.45:
        return f"{percent(error)}: not much better than a random order yet"
    if error < 0.0005:
        return f"{percent(error)}: almost no pair is likely to be in the wrong order"
    if error > 0.3:
        # 0.4 is neither near 1 in 3 nor near 1 in 2.
        return f"{percent(error)}: about {round(10 * error)} in 10 pairs are likely to be in the wrong order"
    return f"{percent(error)}: about 1 in {round(1 / error)} pairs is likely to be in the wrong order"


def span(low: int, high: int) -> str:
    """ "3", "3 to 7"."""
    return str(low) if low == high else f"{low} to {high}"


def count(number: int, singular: str, plural: str = "") -> str:
    """ "1 item", "2 items"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def reliability_in_words(reliability: Reliability) -> str:
    """The expected error for a person, with what it presumes: people who answer blindly make it too small."""
    tested, error = reliability
    words = error_in_words(error)
    if tested is False:
        return f"unknown: the answers cannot be told from coin tosses yet (if people answered sensibly, {words})"
    return f"{words}, if people answered sensibly" if tested is None and error <= 0.45 else words
