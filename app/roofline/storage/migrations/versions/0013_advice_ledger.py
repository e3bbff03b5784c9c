"""Decisions on findings of advice, and how often their predictions were right."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Adds the two tables."""
    op.create_table(
        "advice_decision",
        sa.Column(
            "profile_id",
            sa.Text,
            sa.ForeignKey("profile.id", ondelete="CASCADE"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("mark", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "advice_hit",
        sa.Column("mark", sa.Text, primary_key=True),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("ratio", sa.Double, nullable=False),
    )
