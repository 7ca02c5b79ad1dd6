"""What reaches the terminal: consoles, texts made safe to show, JSON, and numbers in words."""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

# They turn the direction of the text around them, so a text could pose as another.
DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# A terminal that is not there wraps nothing and cuts nothing.
ENDLESS = 10_000


def visible(text: str) -> str:
    """The text with what would steer a terminal (escape sequences, control characters) written out as `\\x1b`."""
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
    """A console on standard output (or error) that takes texts as they are: no markup, no emoji codes."""
    from rich.console import Console

    # Made at each use: the streams may have been replaced since (by a test, by a pager).
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else ENDLESS
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def say(text: str = "") -> None:
    """A line on standard output."""
    print(visible(text))


def note(text: str) -> None:
    """A line on standard error: for people, beside the output that a script reads."""
    print(visible(text), file=sys.stderr)


def print_json(value: Any) -> None:
    """One JSON document; ASCII, so that it survives every encoding; numbers that JSON lacks become null."""
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
    """A NumPy number, or a path, as JSON has it."""
    return value.item() if hasattr(value, "item") else str(value)


def progress_bar() -> Progress:
    """A progress bar on standard error; silent when that is no terminal."""
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
        return f"{percent(error)}: hardly better than a random order yet"
    if error < 0.0005:
        return f"{percent(error)}: hardly a pair is likely to be in the wrong order"
    if error > 0.3:
        # Of 1 in 3 and 1 in 2 neither is near 0.4.
        return f"{percent(error)}: about {round(10 * error)} in 10 pairs are likely to be in the wrong order"
    return f"{percent(error)}: about 1 in {round(1 / error)} pairs is likely to be in the wrong order"


def count(number: int, singular: str, plural: str = "") -> str:
    """ "1 item", "2 items"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def expected_error_in_words(error: float) -> str:
    """`error_in_words` of an expectation, with what it presumes: people who answer blindly make it too small."""
    words = error_in_words(error)
    return f"{words}, if people answered sensibly" if error <= 0.45 else words
