"""Notes on operations and program points."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "point_note",
        sa.Column(
            "profile_id",
            sa.Text,
            sa.ForeignKey("profile.id", ondelete="CASCADE"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("mark", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("program", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
