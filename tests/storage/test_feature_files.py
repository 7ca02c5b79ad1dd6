"""Studies whose features stay in a file: the same study as with features in memory, reopened, moved, changed."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.__main__ import main
from ordinate.choosing.search import LazySearch, Limits
from ordinate.data.items import Items
from ordinate.errors import FeaturesChanged, InvalidInput
from ordinate.study import inference, study
from ordinate.study.study import Study

IDS = [f"i{row}" for row in range(30)]
VALUES = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)


@pytest.fixture
def url(tmp_path: Path) -> str:
    np.save(tmp_path / "features.npy", VALUES)
    address = f"sqlite:///{tmp_path / 'study.db'}"
    items = Items.from_columns({"id": IDS}, features=tmp_path / "features.npy")
    Study.create(items, storage=address, algorithm="guro-contextual").close()
    return address


def answered(opened: Study, count: int) -> list[tuple[str, str]]:
    asked = []
    for number in range(count):
        query = opened.ask()
        opened.tell(query.id, ("left", "right", "tie")[number % 3])
        asked.append((query.left, query.right))
    return asked


def test_it_is_the_study_with_the_features_inside(url: str) -> None:
    inside = Study.create(Items.from_columns({"id": IDS}, features=VALUES), algorithm="guro-contextual")
    with Study.open(url) as outside:
        assert answered(outside, 12) == answered(inside, 12)
        more = Items.from_columns({"id": ["new1", "new2"]}, features=VALUES[:2] + 1)
        for one in (outside, inside):
            one.add_items(more)
        assert answered(outside, 5) == answered(inside, 5)
    with Study.open(url) as outside:
        assert outside.ask()[1:] == inside.ask()[1:]
        np.testing.assert_array_equal(outside.ordering().scores, inside.ordering().scores)
        assert outside.items.take([31, 0]).ids == ("new2", "i0")


def test_the_folder_moves_as_a_whole(url: str, tmp_path: Path) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    shutil.copytree(tmp_path, elsewhere)
    (tmp_path / "features.npy").unlink()
    with Study.open(f"sqlite:///{elsewhere / 'study.db'}") as opened:
        answered(opened, 2)


def test_a_moved_file_is_found_again(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "moved"
    folder.mkdir()
    shutil.move(tmp_path / "features.npy", folder / "other.npy")
    with pytest.raises(FeaturesChanged, match="is not there"):
        Study.open(url)
    db = str(tmp_path / "study.db")
    np.save(folder / "wrong.npy", VALUES + 1)
    assert main(["db", "features", db, "--file", str(folder / "wrong.npy")]) == 2
    assert main(["db", "features", db, "--file", str(folder / "missing.npy")]) == 2
    assert main(["db", "features", db, "--file", str(folder / "other.npy")]) == 0
    assert main(["db", "features", db]) == 0
    assert "unchanged, 30 x 3" in capsys.readouterr().out
    with Study.open(url) as opened:
        answered(opened, 2)


def test_a_changed_file_is_refused(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "features.npy", VALUES + 1)
    with pytest.raises(FeaturesChanged, match="SHA-256 is another"):
        Study.open(url)
    assert main(["order", str(tmp_path / "study.db")]) == 2
    assert main(["db", "features", str(tmp_path / "study.db")]) == 2
    assert "SHA-256" in capsys.readouterr().err


def test_a_large_file_is_not_copied_into_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordinate.data.items.LARGEST_IN_MEMORY", 100)
    np.save(tmp_path / "features.npy", VALUES)
    (tmp_path / "items.csv").write_text("id\n" + "\n".join(IDS) + "\n")
    items, features = str(tmp_path / "items.csv"), str(tmp_path / "features.npy")
    assert main(["create", str(tmp_path / "s.db"), "--items", items, "--features", features]) == 0
    assert main(["db", "features", str(tmp_path / "s.db")]) == 0
    (tmp_path / "features.npy").unlink()
    with pytest.raises(FeaturesChanged):
        Study.open(f"sqlite:///{tmp_path / 's.db'}")


@settings(max_examples=4, deadline=None)
@given(algorithm=st.sampled_from(["guro-contextual", "guro-hybrid-factored"]), seed=st.integers(0, 1000))
def test_float32_makes_nearly_the_same_study(algorithm: str, seed: int) -> None:
    """Many items' features are kept in float32: the same questions here, and scores and errors to 1e-4."""
    with pytest.MonkeyPatch.context() as patch:
        made = []
        for many in (20_000, 10):
            patch.setattr(inference, "MANY_ITEMS", many)
            one = Study.create(Items.from_columns({"id": IDS}, features=VALUES), algorithm=algorithm, seed=seed)
            made.append((answered(one, 20), one.ordering(), one.expected_error()))
    (asked, ordering, error), (single_asked, single, single_error) = made
    assert asked == single_asked
    np.testing.assert_allclose(single.scores, ordering.scores, atol=1e-4)
    np.testing.assert_allclose(single.standard_errors, ordering.standard_errors, atol=1e-4)
    assert single_error == pytest.approx(error, abs=1e-4)


def test_a_covariance_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordinate.algorithms.MANY_ITEMS", 20)
    items = Items.from_columns({"id": IDS}, features=VALUES)
    with pytest.raises(InvalidInput, match="guro-hybrid keeps the covariance of every item with every other"):
        Study.create(items, algorithm="guro-hybrid")
    assert Study.create(items, algorithm="guro-hybrid-factored").ask()


def test_reopened_studies_of_many_items_ask_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(inference, "MANY_ITEMS", 10)
    monkeypatch.setattr(inference, "LazySearch", lambda: LazySearch(Limits(most_pairs=100)))
    np.save(tmp_path / "features.npy", VALUES)
    items = Items.from_columns({"id": IDS}, features=tmp_path / "features.npy")
    for name in ("guro-contextual", "guro-hybrid-factored", "bald-contextual", "bayes-guro-hybrid-factored"):
        address = f"sqlite:///{tmp_path / name}.db"
        asked = answered(study.Study.create(items, algorithm=name, storage=address, refit_every=4), 12)
        again = study.Study.create(items, algorithm=name, refit_every=4)
        for number in range(12):
            query = again.ask()
            assert (query.left, query.right) == asked[number]
            again.tell(query.id, ("left", "right", "tie")[number % 3])
            again._ledger.drop_caches()
