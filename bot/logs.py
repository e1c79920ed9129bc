"""How the bot's log is written: as lines for people, or as one JSON object a line for machines.

Law: what a logger was given is written and nothing is added but time, level and name; records of ours name learners by
hash and hold no code (`masking.py` keeps secrets out of both forms).
"""

import json
import logging
import sys
from datetime import UTC, datetime

_LINES = "%(levelname)s %(name)s: %(message)s"


class JsonLines(logging.Formatter):
    """One JSON object a line: at (UTC), level, logger, said; with a fault its kind and where it was raised."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        told: dict[str, str] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "said": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            told["fault"] = record.exc_info[0].__name__
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def begin(form: str) -> None:
    """Write to stderr from now on, in the form named."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format=_LINES)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    if form == "json":
        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonLines())
