"""Results remember the release that computed them, and whose numbers they replaced."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Adds the columns; results that are there say nothing of their release."""
    op.add_column("result", sa.Column("release", sa.Text))
    op.add_column("result", sa.Column("before", sa.Text))
