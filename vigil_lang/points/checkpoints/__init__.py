"""The workspace before and after each call of a run that may change it, and the way back (docs/rollback.md)."""
