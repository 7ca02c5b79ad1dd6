"""Addresses of storages."""

import os
import re
from pathlib import Path

import pytest

from ordinate import storage as storages
from ordinate.data.items import Items
from ordinate.errors import InvalidInput, StudyNotFound
from ordinate.storage import Settings
from ordinate.storage.places import PostgresqlSchema

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
        ("postgresql://host/db", "postgresql://USER@HOST/DATABASE/STUDY"),
        ("postgresql://host/db/one/two", "is no address of a study"),
        ("postgresql:///db", "is no address of a study"),
        ("postgresql://host//study", "names no database"),
        ("postgres://host/db/Study", "'Study' cannot be the name"),
        ("postgresql://host/db/pg_study", "'pg_study' cannot be the name"),
        ("postgresql://host/db/public", "'public' cannot be the name"),
        ("postgresql://me:hush@host/db/ß", "'ß' cannot be the name"),
        ("postgresql://me:hu/sh@host/db/study", "percent-encode what is special in a password"),
        ("postgresql://host/db/study?password=hush", "in PGPASSWORD or in ~/.pgpass"),
        ("postgresql://me:hush@host/db/study?speed=hush", "an option that PostgreSQL does not know"),
    ],
)
def test_says_which_addresses_there_are(url: str, words: str) -> None:
    if words.endswith("does not know"):
        pytest.importorskip("psycopg", reason="the driver looks at the options of an address")
    for use in (storages.open, storages.upgrade, lambda given: storages.create(given, Settings("guro-hybrid"), ITEMS)):
        with pytest.raises(InvalidInput, match=re.escape(words)) as refused:
            use(url)
        assert "hush" not in str(refused.value)
        assert "sh@" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "name", "shown", "connection"),
    [
        ("postgresql:///lab/essays?host=/tmp", "essays", "postgresql:///lab/essays", "postgresql:///lab?host=/tmp"),
        ("postgres://me:a%40b@h/lab/s-1", "s-1", "postgres://me@h/lab/s-1", "postgres://me:a%40b@h/lab"),
        ("postgresql://h:1,i:2/lab/s_1", "s_1", "postgresql://h:1,i:2/lab/s_1", "postgresql://h:1,i:2/lab"),
    ],
)
def test_an_address_in_postgresql_has_a_database_and_a_study(url: str, name: str, shown: str, connection: str) -> None:
    found = storages.place(url)
    assert isinstance(found, PostgresqlSchema)
    assert (found.url, found.name, found.shown, found.connection) == (url, name, shown, connection)
    assert found.folder is None
    other = found.beside("other")
    assert (other.name, other.shown) == ("other", shown.replace(name, "other"))
    assert other == storages.place(url.replace(f"/{name}", "/other"))


def test_a_password_is_taken_out_of_an_address() -> None:
    assert storages.without_password("postgresql://me:a%40b@h/d/s?x=1") == ("postgresql://me@h/d/s?x=1", "a@b")
    for other in ("postgresql://me@h/d/s", "postgresql://h:1/d/s", "study.db", "sqlite:///a:b@c", "http://a:b@c/"):
        assert storages.without_password(other) == (other, None)


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
