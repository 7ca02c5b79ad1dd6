"""Download published files: complete and unchanged, or not at all. Existing files are never overwritten."""

from __future__ import annotations

import hashlib
import http.client
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from ordinate.data.formats.files import failures, read_bytes
from ordinate.datasets.source import Remote
from ordinate.errors import InvalidInput, StorageFailed

_CHUNK = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte

Progress = Callable[[str, int, int | None], None]  # name, bytes so far, bytes in all if the server says


def download(files: Sequence[Remote], folder: str | Path, progress: Progress | None = None) -> dict[str, int]:
    """Download the files into the folder, which is created if it does not exist. Returns the size of each in bytes.

    An existing file with the right content is kept; one with other content is an error, before anything is downloaded.
    Raises StorageFailed if the network or the server fails, or sends other content.
    """
    folder = Path(folder)
    sizes = {}
    for file in files:
        target = folder / file.name
        with failures("read", target):
            there = target.exists()
        if there:
            data = read_bytes(target)
            if hashlib.sha256(data).hexdigest() != file.sha256:
                raise InvalidInput(
                    f"{target} exists and is not the published file; it was not changed. Choose another folder, or "
                    "move the file"
                )
            sizes[file.name] = len(data)
    with failures("made", folder):
        folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        if file.name not in sizes:
            sizes[file.name] = _fetch(file, folder / file.name, progress or (lambda name, done, total: None))
    return {file.name: sizes[file.name] for file in files}


def _fetch(file: Remote, target: Path, progress: Progress) -> int:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with failures("written", target):
            size = _save(file, temporary, progress)
            # Never overwrite a file that appeared meanwhile.
            if target.exists():
                raise InvalidInput(f"{target} was created meanwhile by another program; it was not changed")
            temporary.rename(target)
    finally:  # also after an interrupt
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return size


def _save(file: Remote, temporary: Path, progress: Progress) -> int:
    """Write what the server sends, and check it. Only errors of the network are converted here."""
    digest, done = hashlib.sha256(), 0
    try:
        answer = urlopen(Request(file.url, headers={"User-Agent": "ordinate"}), timeout=_TIMEOUT)
    except HTTPError as error:
        error.close()
        raise StorageFailed(_failed(file, f"the server answered {error.code} {error.reason}")) from error
    except (OSError, http.client.HTTPException) as error:
        raise StorageFailed(_failed(file, str(getattr(error, "reason", error)) or type(error).__name__)) from error
    with answer, temporary.open("xb") as written:
        announced = answer.headers.get("Content-Length")
        total = int(announced) if announced and announced.isdigit() else None
        while True:
            try:
                piece = answer.read(_CHUNK)
            except (OSError, http.client.HTTPException) as error:
                raise StorageFailed(_failed(file, str(error) or type(error).__name__)) from error
            if not piece:
                break
            written.write(piece)
            digest.update(piece)
            done += len(piece)
            progress(file.name, done, total)
        written.flush()
        os.fsync(written.fileno())
    if total is not None and done < total:
        raise StorageFailed(_failed(file, f"the connection ended after {done:,} of {total:,} bytes"))
    if digest.hexdigest() != file.sha256:
        raise StorageFailed(_failed(file, f"the {done:,} bytes received are not the published file"))
    return done


def _failed(file: Remote, reason: str) -> str:
    return (
        f"{file.url} could not be downloaded: {reason}. Nothing was written; check the network and try again, or "
        f"download the file with a browser and save it as {file.name}"
    )
