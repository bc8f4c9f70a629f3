"""The sources of signals that ship: deterministic, in linear time, without a model (docs/tier.md)."""
