"""Registering the hook with hosts, so that it blocks where it fails: in their settings, or as a plugin of theirs."""
