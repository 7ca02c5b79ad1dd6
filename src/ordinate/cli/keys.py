"""Single keys from the terminal, without Enter; from a pipe, one character is one key."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

LEFT, RIGHT = "<left>", "<right>"
END = ""
# A terminal sends an arrow as an escape sequence, with `[` or, in application mode, `O`.
ARROWS = {"\x1b[D": LEFT, "\x1b[C": RIGHT, "\x1bOD": LEFT, "\x1bOC": RIGHT}
# How long the rest of a sequence may arrive after its escape character (on a slow connection), in seconds.
SEQUENCE_TIMEOUT = 0.1


class Keys(Protocol):
    def read(self) -> str:
        """The next key: a character, LEFT, RIGHT, another whole escape sequence, or END when the input has ended."""


@contextmanager
def open_keys() -> Iterator[Keys]:
    """The keys of this process. Restores the state of the terminal afterwards."""
    if not sys.stdin.isatty():
        yield _PipedKeys()
    elif sys.platform == "win32":
        yield _WindowsKeys()
    else:
        import signal
        import termios
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        # A shell that let it go on after Ctrl-Z has set the terminal its own way.
        continued = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(terminal))
        try:
            # Like raw mode, but Ctrl-C still interrupts. Set once, so keys typed early are kept and not echoed.
            tty.setcbreak(terminal)
            yield _TerminalKeys(terminal)
        finally:
            signal.signal(signal.SIGCONT, continued)
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


class _PipedKeys:
    def read(self) -> str:
        while (key := sys.stdin.read(1)) in ("\n", "\r"):
            pass
        if key == "\x1b":
            key += sys.stdin.read(2)
        return ARROWS.get(key, key)


class _TerminalKeys:
    def __init__(self, terminal: int) -> None:
        self._terminal = terminal

    def read(self) -> str:
        first = self._byte()
        if first == b"\x1b":
            return self._sequence()
        if first in (b"", b"\x04"):
            return END
        # The remaining bytes of a character of several bytes in UTF-8 follow at once.
        lead = first[0]
        rest = 0 if lead < 0xC0 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        return b"".join([first, *(self._byte() for _ in range(rest))]).decode("utf-8", "replace")

    def _sequence(self) -> str:
        import select

        read = b"\x1b"
        while select.select([self._terminal], [], [], SEQUENCE_TIMEOUT)[0]:
            byte = self._byte()
            read += byte
            # `ESC [` or `ESC O`, then parameters, then one final character from @ to ~.
            if not byte or (len(read) > 2 and 0x40 <= byte[0] <= 0x7E) or (len(read) == 2 and byte not in b"[O"):
                break
        key = read.decode("ascii", "replace")
        return ARROWS.get(key, key)

    def _byte(self) -> bytes:
        try:
            return os.read(self._terminal, 1)
        except OSError:  # The terminal has gone.
            return b""


class _WindowsKeys:
    def read(self) -> str:
        import msvcrt

        key: str = msvcrt.getwch()  # type: ignore[attr-defined]  # exists on Windows only
        if key in ("\x00", "\xe0"):
            return {"K": LEFT, "M": RIGHT}.get(msvcrt.getwch(), "<other>")  # type: ignore[attr-defined]
        if key == "\x03":
            raise KeyboardInterrupt
        return END if key in ("\x04", "\x1a") else key
