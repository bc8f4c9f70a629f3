"""The exit statuses of `vigil`."""

CLEAN = 0
FINDINGS = 1
"""A finding or a violation reaches the fail level, a test fails, or a file is not formatted."""
BAD_INPUT = 2
"""Something cannot be read or written, or the call makes no sense."""
BROKEN_TOOL = 3
