"""Feature files that stay where they are, outside the study."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "feature_files",
        sa.Column("added", sa.Integer, sa.ForeignKey("log.position"), primary_key=True, autoincrement=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("sha256", sa.String, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("modified_ns", sa.BigInteger, nullable=False),
    )
