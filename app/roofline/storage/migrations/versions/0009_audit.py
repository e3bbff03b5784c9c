"""The audit table, to which rows are only added."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_SQLITE = """
CREATE TRIGGER audit_only_grows_{verb} BEFORE {verb} ON audit
BEGIN SELECT RAISE(ABORT, 'rows of audit are never changed'); END
"""
_POSTGRES = (
    """
CREATE FUNCTION audit_only_grows() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'rows of audit are never changed'; END $$
""",
    """
CREATE TRIGGER audit_only_grows BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION audit_only_grows()
""",
)


def upgrade() -> None:
    """Adds the table, and what refuses every other change of it."""
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
    )
    statements: tuple[str, ...]
    if op.get_bind().dialect.name == "postgresql":
        statements = _POSTGRES
    else:
        statements = tuple(_SQLITE.format(verb=verb) for verb in ("UPDATE", "DELETE"))
    for statement in statements:
        op.execute(statement)
