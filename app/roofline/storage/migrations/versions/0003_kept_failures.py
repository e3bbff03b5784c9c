"""Failed profiles that hold their files, and jobs that wait for room on the disk."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Adds the columns; until now a failed profile held files only where it could be divided."""
    held = sa.Column("holds_files", sa.Boolean, nullable=False, server_default=sa.text("true"))
    op.add_column("profile", held)
    op.execute(
        "UPDATE profile SET holds_files = false"
        " WHERE state = 'failed' AND error_code <> 'mixed-upload'"
    )
    op.add_column("job", sa.Column("not_before", sa.Double))
    op.add_column("job", sa.Column("needs_bytes", sa.BigInteger))
