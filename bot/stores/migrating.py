"""Brings a database to the newest revision, the same way on every database."""

from importlib import resources

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations that the database has not seen, each in a transaction of its own."""
    config = Config()
    config.set_main_option("script_location", str(resources.files("bot.stores") / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
