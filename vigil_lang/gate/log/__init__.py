"""The log of the gate: an RFC 6962 tree over JSON Lines, signed checkpoints, and their checks (docs/audit.md)."""
