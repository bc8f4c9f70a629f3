"""The version, alone, so that nothing else is imported for it."""

__version__ = "0.1.0"
