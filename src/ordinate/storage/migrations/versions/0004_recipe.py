"""How the features of a study were made from texts or images."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "recipe",
        sa.Column("token", sa.String, sa.ForeignKey("study.token"), primary_key=True),
        sa.Column("encoder", sa.Text, nullable=False),
        sa.Column("content", sa.String, nullable=False),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("columns", sa.Integer),
        sa.Column("mean", sa.LargeBinary),
        sa.Column("components", sa.LargeBinary),
    )
