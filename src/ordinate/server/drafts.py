"""Files that an owner drops on the page where studies are made: checked one by one, and stored under names of our own.

A file is what its first bytes say. The name that it came with is an id of an item, and no path here.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import NamedTuple

from ordinate.data.cells import plain_text
from ordinate.data.folders import is_junk
from ordinate.data.formats.files import failures, write_bytes
from ordinate.data.formats.utf8 import text_of
from ordinate.data.items import Items
from ordinate.data.media import KINDS, NotShown, check_shown, described, media_type, read_head
from ordinate.data.pictures import web_version
from ordinate.errors import InvalidInput, MissingExtra
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem

MEDIA, GIVEN = "media", "given"
"""The folders of what the study will show, and of tables and texts that are read when it is made."""
MANIFEST, PROGRESS = "manifest.jsonl", "progress"
STRAY_SECONDS = 3600
"""A file without a record that nobody has written to for so long is no longer on its way to another server."""
LONGEST_NAME = 300
# Parquet is left out: a file of kilobytes may unfold to gigabytes.
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
_READ = {".txt": "text", ".md": "text", ".html": "html", ".htm": "html"}
_OWN_PATH = re.compile(rf"({MEDIA}|{GIVEN})/[0-9a-f]{{16}}\.[\w.+-]+")
_one_picture_at_a_time = threading.Lock()
"""Checking and converting pictures takes a processor, which people who judge need."""
_ENDINGS = {
    "image/jpeg": ".jpg",
    "audio/mpeg": ".mp3",
    "audio/mp4": ".m4a",
    "audio/aac": ".aac",
    "video/ogg": ".ogv",
}


class Dropped(NamedTuple):
    """A file of a draft.

    name    that it came with
    kind    image, audio, video, text, html or table
    stored  its path in the draft
    """

    name: str
    kind: str
    stored: str
    bytes: int
    sha256: str


class Draft:
    """What was dropped for one study; everything is in its folder, so it outlives the server.

    It is sealed while something is made of it, and from then on: what is made has all of its files, and takes no more.

    alone  whether no other server takes files for the same draft
    """

    def __init__(self, folder: Path, limits: Limits, *, alone: bool = True) -> None:
        self.folder, self._limits, self._alone = folder, limits, alone
        self._lock = threading.Condition()
        self._read = -1
        self._update()
        self._arriving: dict[object, int] = {}
        self._taking = 0
        self._sealed = False
        self._remove_strays()

    def _update(self) -> None:
        """Read what another server took."""
        size = _size(self.folder / MANIFEST)
        if size == self._read:
            return
        self._files = {one.name: one for one in dropped_files(self.folder)}
        self._bytes = sum(one.bytes for one in self._files.values())
        self._read = size

    def _remove_strays(self) -> None:
        """Files whose record was cut short when the server was killed, or which had not arrived yet."""
        kept = {self.folder / one.stored for one in self._files.values()}
        until = inf if self._alone else time.time() - STRAY_SECONDS
        for path in [path for place in (f"{MEDIA}/*", f"{GIVEN}/*", "*.part") for path in self.folder.glob(place)]:
            with suppress(FileNotFoundError):  # another server has moved it meanwhile
                if path not in kept and path.stat().st_mtime < until:
                    path.unlink()

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def progress_file(self) -> Path:
        return self.folder / PROGRESS

    def files(self) -> list[Dropped]:
        with self._lock:
            self._update()
            return list(self._files.values())

    @property
    def is_sealed(self) -> bool:
        return self._sealed

    def seal(self) -> None:
        """Take no more files, and wait for those that are being checked. Raises a problem 409 where it is sealed."""
        with self._lock:
            self._require_open()
            self._sealed = True
            self._lock.wait_for(lambda: self._taking == 0)

    def unseal(self) -> None:
        """Take files again, since nothing was made."""
        self._sealed = False

    def _require_open(self) -> None:
        if self._sealed:
            raise being_made()

    @contextmanager
    def arriving(self, length: int | None) -> Iterator[Path]:
        """Where to write a file of this length; None: not known. Its room is held for it until then.

        Raises problems 409, 413 and 507.
        """
        limits, mine = self._limits, object()
        with self._lock:
            self._require_open()
            self._update()
            wanted = sum(self._arriving.values()) + max(length or 0, 1)
            if len(self._files) + len(self._arriving) >= limits.upload_files:
                raise Problem(
                    413, f"a study is made of at most {limits.upload_files:,} files here; use `ordinate create`"
                )
            if self._bytes + wanted > limits.upload_total:
                raise Problem(413, f"the files of a study may have {limits.upload_total:,} bytes together")
            if shutil.disk_usage(self.folder).free - wanted < limits.upload_free:
                raise Problem(507, "the disk of the server is nearly full, so it takes no more files")
            self._arriving[mine] = length or 0
        path = self.folder / f"{secrets.token_hex(8)}.part"
        try:
            yield path
        finally:
            with self._lock:
                del self._arriving[mine]
            path.unlink(missing_ok=True)

    def take(self, given: str, arrived: Path) -> Dropped:
        """Check a file that has arrived and keep it. Raises InvalidInput that says why it is refused."""
        with self._lock:
            self._require_open()
            self._taking += 1
        try:
            name = _clean_name(given)
            if is_junk(name.rpartition("/")[2]):
                raise InvalidInput("is hidden, or left behind by a system")
            with failures("read", name):
                data_hash = _digest(arrived)
            with self._lock:
                if (known := self._known(name, data_hash)) is not None:
                    return known
            kind, stored = self._keep(name, arrived)
            made = Dropped(name, kind, stored, (self.folder / stored).stat().st_size, data_hash)
            try:
                with self._lock, failures("written", self.folder):
                    self._update()
                    # It may have been dropped twice at the same time.
                    if (known := self._known(name, data_hash)) is not None:
                        (self.folder / stored).unlink()
                        return known
                    before, after = _append(self.folder / MANIFEST, made)
                    self._files[name] = made
                    self._bytes += made.bytes
                    if before == max(self._read, 0):
                        self._read = after
            except BaseException:
                (self.folder / stored).unlink(missing_ok=True)
                raise
            return made
        finally:
            arrived.unlink(missing_ok=True)
            with self._lock:
                self._taking -= 1
                self._lock.notify_all()

    def _known(self, name: str, data_hash: str) -> Dropped | None:
        """The file of this name, if it was dropped before. Raises InvalidInput where that is another one."""
        known = self._files.get(name)
        if known is not None and known.sha256 != data_hash:
            raise InvalidInput("has the name of another file that was dropped before")
        return known

    def _keep(self, name: str, arrived: Path) -> tuple[str, str]:
        """The kind of a file and where it is stored now."""
        head, suffix, own = read_head(arrived), Path(name).suffix.lower(), secrets.token_hex(8)
        if not head:
            raise InvalidInput("is empty")
        type_ = media_type(head)
        if type_ is None and suffix in (*TABLES, *_READ):
            if arrived.stat().st_size > (self._limits.text if suffix in _READ else self._limits.items_body):
                raise InvalidInput("is too large a text")
            text = text_of(arrived.read_bytes())
            if _READ.get(suffix) == "html":
                check_shown("html", text, "")
            stored = f"{GIVEN}/{own}{suffix}"
            self._move(arrived, stored)
            return _READ.get(suffix, "table"), stored
        kind = "image" if type_ is None else type_.partition("/")[0]
        try:
            if kind in KINDS:
                with _one_picture_at_a_time:
                    check_shown(kind, arrived.name, arrived.parent)
        except NotShown as error:
            if not error.convertible:
                raise InvalidInput(str(error) if type_ else f"is {described(head)}, which is not shown") from None
            try:
                with _one_picture_at_a_time:
                    converted = web_version(arrived.read_bytes())
            except MissingExtra as missing:
                raise InvalidInput(f"cannot be converted by this server: {missing}") from None
            if converted is None:
                raise InvalidInput("cannot be converted") from None
            stored = f"{MEDIA}/{own}{converted.suffix}"
            self._make_folder(stored)
            write_bytes(self.folder / stored, converted.data)
            return kind, stored
        stored = f"{MEDIA}/{own}{_ENDINGS.get(str(type_), '.' + str(type_).partition('/')[2])}"
        self._move(arrived, stored)
        return kind, stored

    def _make_folder(self, stored: str) -> None:
        with failures("written", self.folder):
            (self.folder / stored).parent.mkdir(exist_ok=True)

    def _move(self, arrived: Path, stored: str) -> None:
        self._make_folder(stored)
        with failures("written", self.folder):
            arrived.rename(self.folder / stored)

    @staticmethod
    def forget_uploads(folder: Path) -> None:
        """Remove what was of use only until the study in this folder was made."""
        shutil.rmtree(folder / GIVEN, ignore_errors=True)
        for left in (folder / MANIFEST, folder / PROGRESS, *folder.glob("*.part")):
            left.unlink(missing_ok=True)


def link_media(draft: Path, folder: Path, items: Items) -> list[Path]:
    """Give the files of a draft that its items show second names in the folder of a study. Here they stay, until it has
    its items; returns those that were not there yet."""
    made = []
    shown = {place for kind in KINDS for place in items.content.get(kind, ())}
    try:
        with failures("written", folder):
            for path in sorted((draft / MEDIA).glob("*")):
                if f"{MEDIA}/{path.name}" not in shown:
                    continue
                folder.mkdir(parents=True, exist_ok=True)
                target = folder / path.name
                if not target.exists():
                    made.append(target)
                    _link(path, target)
    except BaseException:
        forget_media(made)
        raise
    return made


def forget_media(linked: list[Path]) -> None:
    """Take back second names, of files that no study shows after all."""
    for target in linked:
        target.unlink(missing_ok=True)


def dropped_files(folder: Path) -> list[Dropped]:
    """The files of a draft, in the order in which they came; a line that a kill cut short is none."""
    try:
        lines = (folder / MANIFEST).read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(Dropped(*json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found


def was_draft(folder: Path) -> bool:
    """Whether the manifest in this folder is ours: every file that it names is stored as a draft stores it."""
    try:
        stored = [one.stored for one in dropped_files(folder)]
    except OSError:
        return False
    return bool(stored) and all(_OWN_PATH.fullmatch(str(path)) for path in stored)


def _append(manifest: Path, made: Dropped) -> tuple[int, int]:
    """Write a record on a line of its own, also after one that was cut short; all of it or nothing. Returns the size
    of the file before and after."""
    with manifest.open("a+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        start = b"" if file.read(1) in (b"", b"\n") else b"\n"
        line = start + json.dumps(made).encode() + b"\n"
        try:
            if file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except BaseException:
            file.truncate(end)
            raise
        return end, file.tell()


def being_made() -> Problem:
    return Problem(409, "a study is being made of these files; wait until it is ready")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links.
        temporary = target.with_suffix(".part")
        try:
            shutil.copyfile(path, temporary)
            temporary.rename(target)
        finally:
            temporary.unlink(missing_ok=True)


def _clean_name(given: str) -> str:
    """The name as an id: with slashes, without what leads out of a folder."""
    parts = [part for part in re.split(r"[\\/]+", given.strip()) if part not in ("", ".", "..")]
    name = "/".join(parts)
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"has a name that is no id: 1 to {LONGEST_NAME} characters that can be seen")
    return plain_text(name, "the name")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
