"""Where a gate's log lies, and what belongs to it: in the state folder, or in a PostgreSQL database (ADR 0027)."""
