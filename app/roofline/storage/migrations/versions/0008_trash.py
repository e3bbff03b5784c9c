"""Profiles in the trash."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Adds the columns; no profile is in the trash yet."""
    for name in ("trashed_at", "trashed_from", "trash_reason"):
        op.add_column("profile", sa.Column(name, sa.Text))
    op.create_index("profile_by_trash", "profile", ["trashed_at"])
