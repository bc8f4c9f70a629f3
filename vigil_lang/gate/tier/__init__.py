"""The detection tier: numbers that detectors say of a run, and what they come to, 0 to 3 (docs/tier.md)."""

from __future__ import annotations

from vigil_lang.gate.tier.combination import Combined, combine

__all__ = ["Combined", "combine"]
