"""A folder of files as a table of items: pictures, sounds, videos, texts and HTML pages, one item per file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ordinate.data.cells import text_id
from ordinate.data.formats.data_set import is_data_set
from ordinate.data.formats.files import failures, read_bytes
from ordinate.data.formats.utf8 import SAVE_TEXT, text_of
from ordinate.data.media import media_type, read_head
from ordinate.errors import InvalidInput, naming

_SUFFIXES = {
    "image": ".png .jpg .jpeg .jpe .jfif .gif .webp .bmp .avif .tif .tiff .heic .heif .jp2 .j2k .jxl .dcm .svg .psd",
    "audio": ".mp3 .wav .flac .ogg .oga .opus .m4a .aac .aif .aiff .wma",
    "video": ".mp4 .m4v .webm .mov .ogv .mkv .avi .wmv",
    "text": ".txt .md",
    "html": ".html .htm",
}
_DOCUMENTS = {".docx", ".doc", ".odt", ".rtf", ".pdf", ".pages"}
_NAMED = 5
"""An error names this many files and counts the others."""
READ = ("text", "html")
"""Kinds whose files are read: an item has the words themselves."""
_KINDS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_JUNK = {"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx", "@eadir", "$recycle.bin"}
WEB_VERSIONS = "-pictures"
"""The folder with the web versions of a study's pictures is called as the study, with this at the end."""


class Listing(NamedTuple):
    """A table of items, with an id and content, and the paths of files that are no items: hidden files and files that
    systems leave behind are `ignored`; of the `unknown` ones nobody knows what to show."""

    columns: dict[str, list[Any]]
    ignored: list[str]
    unknown: list[str]


def list_folder(folder: str | Path) -> Listing:
    """The files in a folder and the folders in it, sorted; the id of each is its path from there, such as "a/b.jpg".

    A file's kind follows from the suffix of its name or, without one that is known, from its first bytes.
    """
    items: list[tuple[str, str, str]] = []
    ignored: list[str] = []
    unknown: list[str] = []
    with failures("read", folder):
        for place, folders, files in os.walk(folder, onerror=_raise):
            start = Path(place).relative_to(folder)
            left_out = [name for name in folders if is_junk(name) or _is_of_a_study(Path(place), name)]
            folders[:] = [name for name in folders if name not in left_out]
            ignored += [f"{(start / name).as_posix()}/" for name in left_out]
            for name in files:
                path, kind = (start / name).as_posix(), None
                if is_junk(name):
                    ignored.append(path)
                elif (kind := _kind(Path(place, name))) is None:
                    unknown.append(path)
                else:
                    items.append((path, kind, path))
    if not items:
        others = f"; it has {len(unknown)} of other kinds, such as {min(unknown)!r}" if unknown else ""
        others += saved_as_text(unknown)
        raise InvalidInput(f"{folder} has no pictures, sounds, videos, texts (.txt, .md) or pages (.html){others}")
    items = _with_texts(Path(folder), sorted(items))
    columns: dict[str, list[Any]] = {"id": [path for path, _, _ in items]}
    for kind in _SUFFIXES:
        if any(one == kind for _, one, _ in items):
            columns[kind] = [shown if one == kind else None for _, one, shown in items]
    return Listing(columns, sorted(ignored), sorted(unknown))


def is_folder_of_files(path: str | Path) -> bool:
    """Whether each file at this path is an item: it is a folder, and no data set on disk."""
    return Path(path).is_dir() and not is_data_set(path)


def list_lines(path: str | Path) -> dict[str, list[Any]]:
    """A table of the lines of a text file that are not blank; a short line is its own id."""
    with naming(path):
        lines = [line.strip() for line in text_of(read_bytes(path)).split("\n") if line.strip()]
    return {"id": [text_id(line) for line in lines], "text": list(lines)}


def _kind(path: Path) -> str | None:
    known = _KINDS.get(path.suffix.lower())
    if known is None and path.is_file() and (found := media_type(read_head(path))) is not None:
        return found.partition("/")[0]
    return known


def _with_texts(folder: Path, items: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The items with the words of files that are read. Raises InvalidInput that names the first that are no texts."""
    found, bad = [], []
    for path, kind, shown in items:
        try:
            found.append((path, kind, text_of(read_bytes(folder / path), SAVE_TEXT) if kind in READ else shown))
        except InvalidInput as error:
            bad.append(f"{path}: {error}")
    if bad:
        more = f"; and {len(bad) - _NAMED:,} more" if len(bad) > _NAMED else ""
        raise InvalidInput(f"{folder}: {'; '.join(bad[:_NAMED])}{more}")
    return found


def saved_as_text(unknown: Iterable[str]) -> str:
    """A sentence to add, on what to do about files that are left out, where some are documents."""
    if not any(Path(name).suffix.lower() in _DOCUMENTS for name in unknown):
        return ""
    return ". Save documents as plain text (.txt, UTF-8), or their pages as pictures"


def is_junk(name: str) -> bool:
    """Whether a file is hidden, or of those that systems leave behind."""
    return name.startswith((".", "~$")) or name.endswith("~") or name.lower() in _JUNK


def _is_of_a_study(place: Path, name: str) -> bool:
    return name.endswith(WEB_VERSIONS) and (place / f"{name.removesuffix(WEB_VERSIONS)}.db").is_file()


def _raise(error: OSError) -> None:
    raise error
