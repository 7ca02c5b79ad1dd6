"""Every storage keeps the same promises. A new one is one row of STORAGES."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pytest

from ordinate import storage as storages
from ordinate.data.items import Items
from ordinate.storage import Entry, Recorded, Settings, Storage

SETTINGS = Settings(
    "guro-hybrid",
    "Which is «clearer»?",
    2**40,
    "none",
    7,
    5000,
    None,
    0.1 + 0.2,
    1e-6,
    False,
    "probit",
    0.1 + 0.7,
    True,
    True,
)
ITEMS = Items(
    ids=["001", "1", "naïve ∑", "a,b\n'c'\""],
    features=np.array([[1e-300, -0.0], [1.0, 2.0], [np.pi, 1e300], [0.1, 1 / 3]]),
    feature_names=["weight", "größe"],
    group=["x", "x", "y", "y"],
    content={"text": ["one", None, "", "four\nlines"], "link": [None, None, None, "https://example.org/4"]},
)
MORE = Items(
    ids=["5"],
    features=np.array([[5.0, 6.0]]),
    feature_names=["weight", "größe"],
    group=["z"],
    content={"image": ["5.png"]},
)
FIRST = Entry(1, "add-items", "2025-01-02T03:04:05.678+00:00")
ENTRIES = [
    Entry(2, "ask", "t", 1, "001", "1", None, "Zoë", 1, 0.1 + 0.2, "guro-hybrid"),
    Entry(3, "answer", "t", 1, "001", "1", "left", "Zoë"),
    Entry(4, "record", "t", None, "naïve ∑", "a,b\n'c'\"", "tie", None),
    Entry(5, "exclude-item", "t", left="001"),
    Entry(6, "exclude-annotator", "t", annotator="Zoë"),
]

STORAGES: dict[str, Callable[[pytest.FixtureRequest], str | None]] = {
    "memory": lambda request: None,
    "sqlite": lambda request: f"sqlite:///{request.getfixturevalue('tmp_path') / 'a study?%41#.db'}",
    "postgresql": lambda request: request.getfixturevalue("postgresql").url(),
}


class Kept(NamedTuple):
    storage: Storage
    again: Callable[[], Storage]
    """The same study as another process would see it."""


@pytest.fixture(params=STORAGES)
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    url = STORAGES[request.param](request)
    storage = storages.create(url, SETTINGS, ITEMS)
    yield Kept(storage, lambda: storage if url is None else storages.open(url))
    storage.close()


def entries_of(storage: Storage, after: int = 0) -> list[Entry]:
    with storage.reading() as log:
        return list(log.entries(after))


def assert_same_items(one: Items, other: Items) -> None:
    assert one.ids == other.ids
    assert one.features.tobytes() == other.features.tobytes()
    assert one.features.shape == other.features.shape
    assert one.feature_names == other.feature_names
    assert one.group == other.group
    assert one.content == other.content


def test_keeps_the_settings_and_a_token_of_six_characters(kept: Kept) -> None:
    again = kept.again()
    assert again.settings == SETTINGS
    assert again.token == kept.storage.token
    assert len(again.token) == 6


def test_two_studies_have_two_tokens() -> None:
    assert storages.create(None, SETTINGS, ITEMS).token != storages.create(None, SETTINGS, ITEMS).token


def test_begins_with_the_items_bit_for_bit(kept: Kept) -> None:
    (first,) = entries_of(kept.again())
    assert first[:2] == (1, "add-items")
    with kept.again().reading() as log:
        assert_same_items(log.items(1), ITEMS)


def test_gives_entries_back_as_they_were(kept: Kept) -> None:
    with kept.storage.writing() as log:
        log.append(ENTRIES)
    assert entries_of(kept.again(), after=1) == ENTRIES
    assert entries_of(kept.again(), after=4) == ENTRIES[3:]
    assert entries_of(kept.again(), after=6) == []


def test_recorded_comparisons_are_entries_and_come_as_columns(kept: Kept) -> None:
    recorded = Recorded(4, ["001", "1"], ["1", "001"], ["left", "tie"], ["Zoë", None])
    with kept.storage.writing() as log:
        log.append(ENTRIES[:2])
        log.record(recorded, "t")
        log.append([ENTRIES[3]._replace(position=6)])
    written = [
        *ENTRIES[:2],
        Entry(4, "record", "t", None, "001", "1", "left", "Zoë"),
        Entry(5, "record", "t", None, "1", "001", "tie", None),
        ENTRIES[3]._replace(position=6),
    ]
    again = kept.again()
    assert entries_of(again, after=1) == written
    for after in range(1, 7):
        with again.reading() as log:
            assert as_entries(log.parts(after)) == written[after - 1 :]


def as_entries(parts: Iterable[Entry | Recorded]) -> list[Entry]:
    """With the time that the test gives all of them."""
    entries: list[Entry] = []
    for part in parts:
        if isinstance(part, Recorded):
            first, *columns = part
            rows = zip(*columns, strict=True)
            entries += [Entry(place, "record", "t", None, *row) for place, row in enumerate(rows, first)]
        else:
            entries.append(part)
    return entries


def test_items_added_later_belong_to_their_entry(kept: Kept) -> None:
    with kept.storage.writing() as log:
        log.append(ENTRIES)
    with kept.storage.writing() as log:
        log.append([Entry(7, "add-items", "t")], MORE)
    with kept.again().reading() as log:
        assert_same_items(log.items(7), MORE)
        assert_same_items(log.items(1), ITEMS)


def test_a_block_that_fails_writes_nothing(kept: Kept) -> None:
    with pytest.raises(KeyboardInterrupt), kept.storage.writing():
        raise KeyboardInterrupt
    assert len(entries_of(kept.again())) == 1
    with kept.storage.writing() as log:
        log.append(ENTRIES)
    assert entries_of(kept.again(), after=1) == ENTRIES


def test_a_writer_reads_what_is_there(kept: Kept) -> None:
    with kept.storage.writing() as log:
        log.append(ENTRIES[:2])
    with kept.storage.writing() as log:
        assert list(log.entries(1)) == ENTRIES[:2]


def test_items_without_features_groups_or_content(kept: Kept) -> None:
    plain = Items(ids=["plain"])
    with kept.storage.writing() as log:
        log.append([Entry(2, "add-items", "t")], plain)
    with kept.again().reading() as log:
        assert_same_items(log.items(2), plain)
