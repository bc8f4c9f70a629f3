"""The Execution Gate: whether a pending call passes, is held or is blocked, and a log of it (docs/gate.md)."""
