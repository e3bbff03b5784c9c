"""PostgreSQL empties no audit table at once; the profiles of a tag are read from one index."""

from alembic import op

revision = "0011"
down_revision = "0010"

_POSTGRES = """
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_only_grows()
"""


def upgrade() -> None:
    """Adds what refuses TRUNCATE, which SQLite does not have, and the wider index."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_POSTGRES)
    op.drop_index("tag_by_name", "tag")
    op.create_index("tag_by_name", "tag", ["name", "profile_id"])
