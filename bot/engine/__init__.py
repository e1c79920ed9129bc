"""The pure core of the conversation: no clock, chance, input or output; the package root imports nothing."""
