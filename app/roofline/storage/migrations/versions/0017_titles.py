"""Titles that an import may still replace. Profiles that are there keep theirs."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Adds the column."""
    column = sa.Column("title_is_of_files", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("profile", column)
