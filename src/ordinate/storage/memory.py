"""A study in memory: for simulations, notebooks and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from ordinate.data.items import Items
from ordinate.storage.log import Entry, Log, Recorded, Settings


class MemoryStorage:
    folder: Path | None = None

    def __init__(self, settings: Settings, token: str) -> None:
        self.settings = settings
        self.token = token
        self._entries: list[Entry] = []
        self._items: dict[int, Items] = {}

    def entries(self, after: int) -> Sequence[Entry]:
        return self._entries[after:]

    parts = entries

    def items(self, added: int) -> Items:
        return self._items[added]

    def append(self, entries: Sequence[Entry], items: Items | None = None) -> None:
        if items is not None:
            self._items[entries[0].position] = items
        self._entries.extend(entries)

    def record(self, recorded: Recorded, at: str) -> None:
        first, *columns = recorded
        rows = zip(*columns, strict=True)
        self._entries.extend(Entry(place, "record", at, None, *row) for place, row in enumerate(rows, first))

    def reading(self) -> AbstractContextManager[Log]:
        return nullcontext(self)

    @contextmanager
    def writing(self) -> Iterator[Log]:
        """All that is appended inside, or nothing where the block fails."""
        before = len(self._entries)
        try:
            yield self
        except BaseException:
            for entry in self._entries[before:]:
                self._items.pop(entry.position, None)
            del self._entries[before:]
            raise

    def check(self) -> None:
        pass

    def version(self) -> None:
        return None

    def serving(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        pass
