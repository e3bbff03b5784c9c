"""Sessions that were ended by a log-out."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "ended_session",
        sa.Column("mark", sa.Text, primary_key=True),
        sa.Column("over_s", sa.Double, nullable=False),
    )
