"""The tables of a study's file. A person can read them: one row of settings, the items, their features, the log.

The numbered scripts in `migrations` make them; each runs once, in its turn. The table `alembic_version` holds the
number of the last one that has run. The same scripts make the tables in SQLite and, with the types of
`in_dialect`, in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ordinate.errors import NotAStudy
from ordinate.storage.connection import Connection

MIGRATIONS = Path(__file__).parent / "migrations"


def revisions() -> list[str]:
    """The number of every script, oldest first. A study is opened only after the last one."""
    return [script.name[:4] for script in _scripts()]


def revision(connection: Connection, names: Collection[str]) -> str:
    """The number of the last script that has run, where there are tables of these names.

    Raises NotAStudy where these are not our tables, or newer ones.
    """
    if not {"alembic_version", "study", "log"} <= set(names):
        raise NotAStudy("it holds no study" if names else "it is empty")
    rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    if len(rows) != 1:
        raise NotAStudy("its table alembic_version must have one row")
    ((found,),) = rows
    if found not in revisions():
        raise NotAStudy(
            f"a newer version of ordinate wrote it (tables {found}); update with: python -m pip install -U ordinate"
        )
    return str(found)


def create(connection: Connection) -> None:
    """Make the tables in an empty file."""
    connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    connection.execute("INSERT INTO alembic_version VALUES ('')")
    migrate(connection, "")


def migrate(connection: Connection, after: str) -> None:
    """Run the scripts that come after a revision, in the transaction that is open."""
    for script in _scripts():
        if script.name[:4] > after:
            for statement in script.read_text(encoding="utf-8").split(";\n"):
                connection.execute(statement)
    connection.execute("UPDATE alembic_version SET version_num = ?", (revisions()[-1],))


def _scripts() -> list[Path]:
    return sorted(MIGRATIONS.glob("*.sql"))
