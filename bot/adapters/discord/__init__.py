"""Discord: slash commands, buttons, windows for code, and plain talk in private chats."""
