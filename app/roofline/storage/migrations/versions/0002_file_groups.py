"""Errors with details, and profiles of some files of an upload: for uploads of several profiles."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds the columns; rows of before have neither."""
    op.add_column("profile", sa.Column("error_details", sa.Text))
    op.add_column("profile", sa.Column("digests", sa.Text))
    op.add_column("job", sa.Column("error_details", sa.Text))
