"""What a profile is found by, as one text."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_FIELDS = """
SELECT id, title FROM profile UNION ALL SELECT id, note FROM profile
UNION ALL SELECT id, device FROM profile UNION ALL SELECT id, uploader FROM profile
UNION ALL SELECT profile_id, name FROM tag UNION ALL SELECT profile_id, name FROM file
"""


def upgrade() -> None:
    """Adds the column, and fills it for the profiles that are there."""
    op.add_column("profile", sa.Column("search_text", sa.Text, nullable=False, server_default=""))
    connection = op.get_bind()
    texts: dict[str, dict[str, None]] = {}
    for profile_id, field in connection.execute(sa.text(_FIELDS)):
        if field:
            texts.setdefault(profile_id, {})[field.casefold()] = None
    if texts:
        connection.execute(
            sa.text("UPDATE profile SET search_text = :text WHERE id = :id"),
            [{"id": one, "text": "\n".join(fields)} for one, fields in texts.items()],
        )
