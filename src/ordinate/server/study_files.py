"""Studies that are files of the folder that is served.

    FOLDER/photos.db          a study that was made elsewhere
    FOLDER/photos/photos.db   a study that was made in the browser, in a folder of its own
    FOLDER/photos/media/      its files, under names of our own
    FOLDER/.archive/photos/   a study that is no longer served

A study comes, moves and goes by one renaming of its folder. So it is whole or absent, whenever the server is killed.
Only items that are added to a study leave their draft otherwise: by second names of their files, then one transaction.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ordinate.data.formats.files import failures
from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StudyExists
from ordinate.server.drafts import MANIFEST, MEDIA, Draft, was_draft
from ordinate.server.making import Target
from ordinate.server.problems import Problem
from ordinate.server.workspace import NAME, delete
from ordinate.storage import Place
from ordinate.storage.places import SqliteFile

_ARCHIVE = ".archive"


class StudyFiles:
    is_alone = True
    shared = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        for manifest in folder.glob(f"*/{MANIFEST}"):
            made = manifest.parent
            # A server was killed before it finished; or the file is the user's and merely has the name of ours.
            if (made / f"{made.name}.db").is_file() and was_draft(made):
                with suppress(OSError):
                    Draft.forget_uploads(made)

    def all(self) -> list[Place]:
        with failures("read", self._folder):
            found = [path for path in self._folder.glob("*.db") if path.is_file()]
            found += [path for path in self._folder.glob("*/*.db") if self.is_own(SqliteFile(path)) and path.is_file()]
        return [SqliteFile(path) for path in sorted(found, key=lambda path: path.stem)]

    def unshared(self) -> list[Place]:
        return self.all()

    def place(self, name: str) -> Place:
        return SqliteFile(self._folder / f"{name}.db")

    def folders(self, place: Place) -> tuple[Path, ...]:
        return () if place.folder is None else (place.folder,)

    def media(self, place: Place) -> Path:
        return _path(place).parent / MEDIA

    def stored(self, items: Items, place: Place) -> Items:
        return items  # paths start at the folder of the study, as those of a draft start at its own

    def is_own(self, place: Place) -> bool:
        """Whether a study has a folder of its own here."""
        path = _path(place)
        return path.parent.parent == self._folder and path.parent.name == path.stem and bool(re.match(NAME, path.stem))

    def is_shared(self, folder: Path | None) -> bool:
        return folder is not None and folder.resolve() == self._folder.resolve()

    def require_free(self, name: str) -> None:
        places = (self._folder / name, self._folder / f"{name}.db", self._archive / name)
        if any(place.exists() for place in places):
            raise StudyExists(f"there is a study {name!r} already, perhaps in the archive; choose another name")

    def target(self, draft: Path, name: str) -> Target:
        return Target(SqliteFile(draft / f"{name}.db").url, None)

    def publish(self, draft: Draft, name: str) -> Place:
        target = self._folder / name
        with self._lock, failures("written", target):
            self.require_free(name)
            draft.folder.rename(target)
        return SqliteFile(target / f"{name}.db")

    def take_back(self, draft: Draft, place: Place) -> None:
        path = _path(place)
        with failures("written", draft.folder):
            path.parent.rename(draft.folder)
        SqliteFile(draft.folder / path.name).delete()

    def finish(self, draft: Draft, place: Place) -> None:
        with suppress(OSError):  # the study does without
            draft.forget_uploads(_path(place).parent)

    @property
    def _archive(self) -> Path:
        return self._folder / _ARCHIVE

    def archived(self) -> list[str]:
        return sorted(path.name for path in self._archive.glob("*") if (path / f"{path.name}.db").is_file())

    def archive(self, place: Place) -> None:
        path = self._own(place)
        with failures("written", self._archive):
            self._archive.mkdir(exist_ok=True)
            path.parent.rename(self._archive / path.stem)

    def restore(self, name: str) -> Place:
        target = self._folder / name
        with self._lock, failures("written", target):
            self._require_archived(name)
            if target.exists() or target.with_suffix(".db").exists():
                raise StudyExists(f"there is a study {name!r} already; rename its folder first")
            (self._archive / name).rename(target)
        return SqliteFile(target / f"{name}.db")

    def delete(self, place: Place) -> None:
        delete(self._own(place).parent, self._folder)

    def delete_archived(self, name: str) -> None:
        self._require_archived(name)
        delete(self._archive / name, self._folder)

    def _require_archived(self, name: str) -> None:
        if name not in self.archived():
            raise Problem(404, f"no study {name!r} is in the archive")

    def _own(self, place: Place) -> Path:
        path = _path(place)
        if not self.is_own(place):
            raise InvalidInput(
                f"the study {path.stem!r} has no folder of its own here; move or delete {path.name} and its files "
                "yourself, while the server does not run"
            )
        return path

    @contextmanager
    def holding(self, draft: str) -> Iterator[bool]:
        yield True

    def close(self) -> None:
        pass


def _path(place: Place) -> Path:
    assert isinstance(place, SqliteFile)
    return place.path
