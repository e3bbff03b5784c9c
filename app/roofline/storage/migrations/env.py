"""How Alembic reaches the database: through the connection and transaction it is given."""

from alembic import context

from roofline.storage.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
