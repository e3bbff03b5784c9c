"""The visibility of profiles, and the links that show one to others."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Adds the column: profiles that are there stay visible to everybody. And the table."""
    everybody = sa.Column("visibility", sa.Text, nullable=False, server_default="everybody")
    op.add_column("profile", everybody)
    op.create_index("profile_by_visibility", "profile", ["visibility", "state"])
    op.create_table(
        "share_link",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column(
            "profile_id",
            sa.Text,
            sa.ForeignKey("profile.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("maker", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double),
        sa.Column("used_at", sa.Double),
        sa.Column("revoked_at", sa.Double),
    )
    op.create_index("share_link_by_profile", "share_link", ["profile_id"])
