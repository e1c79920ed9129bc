"""Telegram: updates to events, replies to calls of the Bot API."""
