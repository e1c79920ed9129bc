"""Runs the migrations on the connection that the store hands over."""

from alembic import context

from bot.stores import learned

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=learned.cards.metadata,
    render_as_batch=True,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
