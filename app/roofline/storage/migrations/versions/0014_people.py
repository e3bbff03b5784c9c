"""People that a sign-in provider vouched for."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "person",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False, unique=True),
        sa.Column("is_admin", sa.Boolean, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
    )
