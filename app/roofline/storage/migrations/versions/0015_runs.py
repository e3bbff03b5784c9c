"""Runs of many hosts, and the file of each host."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Adds the two tables."""
    op.create_table(
        "run",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("uploader", sa.Text),
        sa.Column("visibility", sa.Text, nullable=False),
        sa.Column("delete_token_hash", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("address", sa.Text),
        sa.Column("join_s", sa.Double),
        sa.Column("expected_hosts", sa.Integer),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("changed_at", sa.Double, nullable=False),
        sa.Column("listed_at", sa.Double),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("document", sa.Text),
        sa.Column("said_of", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("version", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("owner", sa.Text),
        sa.Column("lease_until", sa.Double),
        sa.Column("trashed_at", sa.Text),
    )
    op.create_index("run_by_state", "run", ["state", "lease_until"])
    op.create_index("run_by_age", "run", ["trashed_at", "number"])
    op.create_table(
        "run_host",
        sa.Column("run_id", sa.Text, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("identity", sa.Text, primary_key=True),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("address", sa.Text),
        sa.Column("version", sa.Text, nullable=False, server_default=""),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("stored_bytes", sa.BigInteger),
        sa.Column("sha256", sa.Text),
        sa.Column("is_kept", sa.Boolean, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("receipt", sa.Text),
        sa.Column("profile_id", sa.Text),
        sa.Column("arrived_at", sa.Double, nullable=False),
    )
    op.create_index("run_host_by_turn", "run_host", ["run_id", "state", "turn"])
    op.create_index("run_host_by_digest", "run_host", ["sha256"])
    op.create_index("run_host_by_identity", "run_host", ["identity"])
