"""Share links remember the API token that made them: they end with it."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Adds the column; links that are there stay, as nothing says what made them."""
    op.add_column("share_link", sa.Column("token_id", sa.Text))
