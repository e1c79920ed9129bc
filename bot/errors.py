"""Faults of the bot that are ours; a learner's mistakes are replies, never exceptions.

BotError
├── SettingsError   the environment has mistakes; all of them are named at once
├── SessionError    a stored session does not load
└── StoreError      the store cannot be read or written
    └── StoreAwayError   it is locked or gone for now; the same may be tried again
"""


class BotError(Exception):
    """Any fault of the bot itself."""


class SettingsError(BotError):
    """The environment has mistakes; the text names every variable and value."""


class SessionError(BotError):
    """A stored session does not load: another version, or damaged."""


class StoreError(BotError):
    """The store cannot be read or written."""


class StoreAwayError(StoreError):
    """The store is locked or gone for now; what was asked may have been done or not, and may be tried again."""
