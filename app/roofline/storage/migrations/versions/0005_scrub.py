"""The regular check of everything that is stored: how far it is, and what it found damaged."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Adds the tables, empty: the first check begins soon after the start."""
    op.create_table(
        "scrub",
        sa.Column("part", sa.Text, primary_key=True),
        sa.Column("after", sa.Text, nullable=False, server_default=""),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.Column("owner", sa.Text),
        sa.Column("lease_until", sa.Double),
        sa.Column("checked", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("repaired", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    )
    op.create_table(
        "damage",
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("found_at", sa.Text, nullable=False),
    )
    op.add_column("result", sa.Column("packed_sha256", sa.Text))
