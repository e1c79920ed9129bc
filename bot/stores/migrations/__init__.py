"""The store's migrations, oldest first; run by `alembic` at start."""
