"""A copy in another place is the same study, and goes on as the first one would have."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate import storage as storages
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import FeaturesChanged, StorageFailed, StudyExists
from ordinate.study import copying
from ordinate.study.copying import copy_study
from ordinate.study.study import Study


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """A study in which nearly everything has happened."""
    rng = np.random.default_rng(0)
    content: dict[str, Any] = {"image": [f"media/{row}.png" for row in range(20)], "text": ["media/x"] * 20}
    items = Items([f"item {row}" for row in range(20)], rng.normal(size=(20, 3)), content=content)
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(items, storage=url, seed=5) as study:
        study.record([Comparison("item 1", f"item {row}", "left", "Zoë") for row in range(2, 12)])
        study.add_items(Items(["new"], np.ones((1, 3)), content={"image": ["https://example.org/new.png"]}))
        for _ in range(15):
            query = study.ask("Ann")
            study.tell(query.id, "left" if query.left > query.right else "right")
        study.undo("Ann")
        study.ask("Bob")
        study.exclude_item("item 3")
        study.set_rules(lease=120.0, budget=500)
        study.make_link("annotator", "Ann")
    return url


def test_to_postgresql_and_back(stored: str, postgresql: Any, tmp_path: Path) -> None:
    database = postgresql.url()
    there = copy_study(stored, database)
    assert (there.items, there.comparisons) == (21, 22)
    with Study.open(database) as study:
        images = study.items.content["image"]
        assert images[0] == str(tmp_path / "media" / "0.png")
        assert images[20] == "https://example.org/new.png"
        assert study.items.content["text"][0] == "media/x"
    (tmp_path / "elsewhere").mkdir()
    for folder, image in ((tmp_path, "media/0.png"), (tmp_path / "elsewhere", str(tmp_path / "media" / "0.png"))):
        back = f"sqlite:///{folder / 'back.db'}"
        assert copy_study(database, back) == there
        with Study.open(back) as study:
            assert Path(study.items.content["image"][0] or "") == tmp_path / "media" / "0.png", image
    # What comes next is what would have come next.
    with Study.open(stored) as one, Study.open(database) as other:
        assert [one.ask(name)[:3] for name in ("Bob", "Cleo", "Ann")] == [
            other.ask(name)[:3] for name in ("Bob", "Cleo", "Ann")
        ]


def test_nothing_is_overwritten(stored: str, tmp_path: Path) -> None:
    with pytest.raises(StudyExists):
        copy_study(stored, stored)
    with Study.open(stored) as study:
        assert len(study.comparisons()) == 22


def test_a_copy_that_cannot_be_completed_leaves_nothing(
    stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_append", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        copy_study(stored, f"sqlite:///{tmp_path / 'copy.db'}")
    assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize("lost", ["an answer", "a link"])
def test_a_copy_that_differs_is_not_called_the_same(
    lost: str, stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = f"sqlite:///{tmp_path / 'copy.db'}"
    append, kind = copying._append, {"an answer": "answer", "a link": "link"}[lost]

    def forgetful(log: Any, waiting: list[Any]) -> None:
        if waiting and waiting[-1].kind == "link":
            position = next(place for place, entry in enumerate(waiting) if entry.kind == kind)
            waiting[position] = waiting[position]._replace(annotator="Somebody else")
        append(log, waiting)

    monkeypatch.setattr(copying, "_append", forgetful)
    with pytest.raises(StorageFailed, match="not the same log"):
        copy_study(stored, target)
    assert not (tmp_path / "copy.db").exists()


def test_a_study_that_grows_meanwhile_is_said(stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"sqlite:///{tmp_path / 'copy.db'}"
    require_same = copying._require_same

    def grown(*given: Any) -> Any:
        with Study.open(stored) as study:
            study.ask("Eve")
        return require_same(*given)

    monkeypatch.setattr(copying, "_require_same", grown)
    with pytest.raises(StorageFailed, match="was changed while it was copied"):
        copy_study(stored, target)
    assert not (tmp_path / "copy.db").exists()


def test_a_copy_keeps_the_token_by_which_links_are_signed(stored: str, tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path / 'copy.db'}"
    copy_study(stored, target)
    with closing(storages.open(stored)) as one, closing(storages.open(target)) as other:
        assert one.token == other.token


def test_features_of_a_study_stay_partly_in_a_file(tmp_path: Path) -> None:
    features, url = np.random.default_rng(1).normal(size=(6, 2)), f"sqlite:///{tmp_path / 'study.db'}"
    np.save(tmp_path / "features.npy", features)
    np.save(tmp_path / "more.npy", features[:2] + 1)
    given: list[Any] = [tmp_path / "features.npy", features[:2] + 2, tmp_path / "more.npy", features[:1] + 3]
    with Study.create(Items(list("abcdef"), given[0]), storage=url) as study:
        for name, more in zip("ghi", given[1:], strict=True):
            study.add_items(Items([f"{name}{row}" for row in range(1 if name == "i" else 2)], more))
        study.record([Comparison("a", "g0", "left"), Comparison("h1", "i0", "right")])
        expected = study.ordering()
    assert copy_study(url, f"sqlite:///{tmp_path / 'copy.db'}")[1:] == (11, 2)
    with Study.open(f"sqlite:///{tmp_path / 'copy.db'}") as copied:
        assert copied.ordering().ids == expected.ids


@pytest.mark.parametrize("problem", [KeyboardInterrupt, FeaturesChanged])
def test_a_copy_that_could_not_be_compared_does_not_stay(
    problem: Any, stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_digest", lambda _: (_ for _ in ()).throw(problem("gone")))
    with pytest.raises(problem, match="gone"):
        copy_study(stored, f"sqlite:///{tmp_path / 'copy.db'}")
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_features_that_differ_are_noticed(stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items, changed = copying._items, np.zeros((1, 3))
    monkeypatch.setattr(
        copying, "_items", lambda *given: replace(made, features=changed) if len(made := items(*given)) == 1 else made
    )
    with pytest.raises(StorageFailed, match=r"was not the same study as .* and was deleted; copy again"):
        copy_study(stored, f"sqlite:///{tmp_path / 'copy.db'}")
    assert not (tmp_path / "copy.db").exists()
