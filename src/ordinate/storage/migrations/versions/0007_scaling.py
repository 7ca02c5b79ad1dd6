"""Rules of scaling have other names. Studies from before keep the rules they had, none of which is the default now."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.execute("UPDATE study SET scaling = 'standard' WHERE scaling = 'auto'")
    op.execute("UPDATE study SET scaling = 'uncentred' WHERE scaling = 'none'")
