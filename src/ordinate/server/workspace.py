"""The folder whose studies a server serves: where they are, and where new ones are made.

    FOLDER/photos.db          a study that was made elsewhere
    FOLDER/photos/photos.db   a study that was made in the browser, in a folder of its own
    FOLDER/photos/media/      its files, under names of our own
    FOLDER/.drafts/ID/        files that were dropped on the page, and the study that is being made of them
    FOLDER/.archive/photos/   a study that is no longer served
    FOLDER/.deleted/ID/       what is being deleted

A study comes, moves and goes by one renaming of its folder. So it is whole or absent, whenever the server is killed.
Only items that are added to a study leave their draft otherwise: by second names of their files, then one transaction.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from ordinate.data.formats.files import failures
from ordinate.errors import InvalidInput, StudyExists
from ordinate.server.drafts import Draft
from ordinate.server.helper import HelperProcess
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem

NAME = r"^[a-z0-9][a-z0-9-]{0,63}$"
DRAFT_SECONDS = 24 * 3600
"""A draft that nobody has touched for so long is deleted."""
_DRAFTS, _ARCHIVE, _DELETED = ".drafts", ".archive", ".deleted"


class Workspace:
    """executor  makes the two processes in which studies are looked at and made, one at a time in each: computing
    features may take an hour, and whoever drops other files meanwhile wants to see them"""

    def __init__(self, folder: Path, executor: Callable[[], Executor], limits: Limits) -> None:
        self.folder, self._make_executor, self._limits = folder, executor, limits
        self._executors: dict[str, Executor] = {}
        self._lock = threading.Lock()
        self._drafts: dict[str, Draft] = {}
        self._jobs: dict[str, Future[Any]] = {}
        # What a server that was killed left behind. Never later: it may be in use.
        shutil.rmtree(self.folder / _DELETED, ignore_errors=True)
        self._clean()

    def studies(self) -> list[Path]:
        """The files of the studies, by name."""
        with failures("read", self.folder):
            found = [path for path in self.folder.glob("*.db") if path.is_file()]
            found += [path for path in self.folder.glob("*/*.db") if self.is_own(path) and path.is_file()]
        return sorted(found, key=lambda path: path.stem)

    def is_own(self, path: Path) -> bool:
        """Whether a study has a folder of its own here, which may be moved and deleted as a whole."""
        return path.parent.parent == self.folder and path.parent.name == path.stem and bool(re.match(NAME, path.stem))

    def is_shared(self, folder: Path | None) -> bool:
        """Whether this is the folder that is served, in which files of all studies are."""
        return folder is not None and folder.resolve() == self.folder.resolve()

    def require_free(self, name: str) -> None:
        """Raise StudyExists where a study has this name, archived or not."""
        places = (self.folder / name, self.folder / f"{name}.db", self._archive / name)
        if any(place.exists() for place in places):
            raise StudyExists(f"there is a study {name!r} already, perhaps in the archive; choose another name")

    # Drafts -----------------------------------------------------------------------------------------------------------

    def new_draft(self) -> Draft:
        self._clean()
        with failures("written", self.folder):
            return self._draft(secrets.token_hex(8), new=True)

    def draft(self, name: str) -> Draft:
        """Raises a problem 404."""
        if not re.fullmatch("[0-9a-f]{16}", name) or not (self.folder / _DRAFTS / name).is_dir():
            raise Problem(404, "what was dropped here is gone; begin again")
        return self._draft(name)

    def _draft(self, name: str, new: bool = False) -> Draft:
        with self._lock:
            if name not in self._drafts:
                folder = self.folder / _DRAFTS / name
                if new:
                    folder.mkdir(parents=True)
                self._drafts[name] = Draft(folder, self._limits)
            return self._drafts[name]

    def discard(self, draft: Draft) -> None:
        """Delete what was dropped."""
        draft.seal()
        self.delete_sealed(draft)

    def delete_sealed(self, draft: Draft) -> None:
        """Delete what was dropped, of which something was made."""
        try:
            self._delete(draft.folder)
        except BaseException:
            draft.unseal()
            raise
        self._forget(draft)

    def look(self, draft: Draft, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Look at a draft in the process for that, one look after another."""
        if draft.is_sealed:
            raise Problem(409, "a study is being made of these files; wait until it is ready")
        return self._submit("look", work, *arguments)

    def make(self, draft: Draft, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Seal a draft and make something of it in the process for that; `release` it where that comes to nothing."""
        draft.seal()
        try:
            draft.progress_file.unlink(missing_ok=True)
            self._jobs[draft.name] = job = self._submit("make", work, *arguments)
        except BaseException:
            draft.unseal()
            raise
        return job

    def release(self, draft: Draft) -> None:
        """Take files again as soon as nobody works on them."""
        self._jobs[draft.name].add_done_callback(lambda _: draft.unseal())

    def _submit(self, what: str, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        with self._lock:
            if what not in self._executors:
                self._executors[what] = self._make_executor()
            try:
                return self._executors[what].submit(work, *arguments)
            except BrokenExecutor:
                self._executors[what] = self._make_executor()
                return self._executors[what].submit(work, *arguments)

    def job(self, draft: Draft) -> Future[Any] | None:
        return self._jobs.get(draft.name)

    def _forget(self, draft: Draft) -> None:
        with self._lock:
            self._drafts.pop(draft.name, None)
            self._jobs.pop(draft.name, None)

    # Studies ----------------------------------------------------------------------------------------------------------

    def publish(self, draft: Draft, name: str) -> Path:
        """The file of the study that was made in a draft, which is a study of this folder from now on."""
        target = self.folder / name
        with self._lock, failures("written", target):
            self.require_free(name)
            draft.folder.rename(target)
        self._forget(draft)
        with suppress(OSError):  # the study does without
            draft.forget_uploads(target)
        return target / f"{name}.db"

    @property
    def _archive(self) -> Path:
        return self.folder / _ARCHIVE

    def archived(self) -> list[str]:
        return sorted(path.name for path in self._archive.glob("*") if (path / f"{path.name}.db").is_file())

    def archive(self, path: Path) -> None:
        self._require_own(path)
        with failures("written", self._archive):
            self._archive.mkdir(exist_ok=True)
            path.parent.rename(self._archive / path.stem)

    def restore(self, name: str) -> Path:
        """Take a study out of the archive; returns its file."""
        if name not in self.archived():
            raise Problem(404, f"no study {name!r} is in the archive")
        target = self.folder / name
        with self._lock, failures("written", target):
            if target.exists() or target.with_suffix(".db").exists():
                raise StudyExists(f"there is a study {name!r} already; rename its folder first")
            (self._archive / name).rename(target)
        return target / f"{name}.db"

    def delete(self, path: Path) -> None:
        """Delete a study with its media."""
        self._require_own(path)
        self._delete(path.parent)

    def delete_archived(self, name: str) -> None:
        if name not in self.archived():
            raise Problem(404, f"no study {name!r} is in the archive")
        self._delete(self._archive / name)

    def _require_own(self, path: Path) -> None:
        if not self.is_own(path):
            raise InvalidInput(
                f"the study {path.stem!r} has no folder of its own here; move or delete {path.name} and its files "
                "yourself, while the server does not run"
            )

    def _delete(self, folder: Path) -> None:
        with failures("deleted", folder):
            (self.folder / _DELETED).mkdir(exist_ok=True)
            gone = self.folder / _DELETED / secrets.token_hex(8)
            folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _clean(self) -> None:
        """Delete drafts that nobody came back to."""
        for folder in (self.folder / _DRAFTS).glob("*"):
            with self._lock, suppress(OSError):
                draft = self._drafts.get(folder.name)
                in_use = draft is not None and draft.is_sealed
                if time.time() - folder.stat().st_mtime > DRAFT_SECONDS and not in_use:
                    shutil.rmtree(folder, ignore_errors=True)
                    self._drafts.pop(folder.name, None)

    def close(self) -> None:
        for executor in self._executors.values():
            if isinstance(executor, HelperProcess):
                executor.kill()
            executor.shutdown(cancel_futures=True)
