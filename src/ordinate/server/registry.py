"""The studies that a server serves: opened, agreed upon with other servers of one database, and closed."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple, Protocol

from ordinate.errors import (
    InvalidInput,
    OrdinateError,
    StorageFailed,
    StudyExists,
)
from ordinate.server.helpers import Helpers
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem
from ordinate.server.served_study import FAILURE_SECONDS, ServedStudy
from ordinate.storage import Place
from ordinate.storage.places import SqliteFile
from ordinate.study.rules import Link, Role

log = logging.getLogger("ordinate.server")


def short_name(name: str) -> str:
    """What the addresses of a study begin with, unless another study that is served has that name already."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "study"


class SharedStudies(Protocol):
    """Studies that other servers make, archive and delete, too."""

    def versions(self) -> Mapping[str, int]:
        """What tells each study from another one of the same name, by name, as they are now."""

    def forget(self) -> None:
        """Ask again at the next call."""

    def place(self, name: str) -> Place: ...


class Refusal(NamedTuple):
    """Which study could not be opened, when by a clock that does not jump, and whether it may be the next time."""

    version: int
    at: float
    may_pass: bool


class StudyRegistry:
    """All studies that one server serves, by name.

    media_folders  whose files every study may show
    root           what the paths of the server begin with: "" or, behind a proxy, a path such as "/judging"
    folder         whose studies are served; None: single files are
    folders        those in which a study has its files, beside the media folders; None: that of its file
    shared         all studies of a database, which are served as long as they are there
    """

    def __init__(
        self,
        executor: Callable[[], Executor],
        media_folders: Sequence[Path],
        limits: Limits,
        root: str,
        clock: Callable[[], float],
        folder: Path | None = None,
        folders: Callable[[Place], Sequence[Path]] | None = None,
        shared: SharedStudies | None = None,
    ) -> None:
        self._folder, self._folders, self._shared = folder, folders or _own_folder, shared
        self._executor, self.media_folders, self._limits, self._root = executor, media_folders, limits, root
        self._clock = clock
        self._helpers = Helpers(executor)
        self._served: dict[str, ServedStudy] = {}
        self._lock = threading.RLock()
        self._refused: dict[str, Refusal] = {}
        self._unopened: set[str] = set()

    def __iter__(self) -> Iterator[ServedStudy]:
        self.agree()
        found = self.served()
        # Those of a database are opened in the order in which they are asked for, which differs from server to server.
        return iter(found if self._shared is None else sorted(found, key=lambda one: one.name))

    def get(self, name: str | None) -> ServedStudy | None:
        self.agree(name)
        return None if name is None else self._served.get(name)

    def is_out_of_order(self, name: str) -> bool:
        """Whether a study that is not served is there and could not be read just now, or may be there."""
        try:
            found = self._refused.get(name) if self._shared and name in self._shared.versions() else None
        except StorageFailed:
            return True  # the database does not say
        return name in self._unopened or (found is not None and found.may_pass)

    def is_served(self, name: str) -> bool:
        """Already; nobody is waited for."""
        return name in self._served

    def served(self) -> list[ServedStudy]:
        """Those that are served already; nobody is waited for."""
        return list(self._served.values())

    @property
    def is_reachable(self) -> bool:
        """Whether the database of the studies can be asked, if there is one."""
        try:
            if self._shared is not None:
                self._shared.versions()
        except StorageFailed:
            return False
        return True

    def agree(self, name: str | None = None) -> None:
        """Serve the studies that are in the database now, or only the one of this name: whoever wants one waits for no
        other to be opened."""
        if self._shared is None:
            return
        try:
            versions = self._shared.versions()
        except StorageFailed:
            return  # what was known last can still be read
        for served in self.served():
            if versions.get(served.name) != served.version:
                self._close_changed(self._shared, served, wait=name in (None, served.name))
        if name is None:
            self._refused = {one: found for one, found in list(self._refused.items()) if one in versions}
        for one in versions if name is None else {name} & versions.keys():
            if one not in self._served and not self._is_refused(one, versions[one]):
                self._open_new(self._shared, one)

    def _close_changed(self, shared: SharedStudies, served: ServedStudy, wait: bool) -> None:
        if not self._lock.acquire(blocking=wait):
            return  # it is closed by a later request
        try:
            # Another request may have noticed it, or have opened the study later than we asked.
            if self._served.get(served.name) is served and shared.versions().get(served.name) != served.version:
                log.info("%s is no longer served", served.name)
                self._close(served.name)
        except StorageFailed:
            return
        finally:
            self._lock.release()

    def _open_new(self, shared: SharedStudies, name: str) -> None:
        with self._lock:
            try:
                version = shared.versions().get(name)
            except StorageFailed:
                return
            if version is None or name in self._served or self._is_refused(name, version):
                return
            try:
                self._open(shared.place(name), name, version)
                self._refused.pop(name, None)
            except OrdinateError as error:
                self._refused[name] = Refusal(version, time.monotonic(), _may_pass(error))
                log.error("%s is not served: %s", name, error)

    def _is_refused(self, name: str, version: int) -> bool:
        """Whether this very study could not be opened a moment ago."""
        found = self._refused.get(name)
        return found is not None and found.version == version and time.monotonic() <= found.at + FAILURE_SECONDS

    def without_folders(self, message: str) -> str:
        """A message without the folders of this machine in which studies are."""
        for served in self.served():
            message = served.without_folders(message)
        if self._folder is not None:
            message = re.sub(rf"{re.escape(str(self._folder))}/?(\.drafts/\w+/)?", "", message)
        return message

    def open(self, study: Path | Place, name: str | None = None) -> ServedStudy:
        """Serve a study, named by its file or place. Raises StudyExists where that name is served already."""
        place = SqliteFile(study) if isinstance(study, Path) else study
        with self._lock:
            if self._shared is not None:
                return self._open_shared(self._shared, place)
            chosen = name or self._free_name(place.name)
            if chosen in self._served:
                raise StudyExists(f"a study {chosen!r} is served already; choose another name")
            return self._open(place, chosen, None)

    def open_if_possible(self, place: Place) -> None:
        """Serve a study that was found; where it cannot be read, whoever asks for it is told to try later."""
        try:
            self.open(place)
        except OrdinateError as error:
            if _may_pass(error):
                self._unopened.add(short_name(place.name))
            log.error("%s is not served: %s", place.shown, error)

    def _open_shared(self, shared: SharedStudies, place: Place) -> ServedStudy:
        shared.forget()
        version = shared.versions().get(place.name)
        served = self._served.get(place.name)
        if served is not None and served.version == version:
            return served  # another request has noticed that it is there
        if served is not None:
            self._close(place.name)
        return self._open(place, place.name, version)

    def serve_new(
        self, place: Place, name: str, roles: Sequence[Role], take_back: Callable[[Place], None]
    ) -> tuple[ServedStudy, list[Link]]:
        """Serve a study that was just made, with a link for each of these roles. Where that fails, it is not served and
        `take_back` undoes its making, so that its name is free and it can be made again."""
        try:
            served = self.open(place, name)
            return served, [served.study.make_link(role, name=role) for role in roles]
        except BaseException:
            try:
                # Another request may have opened it; and what is served by this name may be another study.
                known = self._served.get(name)
                if known is not None and known.place == place:
                    self.remove(name, take_back)
                else:
                    take_back(place)
            except (OrdinateError, OSError, Problem) as error:
                log.error("%s was made, is not served, and could not be deleted: %s", place.shown, error)
            raise

    def _open(self, place: Place, name: str, version: int | None) -> ServedStudy:
        served = ServedStudy(
            name,
            place,
            self._executor,
            self._helpers,
            (*self._folders(place), *self.media_folders),
            self._limits,
            self._root,
            self._clock,
            version,
        )
        self._served[name] = served
        self._unopened.discard(name)
        return served

    def _close(self, name: str) -> ServedStudy:
        """Serve a study no more. Raises a problem 404."""
        served = self._served.pop(name, None)
        if served is None:
            raise Problem(404, f"no study {name!r} is served here")
        served.prefetcher.stop()
        served.close()
        return served

    def remove(self, name: str, move: Callable[[Place], None]) -> None:
        """Serve a study no more and move it away; where that fails, serve it again. Raises a problem 404."""
        with self._lock:
            served = self._close(name)
            try:
                move(served.place)
            except BaseException:
                self.open(served.place, name)
                raise

    def close(self) -> None:
        self.stop()
        while self._served:
            self._served.popitem()[1].close()

    def stop(self) -> None:
        """Have no more pairs chosen, and refuse whoever waits: all helpers finish their jobs at the same time."""
        for served in self.served():
            served.prefetcher.stop()

    def kill_helpers(self) -> None:
        """End all helpers, whatever they do."""
        self._helpers.kill()

    def _free_name(self, given: str) -> str:
        name = short_name(given)
        names = [name, *(f"{name}-{number}" for number in range(2, len(self._served) + 3))]
        return next(one for one in names if one not in self._served)


def _may_pass(error: OrdinateError) -> bool:
    """Whether a study that could not be opened may be later: it was not read, rather than found to be none to serve."""
    return not isinstance(error, InvalidInput)


def _own_folder(place: Place) -> tuple[Path, ...]:
    return () if place.folder is None else (place.folder,)
