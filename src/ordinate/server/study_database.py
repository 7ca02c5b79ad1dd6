"""Studies in a PostgreSQL database, with their files in the folder that is served. Several servers share both.

    FOLDER/photos/media/   the files of the study "photos" that were dropped, under names of our own

Files come before the study that shows them, as second names of those of a draft, and go with it. A server that is
killed in between leaves files that no study shows, but no study without files.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ordinate.data.formats.files import failures
from ordinate.data.items import Items
from ordinate.errors import OrdinateError, StudyNotFound
from ordinate.server.drafts import MEDIA, Draft
from ordinate.server.making import Target, with_media_in
from ordinate.server.problems import Problem
from ordinate.server.workspace import DELETED, delete
from ordinate.storage import Place
from ordinate.storage.places import PostgresqlDatabase


class StudyDatabase:
    is_alone = False

    def __init__(self, folder: Path, database: PostgresqlDatabase) -> None:
        self._folder = folder
        self._database = database.open()

    def all(self) -> list[Place]:
        return [self.place(name) for name in self._database.studies()]

    def versions(self) -> Mapping[str, int]:
        """What tells each study from another one of the same name, by name, as they are now."""
        return {name: found.table for name, found in self._database.studies().items()}

    def forget(self) -> None:
        """Ask the database again at the next call."""
        self._database.forget()

    def place(self, name: str) -> Place:
        return self._database.study(name)

    def folders(self, place: Place) -> tuple[Path, ...]:
        return (self._folder / place.name,)

    def media(self, place: Place) -> Path:
        return self._folder / place.name / MEDIA

    def stored(self, items: Items, place: Place) -> Items:
        return with_media_in(items, self.media(place))

    def is_own(self, place: Place) -> bool:
        found = self._database.studies().get(place.name)
        return found is not None and found.own

    def is_shared(self, folder: Path | None) -> bool:
        return False

    def require_free(self, name: str) -> None:
        self._database.require_free(name)

    def target(self, draft: Path, name: str) -> Target:
        place = self.place(name)
        return Target(place.url, self.media(place))

    def publish(self, draft: Draft, name: str) -> Place:
        self.forget()
        with suppress(OrdinateError):  # it is deleted when it is old
            delete(draft.folder, self._folder)
        return self.place(name)

    def archived(self) -> list[str]:
        return self._database.archived()

    def archive(self, place: Place) -> None:
        self._database.archive(place.name)

    def restore(self, name: str) -> Place:
        try:
            self._database.restore(name)
        except StudyNotFound:
            raise _not_archived(name) from None
        return self.place(name)

    def delete(self, place: Place) -> None:
        self._delete(place.name, archived=False)

    def delete_archived(self, name: str) -> None:
        try:
            self._delete(name, archived=True)
        except StudyNotFound:
            raise _not_archived(name) from None

    def _delete(self, name: str, *, archived: bool) -> None:
        """The files get another name before the study is gone for good, and their own one back if it is not."""
        media, gone = self._folder / name / MEDIA, self._folder / DELETED / secrets.token_hex(8)

        def move() -> None:
            if media.is_dir():
                with failures("deleted", media):
                    gone.parent.mkdir(exist_ok=True)
                    media.rename(gone)

        try:
            self._database.drop(name, move, archived=archived)
        except BaseException:
            if gone.is_dir():
                os.rename(gone, media)
            raise
        shutil.rmtree(gone, ignore_errors=True)
        with suppress(OSError):  # other files may lie there
            media.parent.rmdir()

    @contextmanager
    def holding(self, draft: str) -> Iterator[bool]:
        with self._database.holding(f"ordinate draft {draft}") as free:
            yield free

    def close(self) -> None:
        self._database.close()


def _not_archived(name: str) -> Problem:
    return Problem(404, f"no study {name!r} is in the archive")
