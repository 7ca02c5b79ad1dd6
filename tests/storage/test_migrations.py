"""The scripts make the tables that the code expects, and bring an older study up to date."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ordinate import storage as storages
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import NotAStudy
from ordinate.storage import Entry, tables
from ordinate.study.study import Study


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    with Study.create(Items(ids=["a", "b"]), storage=f"sqlite:///{path}") as study:
        study.record(Comparison("a", "b", "left"))
    return path


def columns(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Name, type, whether it must have a value, and place in the primary key, of each column of each table."""
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: [
            (column[1], column[2], column[3], column[5]) for column in connection.execute(f"PRAGMA table_info({name})")
        ]
        for name in names
    }


def test_the_scripts_are_numbered_without_gaps() -> None:
    assert tables.revisions() == [f"{number:04}" for number in range(1, len(tables.revisions()) + 1)]


def test_the_log_has_a_column_for_each_field_of_an_entry(stored: Path) -> None:
    with closing(sqlite3.connect(stored)) as connection:
        assert {name for name, *_ in columns(connection)["log"]} == set(Entry._fields)


# What Alembic made of the same migrations, which were written for it at first.
BY_ALEMBIC = """
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
CREATE TABLE study (token VARCHAR NOT NULL, question TEXT NOT NULL, algorithm VARCHAR NOT NULL, seed INTEGER NOT NULL,
    scaling VARCHAR NOT NULL, refit_every INTEGER, candidates INTEGER, PRIMARY KEY (token));
CREATE TABLE log (position INTEGER NOT NULL, kind VARCHAR NOT NULL, at VARCHAR NOT NULL, "query" INTEGER, "left" TEXT,
    "right" TEXT, answer VARCHAR, annotator TEXT, based_on INTEGER, utility FLOAT, algorithm VARCHAR, strategy TEXT,
    model TEXT, expires_at VARCHAR, tab TEXT, repeat_of INTEGER, shown_at VARCHAR, answered_at VARCHAR,
    duration_ms INTEGER, client TEXT, reason TEXT, "key" TEXT, name TEXT, value TEXT, PRIMARY KEY (position));
CREATE TABLE items ("row" INTEGER NOT NULL, added INTEGER NOT NULL, id TEXT NOT NULL, item_group TEXT, text TEXT,
    image TEXT, audio TEXT, link TEXT, video TEXT, PRIMARY KEY ("row"), FOREIGN KEY(added) REFERENCES log (position),
    UNIQUE (id));
CREATE INDEX ix_items_added ON items (added);
CREATE TABLE features (added INTEGER NOT NULL, items INTEGER NOT NULL, columns INTEGER NOT NULL, names TEXT,
    numbers BLOB NOT NULL, PRIMARY KEY (added), FOREIGN KEY(added) REFERENCES log (position));
CREATE TABLE feature_files (added INTEGER NOT NULL, path TEXT NOT NULL, sha256 VARCHAR NOT NULL,
    bytes INTEGER NOT NULL, modified_ns BIGINT NOT NULL, PRIMARY KEY (added),
    FOREIGN KEY(added) REFERENCES log (position));
CREATE TABLE recipe (token VARCHAR NOT NULL, encoder TEXT NOT NULL, content VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL, columns INTEGER, mean BLOB, components BLOB, PRIMARY KEY (token),
    FOREIGN KEY(token) REFERENCES study (token));
INSERT INTO alembic_version VALUES ('0004');
"""


def test_the_scripts_make_the_tables_that_alembic_made(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as old, closing(sqlite3.connect(":memory:")) as new:
        old.executescript(BY_ALEMBIC)
        tables.create(new)
        assert tables.revision(old, columns(old)) == "0004"
        tables.migrate(old, "0004")
        assert columns(new) == columns(old)


UNDO = {
    "0004": "DROP TABLE recipe;",
    "0005": "ALTER TABLE study DROP COLUMN coefficient_variance; ALTER TABLE study DROP COLUMN item_variance;",
    "0006": "ALTER TABLE study DROP COLUMN renew_covariance;",
    "0007": "",
    "0008": "ALTER TABLE study DROP COLUMN likelihood;",
    "0009": "ALTER TABLE study DROP COLUMN random;",
    "0010": "ALTER TABLE study DROP COLUMN weigh_annotators;",
    "0011": 'ALTER TABLE log DROP COLUMN "by";',
    "0012": "ALTER TABLE study DROP COLUMN side_bias;",
    "0013": "ALTER TABLE study DROP COLUMN length_bias;",
    "0014": "ALTER TABLE items DROP COLUMN html;",
    "0015": "ALTER TABLE study DROP COLUMN features_alone;",
}
"""What takes a migration back."""


def take_back(path: Path, revision: str) -> None:
    """Bring the study back to the tables of an older revision."""
    undone = "".join(UNDO[later] for later in reversed(tables.revisions()) if later > revision)
    connection = sqlite3.connect(path)
    connection.executescript(f"{undone} UPDATE alembic_version SET version_num = '{revision}'")
    connection.close()


def test_a_study_from_before_recipes_has_none_once_upgraded(stored: Path) -> None:
    take_back(stored, "0003")
    storages.upgrade(f"sqlite:///{stored}")
    with Study.open(f"sqlite:///{stored}") as study:
        assert study.comparisons() == [Comparison("a", "b", "left")]
        assert study.settings.recipe is None


@pytest.mark.parametrize(
    ("algorithm", "variances"),
    [
        ("guro-hybrid", (2.0, 1.0)),
        ("bayes-guro-hybrid-sequential", (2.0, 1.0)),
        ("guro-contextual", (2.0, None)),
        ("bald-contextual-sequential", (2.0, None)),
        ("colstim-contextual:500", (2.0, None)),
        ("guro-independent", (None, 1.0)),
        ("trueskill", (None, None)),
    ],
)
def test_a_study_from_before_prior_variances_keeps_those_it_had(
    stored: Path, algorithm: str, variances: tuple[float | None, float | None]
) -> None:
    take_back(stored, "0004")
    with sqlite3.connect(stored) as connection:
        connection.execute("UPDATE study SET algorithm = ?", (algorithm,))
    connection.close()
    storages.upgrade(f"sqlite:///{stored}")
    with Study.open(f"sqlite:///{stored}") as study:
        assert (study.settings.coefficient_variance, study.settings.item_variance) == variances
        assert study.settings.renew_covariance
        assert study.settings.likelihood == (
            None if algorithm == "trueskill" or "sequential" in algorithm else "logistic"
        )


def test_a_study_from_before_even_odds_keeps_its_own(stored: Path) -> None:
    take_back(stored, "0014")
    storages.upgrade(f"sqlite:///{stored}")
    with Study.open(f"sqlite:///{stored}") as study:
        assert study.settings.features_alone == 0.7


def test_a_study_from_before_random_pairs_has_none_and_its_prior_variances_stay_fixed(stored: Path) -> None:
    take_back(stored, "0008")
    with sqlite3.connect(stored) as connection:
        connection.execute("UPDATE study SET item_variance = 1, likelihood = 'logistic'")
    connection.close()
    storages.upgrade(f"sqlite:///{stored}")
    with Study.open(f"sqlite:///{stored}") as study:
        assert study.settings.random == study.rules.random == 0.0
        study.record([Comparison("a", "b", "left")] * 3)
        study.ask()
        with study._ledger.storage.reading() as log:
            assert log.entries(0)[-1].model == "Independent(item_variance=1.0, likelihood=Logistic())"


@pytest.mark.parametrize(("before", "after"), [("auto", "standard"), ("none", "uncentred")])
def test_a_study_from_before_robust_scaling_keeps_the_rule_it_had(stored: Path, before: str, after: str) -> None:
    take_back(stored, "0006")
    with sqlite3.connect(stored) as connection:
        connection.execute("UPDATE study SET scaling = ?", (before,))
    connection.close()
    storages.upgrade(f"sqlite:///{stored}")
    with Study.open(f"sqlite:///{stored}") as study:
        assert study.settings.scaling == after


def test_upgrading_a_study_of_this_version_changes_nothing(stored: Path) -> None:
    before = stored.read_bytes()
    storages.upgrade(f"sqlite:///{stored}")
    assert stored.read_bytes() == before


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The script of a version of the package that has one more."""
    folder = tmp_path / "migrations 100%"
    shutil.copytree(tables.MIGRATIONS, folder)
    with monkeypatch.context() as changed:
        changed.setattr(tables, "MIGRATIONS", folder)
        yield folder / "9999_note.sql"


def test_an_older_study_is_refused_until_it_is_upgraded(stored: Path, next_version: Path) -> None:
    next_version.write_text("-- A note.\nALTER TABLE study ADD COLUMN note TEXT;\nCREATE TABLE notes (note TEXT);\n")
    url = f"sqlite:///{stored}"
    with pytest.raises(NotAStudy, match=r"older version .* ordinate db upgrade "):
        Study.open(url)
    storages.upgrade(url)
    with Study.open(url) as study:
        assert study.comparisons() == [Comparison("a", "b", "left")]
    connection = sqlite3.connect(stored)
    assert connection.execute("SELECT note FROM study").fetchall() == [(None,)]
    connection.close()


def test_an_upgrade_that_fails_leaves_the_study_as_it_was(stored: Path, next_version: Path) -> None:
    next_version.write_text("ALTER TABLE study ADD COLUMN note TEXT;\nALTER TABLE missing ADD COLUMN note TEXT;\n")
    before = stored.read_bytes()
    with pytest.raises(NotAStudy, match="no such table: missing"):
        storages.upgrade(f"sqlite:///{stored}")
    assert stored.read_bytes() == before
    next_version.unlink()
    with Study.open(f"sqlite:///{stored}") as study:
        assert len(study.comparisons()) == 1
