"""Whether refits recompute the covariance; in studies from before they do."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("study", sa.Column("renew_covariance", sa.Boolean, nullable=False, server_default=sa.true()))
