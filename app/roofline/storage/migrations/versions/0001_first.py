"""The first schema. A step that was released is never changed: later ones follow it."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_UNDER_WAY = sa.text("state IN ('queued', 'running')")


def upgrade() -> None:
    """Creates every table."""
    _create_profile()
    _create_parts()
    _create_job()
    op.create_table(
        "sweep_log",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("size_bytes", sa.BigInteger),
    )
    instance = op.create_table("instance", sa.Column("id", sa.Text, primary_key=True))
    op.bulk_insert(instance, [{"id": secrets.token_hex(16)}])


def _create_profile() -> None:
    op.create_table(
        "profile",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("uploader", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("sample", sa.Text),
        sa.Column("format", sa.Text),
        sa.Column("device", sa.Text),
        sa.Column("bound_by", sa.Text),
        sa.Column("efficiency_ratio", sa.Double),
        sa.Column("summary", sa.Text),
        sa.Column("error_code", sa.Text),
        sa.Column("error_message", sa.Text),
        sa.Column("error_remedy", sa.Text),
        sa.Column("expires_at", sa.Text),
        sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("delete_token_hash", sa.Text),
    )
    op.create_index("profile_by_age", "profile", ["state", "pinned", "created_at", "number"])
    op.create_index("profile_by_expiry", "profile", ["expires_at"])
    op.create_index("profile_by_sample", "profile", ["sample"])


def _profile_key(*, primary_key: bool = False) -> "sa.Column[str]":
    reference = sa.ForeignKey("profile.id", ondelete="CASCADE")
    return sa.Column("profile_id", sa.Text, reference, primary_key=primary_key, nullable=False)


def _create_parts() -> None:
    op.create_table(
        "file",
        _profile_key(primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("stored_bytes", sa.BigInteger),
        sa.Column("host", sa.Text),
    )
    op.create_index("file_by_digest", "file", ["sha256"])
    op.create_table(
        "tag",
        _profile_key(primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
    )
    op.create_index("tag_by_name", "tag", ["name"])
    op.create_table(
        "result",
        _profile_key(primary_key=True),
        sa.Column("version", sa.Text, primary_key=True),
        sa.Column("blob_key", sa.Text),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
    )


def _create_job() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.Text, primary_key=True),
        _profile_key(),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("owner", sa.Text),
        sa.Column("lease_until", sa.Double),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("fraction", sa.Double, nullable=False),
        sa.Column("error_code", sa.Text),
        sa.Column("error_message", sa.Text),
        sa.Column("error_remedy", sa.Text),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
    )
    op.create_index("job_by_profile", "job", ["profile_id", "created_at"])
    op.create_index(
        "job_under_way",
        "job",
        ["profile_id"],
        unique=True,
        sqlite_where=_UNDER_WAY,
        postgresql_where=_UNDER_WAY,
    )
