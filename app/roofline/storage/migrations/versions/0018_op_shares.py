"""The operations of a profile by their share of its time, for the likeliest partner of another."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Adds the table; profiles that are there get their row with the next analysis."""
    owner = sa.ForeignKey("profile.id", ondelete="CASCADE")
    op.create_table(
        "op_shares",
        sa.Column("profile_id", sa.Text, owner, primary_key=True, nullable=False),
        sa.Column("shares", sa.Text, nullable=False),
    )
