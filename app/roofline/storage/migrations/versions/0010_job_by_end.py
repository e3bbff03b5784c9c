"""Which person's jobs ended last is read before each import."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Adds the index."""
    op.create_index("job_by_end", "job", ["finished_at"])
