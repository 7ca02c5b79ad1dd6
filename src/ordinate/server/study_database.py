"""Studies in a PostgreSQL database, with their files in the folder that is served. Several servers share both.

    FOLDER/photos/media/   the files of the study "photos" that were dropped, under names of our own

Files come before the study that shows them, as second names of those of a draft, and go after it. A server that is
killed in between leaves files that no study shows, but no study without files; those of a study that was being deleted
go when the next server starts.

Two studies may have one name, as a live one and an archived one, or one in files and one in the database. So what is
deleted with a study are the files that it shows and no other one does.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ordinate.data.items import Items
from ordinate.errors import OrdinateError, StudyExists, StudyNotFound
from ordinate.server import helpers
from ordinate.server.drafts import MEDIA, Draft
from ordinate.server.making import Target, with_media_in
from ordinate.server.problems import Problem
from ordinate.server.registry import SharedStudies
from ordinate.server.workspace import delete
from ordinate.storage import Place
from ordinate.storage.places import PostgresqlDatabase

log = logging.getLogger("ordinate.server")

PROCESSES = helpers.MOST + 3
"""Processes of a server that have a connection each: its helpers, and those that look at files that are dropped, make
studies of them, and make a report."""


class StudyDatabase:
    is_alone = False

    def __init__(self, folder: Path, database: PostgresqlDatabase) -> None:
        self._folder = folder
        self._database = database.open()
        self._finish_deleting()
        self._warn_of_connections()

    @property
    def shared(self) -> SharedStudies:
        return self

    def unshared(self) -> list[Place]:
        return []

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
        if (self._folder / name / f"{name}.db").exists():
            raise StudyExists(f"there is a study {name!r} in files of the folder already; choose another name")

    def target(self, draft: Path, name: str) -> Target:
        place = self.place(name)
        return Target(place.url, self.media(place))

    def publish(self, draft: Draft, name: str) -> Place:
        self.forget()
        return self.place(name)

    def take_back(self, draft: Draft, place: Place) -> None:
        self.delete(place)

    def finish(self, draft: Draft, place: Place) -> None:
        with suppress(OrdinateError):  # it is deleted when it is old
            delete(draft.folder, self._folder)

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
        self._database.begin_deleting(place.name)
        self._finish_deleting()

    def delete_archived(self, name: str) -> None:
        try:
            self._database.begin_deleting(name, archived=True)
        except StudyNotFound:
            raise _not_archived(name) from None
        self._finish_deleting()

    def _finish_deleting(self) -> None:
        """Delete the files of studies that are gone, then what says which these are. What fails is tried again with the
        next study that is deleted, and when a server starts."""
        try:
            for schema in self._database.being_deleted():
                with self._database.holding(f"ordinate {schema}") as free:
                    # Another server may have finished meanwhile.
                    name = self._database.being_deleted().get(schema) if free else None
                    if name is not None:
                        self._delete_files(schema, name)
                        self._database.end_deleting(schema)
        except (OrdinateError, OSError) as error:
            log.error("what is left of a deleted study could not be deleted yet: %s", error)

    def _warn_of_connections(self) -> None:
        most, wanted = self._database.most_connections(), self._database.own_connections + PROCESSES
        if wanted > most:
            log.warning(
                "%s takes %d connections, and each server may need %d; raise max_connections by %d or more",
                self._database.shown,
                most,
                wanted,
                wanted - most,
            )

    def _delete_files(self, schema: str, name: str) -> None:
        media = self._folder / name / MEDIA
        if (media.parent / f"{name}.db").exists():
            return  # they are those of a study in files
        beginning = f"{media.as_posix()}/"
        for place in self._database.files([schema], beginning) - self._database.files_of_others(name, beginning):
            if (path := Path(place)).parent == media:
                path.unlink(missing_ok=True)
        with suppress(OSError):  # other files may lie there
            media.rmdir()
            media.parent.rmdir()

    @contextmanager
    def holding(self, draft: str) -> Iterator[bool]:
        with self._database.holding(f"ordinate draft {draft}") as free:
            yield free

    def close(self) -> None:
        self._database.close()


def _not_archived(name: str) -> Problem:
    return Problem(404, f"no study {name!r} is in the archive")
