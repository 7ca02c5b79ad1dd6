"""The migrations make the tables that the code expects, and bring an older study up to date."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from ordinate import storage as storages
from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.errors import NotAStudy
from ordinate.storage import sql, tables
from ordinate.study.study import Study

MIGRATIONS = Path(sql.__file__).parent / "migrations"
SECOND = '''
"""A test's next step."""
import sqlalchemy as sa
from alembic import op

revision = "NEXT"
down_revision = "LAST"


def upgrade() -> None:
    op.add_column("study", sa.Column("note", sa.Text))
    op.create_table("notes", sa.Column("note", sa.Text))
    FAIL
'''


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    with Study.create(Items(ids=["a", "b"]), storage=f"sqlite:///{path}") as study:
        study.record(Comparison("a", "b", "left"))
    return path


def test_the_revisions_are_the_migrations_in_order() -> None:
    steps = ScriptDirectory(str(MIGRATIONS)).walk_revisions()
    assert tuple(reversed([step.revision for step in steps])) == tables.REVISIONS


def test_the_migrations_make_the_tables_of_the_code(stored: Path) -> None:
    engine = create_engine(f"sqlite:///{stored}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []
    engine.dispose()


UNDO = {
    "0004": "DROP TABLE recipe;",
    "0005": "ALTER TABLE study DROP COLUMN coefficient_variance; ALTER TABLE study DROP COLUMN item_variance;",
    "0006": "ALTER TABLE study DROP COLUMN renew_covariance;",
}
"""What takes a migration back."""


def take_back(path: Path, revision: str) -> None:
    """Bring the study back to the tables of an older revision."""
    undone = "".join(UNDO[later] for later in reversed(tables.REVISIONS) if later > revision)
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


def test_upgrading_a_study_of_this_version_changes_nothing(stored: Path) -> None:
    before = stored.read_bytes()
    storages.upgrade(f"sqlite:///{stored}")
    assert stored.read_bytes() == before


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A version of the package with one more migration: the folder of its migrations."""
    folder = tmp_path / "migrations 100%"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sql, "MIGRATIONS", folder)
    monkeypatch.setattr(tables, "REVISIONS", (*tables.REVISIONS, "9999"))
    return folder


def next_step(ending: str = "") -> str:
    return SECOND.replace("NEXT", "9999").replace("LAST", tables.REVISIONS[-2]).replace("FAIL", ending)


def test_an_older_study_is_refused_until_it_is_upgraded(stored: Path, next_version: Path) -> None:
    (next_version / "versions" / "9999_note.py").write_text(next_step())
    url = f"sqlite:///{stored}"
    with pytest.raises(NotAStudy, match=r"older version .* ordinate db upgrade "):
        Study.open(url)
    storages.upgrade(url)
    with Study.open(url) as study:
        assert study.comparisons() == [Comparison("a", "b", "left")]
    connection = sqlite3.connect(stored)
    assert connection.execute("SELECT note FROM study").fetchall() == [(None,)]
    connection.close()


def test_an_upgrade_that_fails_leaves_the_study_as_it_was(
    stored: Path, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (next_version / "versions" / "9999_note.py").write_text(next_step("raise KeyboardInterrupt"))
    before = stored.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        storages.upgrade(f"sqlite:///{stored}")
    assert stored.read_bytes() == before
    monkeypatch.setattr(tables, "REVISIONS", tables.REVISIONS[:-1])
    with Study.open(f"sqlite:///{stored}") as study:
        assert len(study.comparisons()) == 1
