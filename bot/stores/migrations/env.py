"""Runs the migrations on the connection that the store hands over."""

from alembic import context

from bot.stores import learned, posted

assert posted.mailboxes.metadata is learned.cards.metadata  # noqa: S101 - each module adds its tables to the same one
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=learned.cards.metadata,
    render_as_batch=True,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
