"""Enforcement points: where agents act, a call is decided about before it is made."""
