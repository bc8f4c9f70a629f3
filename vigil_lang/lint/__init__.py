"""The linter: rules that find faults of policies, and what selects the rules for a file."""
