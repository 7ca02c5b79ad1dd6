"""What serving a study needs: leases, when a pair was shown and answered, repeats, rules and links; videos."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for name, kind in (
        ("strategy", sa.Text),
        ("model", sa.Text),
        ("expires_at", sa.String),
        ("tab", sa.Text),
        ("repeat_of", sa.Integer),
        ("shown_at", sa.String),
        ("answered_at", sa.String),
        ("duration_ms", sa.Integer),
        ("client", sa.Text),
        ("reason", sa.Text),
        ("key", sa.Text),
        ("name", sa.Text),
        ("value", sa.Text),
    ):
        op.add_column("log", sa.Column(name, kind))
    op.add_column("items", sa.Column("video", sa.Text))
