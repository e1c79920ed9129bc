"""Looks for the mistakes of measuring: rules over the source, and passes over calls that are never timed."""
