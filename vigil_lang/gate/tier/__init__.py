"""The detection tier: numbers that detectors say of a run, and what they come to, 0 to 3 (docs/tier.md)."""
