"""Adapters: agents of other SDKs, each of whose calls the gate decides about before it is made (docs/adapters.md)."""
