"""The log of the gate: an RFC 6962 tree over JSON Lines, its signed checkpoints, and who checks them (docs/audit.md)."""
