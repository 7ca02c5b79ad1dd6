"""Alembic runs this: apply the migrations on the connection it was given, in the transaction that is open there."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
