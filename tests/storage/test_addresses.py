"""Addresses of storages."""

import os
from pathlib import Path

import pytest

from ordinate import storage as storages
from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StudyNotFound
from ordinate.storage import Settings

ITEMS = Items(ids=["a", "b"])


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("study.db", "'sqlite:///study.db'"),
        ("/home/me/study.db", "'sqlite:////home/me/study.db'"),
        ("mysql://host/db", "supported are sqlite:///FILE"),
        ("sqlite://study.db", "supported are sqlite:///FILE"),
        ("sqlite:///", "names no file"),
        ("sqlite:///:memory:", "leave the storage out"),
        ("", "supported are"),
    ],
)
def test_says_which_addresses_there_are(url: str, words: str) -> None:
    for use in (storages.open, storages.upgrade, lambda given: storages.create(given, Settings("guro-hybrid"), ITEMS)):
        with pytest.raises(InvalidInput, match=words.replace("(", r"\(")):
            use(url)


def test_a_relative_file_stays_the_same_file_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = storages.create("sqlite:///study.db", Settings("guro-hybrid"), ITEMS)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with storage.reading() as log:
        assert len(log.entries(0)) == 1
    assert os.listdir(tmp_path / "elsewhere") == []
    with pytest.raises(StudyNotFound):
        storages.open("sqlite:///study.db")
