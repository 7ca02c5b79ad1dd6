"""The settings, the items with their features, and the log."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "study",
        sa.Column("token", sa.String, primary_key=True),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("algorithm", sa.String, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("scaling", sa.String, nullable=False),
        sa.Column("refit_every", sa.Integer),
        sa.Column("candidates", sa.Integer),
    )
    op.create_table(
        "log",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("query", sa.Integer),
        sa.Column("left", sa.Text),
        sa.Column("right", sa.Text),
        sa.Column("answer", sa.String),
        sa.Column("annotator", sa.Text),
        sa.Column("based_on", sa.Integer),
        sa.Column("utility", sa.Float),
        sa.Column("algorithm", sa.String),
    )
    op.create_table(
        "items",
        sa.Column("row", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("added", sa.Integer, sa.ForeignKey("log.position"), nullable=False),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("item_group", sa.Text),
        sa.Column("text", sa.Text),
        sa.Column("image", sa.Text),
        sa.Column("audio", sa.Text),
        sa.Column("link", sa.Text),
    )
    op.create_index("ix_items_added", "items", ["added"])
    op.create_table(
        "features",
        sa.Column("added", sa.Integer, sa.ForeignKey("log.position"), primary_key=True, autoincrement=False),
        sa.Column("items", sa.Integer, nullable=False),
        sa.Column("columns", sa.Integer, nullable=False),
        sa.Column("names", sa.Text),
        sa.Column("numbers", sa.LargeBinary, nullable=False),
    )
