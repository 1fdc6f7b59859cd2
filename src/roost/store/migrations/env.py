"""Alembic's entry: runs migrations on the connection that `store.database` hands in."""

from __future__ import annotations

from alembic import context

from roost.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
