"""Corpora: the events of very many runs in a store, and what policies say of them all (docs/scan.md)."""
