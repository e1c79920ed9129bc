"""Keeps secrets out of logs: whatever formats a record, a secret in it becomes stars."""

import logging
import re
from collections.abc import Sequence

STARS = "***"
TELEGRAM_TOKEN = re.compile(r"[0-9]{3,20}:[A-Za-z0-9_-]{20,}")
DISCORD_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,}")
"""What the platforms' tokens look like."""


class Masking(logging.Formatter):
    """Another formatter's text, with secrets in it masked; tracebacks included."""

    def __init__(self, inner: logging.Formatter, secrets: Sequence[str]) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = tuple(secret for secret in secrets if secret)

    def format(self, record: logging.LogRecord) -> str:
        """Format and mask."""
        text = self._inner.format(record)
        for secret in self._secrets:
            text = text.replace(secret, STARS)
        return text


def mask(secrets: Sequence[str]) -> None:
    """Mask secrets in whatever the root's handlers write."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(Masking(handler.formatter or logging.Formatter(), secrets))
