"""The folder that a server serves: files that are dropped, and the making of studies of them.

    FOLDER/.drafts/ID/    files that were dropped on the page, and the study that is being made of them
    FOLDER/.deleted/ID/   what is being deleted

Where its studies are is in study_files.py (in files of the folder) and study_database.py (in PostgreSQL).
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from ordinate.data.formats.files import failures
from ordinate.data.items import Items
from ordinate.server import making
from ordinate.server.drafts import Draft, being_made
from ordinate.server.helper import HelperProcess
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem
from ordinate.server.registry import SharedStudies, StudyRegistry
from ordinate.server.served_study import ServedStudy
from ordinate.storage import Place
from ordinate.study.rules import Link

NAME = r"^[a-z0-9][a-z0-9-]{0,63}$"
DRAFT_SECONDS = 24 * 3600
"""A draft that nobody has touched for so long is deleted."""
_DRAFTS, DELETED = ".drafts", ".deleted"
_SEALED = "sealed"


class Studies(Protocol):
    """Where the studies of a folder are: in its files, or in a database beside it.

    is_alone  whether no other server process uses the folder
    shared    what says which studies there are now, where other servers make and delete them, too; else None
    """

    is_alone: bool

    @property
    def shared(self) -> SharedStudies | None: ...

    def unshared(self) -> list[Place]:
        """The studies that are there at the start and of which `shared` does not tell."""

    def place(self, name: str) -> Place:
        """Where a study of this name is, or would be made by a program."""

    def folders(self, place: Place) -> tuple[Path, ...]:
        """Whose files a study shows; relative paths of new items start at the first."""

    def media(self, place: Place) -> Path:
        """The folder of the files that were dropped for a study."""

    def stored(self, items: Items, place: Place) -> Items:
        """The items of a draft as a study stores them, whose files lie in its folder of media."""

    def is_own(self, place: Place) -> bool:
        """Whether the study may be copied, moved and deleted here as a whole."""

    def is_shared(self, folder: Path | None) -> bool:
        """Whether files of several studies are in this folder of a study."""

    def require_free(self, name: str) -> None:
        """Raise StudyExists where a study has this name, archived or not; InvalidInput where none can have it."""

    def target(self, draft: Path, name: str) -> making.Target:
        """Where a study is made of a draft."""

    def publish(self, draft: Draft, name: str) -> Place:
        """The study that was made of a draft, which is one of this folder from now on."""

    def take_back(self, draft: Draft, place: Place) -> None:
        """Undo `publish`: delete the study, which nobody has open, and leave the files of the draft as they were."""

    def finish(self, draft: Draft, place: Place) -> None:
        """Delete what was of use only until the study was published."""

    def archived(self) -> list[str]: ...
    def archive(self, place: Place) -> None: ...
    def restore(self, name: str) -> Place:
        """Take a study out of the archive."""

    def delete(self, place: Place) -> None:
        """Delete a study with its media."""

    def delete_archived(self, name: str) -> None: ...

    def holding(self, draft: str) -> AbstractContextManager[bool]:
        """Whether no other process makes a study of this draft; none does while the block runs."""

    def close(self) -> None: ...


class Workspace:
    """executor  makes the two processes in which studies are looked at and made, one at a time in each: computing
    features may take an hour, and whoever drops other files meanwhile wants to see them"""

    def __init__(self, folder: Path, studies: Studies, executor: Callable[[], Executor], limits: Limits) -> None:
        self.folder, self.studies, self._make_executor, self._limits = folder, studies, executor, limits
        self._executors: dict[str, Executor] = {}
        self._lock = threading.Lock()
        self._drafts: dict[str, Draft] = {}
        self._jobs: dict[str, Future[Any]] = {}
        self._held: dict[str, ExitStack] = {}
        # What a server that was killed left behind. Never later: it may be in use.
        for gone in (self.folder / DELETED).glob("*"):
            shutil.rmtree(gone, ignore_errors=True)
        if studies.is_alone:  # another server may be about to use it
            with suppress(OSError):
                (self.folder / DELETED).rmdir()
        self._clean()

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
                self._drafts[name] = Draft(folder, self._limits, alone=self.studies.is_alone)
            return self._drafts[name]

    def discard(self, draft: Draft) -> None:
        """Delete what was dropped."""
        draft.seal()
        self.delete_sealed(draft)

    def delete_sealed(self, draft: Draft) -> None:
        """Delete what was dropped, of which something was made."""
        try:
            delete(draft.folder, self.folder)
        except BaseException:
            draft.unseal()
            raise
        self._forget(draft)

    def look(self, draft: Draft, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Look at a draft in the process for that, one look after another."""
        if draft.is_sealed or self.is_made_elsewhere(draft):
            raise being_made()
        return self._submit("look", work, *arguments)

    def make(self, draft: Draft, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Seal a draft and make something of it in the process for that; `release` it where that comes to nothing."""
        draft.seal()
        with ExitStack() as held:
            held.callback(draft.unseal)
            if not held.enter_context(self.studies.holding(draft.name)):
                raise being_made()
            if not self.studies.is_alone:
                held.enter_context(_marked(draft.folder))
            draft.progress_file.unlink(missing_ok=True)
            self._jobs[draft.name] = job = self._submit("make", work, *arguments)
            self._held[draft.name] = held.pop_all()
        return job

    def release(self, draft: Draft) -> None:
        """Take files again as soon as nobody works on them."""
        self._jobs[draft.name].add_done_callback(lambda _: self._let_go(draft))

    def _let_go(self, draft: Draft) -> None:
        if (held := self._held.pop(draft.name, None)) is not None:
            held.close()

    def is_made_elsewhere(self, draft: Draft) -> bool:
        """Whether another process makes a study of these files."""
        return not self.studies.is_alone and draft.name not in self._held and self._is_held(draft.folder)

    def _is_held(self, folder: Path) -> bool:
        # The mark may be that of a process that was killed.
        if self.studies.is_alone or not (folder / _SEALED).exists():
            return False
        with self.studies.holding(folder.name) as free:
            return not free

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
        self._let_go(draft)

    # Studies ----------------------------------------------------------------------------------------------------------

    def serve(self, draft: Draft, name: str, registry: StudyRegistry) -> tuple[ServedStudy, Link]:
        """Serve the study that was made of a draft, with a link for annotators. Where that fails, there is no such
        study and the draft is as it was."""
        with self._lock:
            place = self.studies.publish(draft, name)
        served, (link,) = registry.serve_new(
            place, name, ("annotator",), lambda made: self.studies.take_back(draft, made)
        )
        self.studies.finish(draft, place)
        self._forget(draft)
        return served, link

    def _clean(self) -> None:
        """Delete drafts that nobody came back to."""
        for folder in (self.folder / _DRAFTS).glob("*"):
            with self._lock, suppress(OSError):
                draft = self._drafts.get(folder.name)
                in_use = draft is not None and draft.is_sealed
                old = time.time() - folder.stat().st_mtime > DRAFT_SECONDS
                if old and not in_use and not self._is_held(folder):
                    shutil.rmtree(folder, ignore_errors=True)
                    self._drafts.pop(folder.name, None)

    def close(self) -> None:
        for executor in self._executors.values():
            if isinstance(executor, HelperProcess):
                executor.kill()
            executor.shutdown(cancel_futures=True)
        self.studies.close()


@contextmanager
def _marked(draft: Path) -> Iterator[None]:
    """A draft of which something is made, so that the other servers need not ask the database about each draft."""
    with failures("written", draft):
        (draft / _SEALED).touch()
    try:
        yield
    finally:
        (draft / _SEALED).unlink(missing_ok=True)


def delete(folder: Path, within: Path) -> None:
    """Delete a folder of the one that is served: at once by a new name, then for good."""
    with failures("deleted", folder):
        (within / DELETED).mkdir(exist_ok=True)
        gone = within / DELETED / secrets.token_hex(8)
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
