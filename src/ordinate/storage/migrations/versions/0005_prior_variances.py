"""The prior variances of a study's model. Studies from before keep the ones that were fixed then: 2 and 1."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("study", sa.Column("coefficient_variance", sa.Float))
    op.add_column("study", sa.Column("item_variance", sa.Float))
    op.execute(
        "UPDATE study SET coefficient_variance = 2.0 "
        "WHERE algorithm <> 'trueskill' AND algorithm NOT LIKE '%-independent'"
    )
    op.execute(
        "UPDATE study SET item_variance = 1.0 WHERE algorithm <> 'trueskill' AND algorithm NOT LIKE '%-contextual%'"
    )
