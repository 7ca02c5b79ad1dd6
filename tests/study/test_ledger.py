"""What is refused in the middle of a change leaves nothing of it behind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ordinate import Items, Study
from ordinate.errors import InvalidInput, OrdinateError
from ordinate.storage import sql


def items(*names: str) -> Items:
    return Items(list(names), np.arange(2.0 * len(names)).reshape(-1, 2))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


def test_features_that_are_too_large_leave_the_study_as_it_was(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Study.create(items("a", "b", "c"), storage=url) as study:
        study.record([("a", "b", "left")])
        monkeypatch.setattr(sql, "_LARGEST_BLOCK", 40)
        with pytest.raises(InvalidInput, match=r"numpy\.save"):
            study.add_items(items("d", "e", "f"))
        study.add_items(items("g"))
    with Study.open(url) as study:
        assert list(study.items.ids) == ["a", "b", "c", "g"]
        assert len(study.comparisons()) == 1


def test_what_the_storage_refuses_half_way_is_undone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is: here the rows of the items are there already when their features are refused."""

    insert = sql._insert

    def refusing(table: str, names: tuple[str, ...]) -> str:
        if table == "features":
            raise OrdinateError("no")
        return insert(table, names)

    with Study.create(items("a", "b", "c"), storage=url) as study:
        with monkeypatch.context() as during:
            during.setattr(sql, "_insert", refusing)
            with pytest.raises(OrdinateError, match="no"):
                study.add_items(items("d"))
        assert list(study.items.ids) == ["a", "b", "c"]
        study.record([("a", "b", "left")])
    with Study.open(url) as study:
        assert list(study.items.ids) == ["a", "b", "c"]
        assert len(study.comparisons()) == 1
