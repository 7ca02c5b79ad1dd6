"""Items whose content can be shown to annotators: every file is checked, and converted for browsers where asked for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ordinate.data.folders import READ
from ordinate.data.formats.files import failures, read_bytes, write_bytes
from ordinate.data.items import CONTENT_KINDS, Items
from ordinate.data.media import NotShown, check_shown, is_address
from ordinate.errors import InvalidInput

_NAMED = 5
"""An error names this many items and counts the others."""


class Shown(NamedTuple):
    """Items with their content checked.

    converted   how many pictures were replaced by versions for browsers
    windowed    how many of these have their greys scaled from 12 or 16 bits
    first_only  how many of these are the first of several pages or frames
    misshown    how many pictures browsers show too dark (more than 8 bits) or in other colours (CMYK), so that a server
                converts them when it sends them
    """

    items: Items
    converted: int = 0
    windowed: int = 0
    first_only: int = 0
    misshown: int = 0


@contextmanager
def shown(items: Items, folder: str | Path, convert_to: Path | None = None) -> Iterator[Shown]:
    """The items, if browsers can show all their images, sounds, videos and links; relative paths start at `folder`.

    With `convert_to`, a folder that is made if need be, it gets web versions of the pictures that browsers do not show
    rightly, and the items name these. Files written there are removed if the block fails.

    Raises InvalidInput that names the first items that cannot be shown, and counts them.
    """
    versions = None if convert_to is None else _WebVersions(convert_to)
    try:
        yield _checked(items, folder, versions)
    except BaseException:
        if versions is not None:
            versions.remove()
        raise


class _WebVersions:
    """The folder of web versions, and what was written to it. A file is named after the content of its original, so
    the same picture is converted once, and a run that was killed leaves only files that the next one uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: list[Path] = []
        self._made = False

    def of(self, path: str) -> tuple[str, bool, bool] | None:
        """The path of the web version, whether greys were scaled, and whether other frames were left out; None for a
        picture that needs no version."""
        from ordinate.data.pictures import web_version

        data = read_bytes(path)
        version = web_version(data)
        if version is None:
            return None
        with failures("written", self.folder):
            if not self.folder.is_dir():
                self.folder.mkdir()
                self._made = True
        name = f"{Path(path).stem[:100]}-{hashlib.sha256(data).hexdigest()[:12]}{version.suffix}"
        target = self.folder / name
        if not target.exists():
            write_bytes(target, version.data)
            self.written.append(target)
        return str(target), version.windowed, version.frames_left_out > 0

    def remove(self) -> None:
        with suppress(OSError):
            for path in self.written:
                path.unlink()
            if self._made:
                self.folder.rmdir()


def without_content(items: Items) -> list[str]:
    """The rows of items with nothing to show beside others that have something: people compare an id with a text."""
    columns = list(items.content.values())
    found = [
        f"row {row}, item {item!r}"
        for row, (item, *given) in enumerate(zip(items.ids, *columns, strict=True), start=1)
        if all(value is None for value in given)
    ]
    return found if len(found) < len(items) else []


def _checked(items: Items, folder: str | Path, versions: _WebVersions | None) -> Shown:
    content = {kind: list(values) for kind, values in items.content.items()}
    for kind in set(READ) & content.keys():  # blanks show nothing, not even the id
        content[kind] = [None if value is not None and not value.strip() else value for value in content[kind]]
    bad: list[str] = []
    converted: list[tuple[bool, bool]] = []
    misshown = convertible = 0
    for row, item in enumerate(items.ids):
        for kind in CONTENT_KINDS[1:]:
            place = content[kind][row] if kind in content else None
            if place is None:
                continue
            try:
                rightly = check_shown(kind, place, folder)
                problem = None
            except NotShown as error:
                rightly, problem = not error.convertible, str(error)
                convertible += error.convertible
            if versions is not None and not rightly and not is_address(place):
                try:
                    version, problem = versions.of(os.path.join(folder, place)), None
                except InvalidInput as error:
                    version, problem = None, f"cannot be converted: {error}"
                if version is not None:
                    content[kind][row] = version[0]
                    converted.append(version[1:])
            elif problem is None:
                misshown += not rightly
            if problem is not None:
                named = kind if kind == "html" else f"{kind} {place!r}"
                bad.append(f"row {row + 1}, item {item!r}: {named} {problem}")
    if bad:
        raise _refusal(bad, convertible if versions is None else 0)
    return Shown(
        replace(items, content=content),
        len(converted),
        sum(windowed for windowed, _ in converted),
        sum(first_only for _, first_only in converted),
        misshown,
    )


def _refusal(bad: list[str], convertible: int) -> InvalidInput:
    what = "1 file or address" if len(bad) == 1 else f"{len(bad):,} files or addresses"
    more = f"; and {len(bad) - _NAMED:,} more" if len(bad) > _NAMED else ""
    all_of = "it" if len(bad) == 1 else "all of them" if convertible == len(bad) else f"{convertible:,} of them"
    advice = [f"convert {all_of}"] if convertible else []
    if convertible < len(bad):
        whom = "the others" if convertible else "it" if len(bad) == 1 else "them"
        advice.append(f"correct {whom}, or leave {'the item' if len(bad) == 1 else 'these items'} out")
    refusal = f"{what} cannot be shown to annotators: {'; '.join(bad[:_NAMED])}{more}. To go on: {'; '.join(advice)}"
    return InvalidInput(refusal).with_option("--convert writes versions that browsers show" if convertible else "")
