"""Who may do what: chains of signed grants, each narrower than the one before (docs/authority.md)."""
