"""A secret's text in an argument of a pending call: keys and tokens in their known forms."""

from __future__ import annotations

import re
from collections import Counter
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.gate.tier.source import Seen

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA)(?P<aws>[0-9A-Z]{16})|gh[opsur]_(?P<github>[0-9A-Za-z]{36,255})"
    r"|github_pat_(?P<pat>[0-9A-Za-z_]{50,255})|glpat-(?P<gitlab>[0-9A-Za-z_-]{20,64})"
    r"|xox[abeprs]-(?P<slack>[0-9A-Za-z-]{20,250})|sk-(?:ant-|proj-|live-)?(?P<sk>[0-9A-Za-z_-]{20,250})"
    r"|[sr]k_live_(?P<stripe>[0-9A-Za-z]{20,250})|AIza(?P<google>[0-9A-Za-z_-]{35})|npm_(?P<npm>[0-9A-Za-z]{36})"
    r"|pypi-(?P<pypi>[0-9A-Za-z_-]{50,500})|hf_(?P<hf>[0-9A-Za-z]{30,64})|SG\.(?P<sendgrid>[\w-]{16,64}\.[\w-]{16,64})"
    r"|ya29\.(?P<oauth>[0-9A-Za-z_-]{30,500})|AGE-SECRET-KEY-1(?P<age>[0-9A-Z]{58})"
    r"|eyJ[\w-]{10,500}\.eyJ(?P<jwt>[\w-]{10,2000}\.[\w-]{20,2000}))(?![A-Za-z0-9])"
)
_PASSWORD = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^/\s:@\"']{1,100}:(?P<url>[^/\s@\"'$<{]{8,200})@[\w.-]", re.IGNORECASE
)
_EXAMPLE = re.compile(r"EXAMPLE|XXXX|\*\*\*|<.*>|(?:placeholder|changeme|password|your)", re.IGNORECASE)

_BITS = 3.0
"""Bits a character: what is drawn at random has more, placeholders have less."""


class SecretText:
    """1 for a private key, .9 for a token of a known form that looks random, .75 for a password in an address."""

    name = "secret_text"

    def score(self, seen: Seen) -> float | None:
        """The greatest that an argument of the pending call gives, 0 without a sign; None where no call is pending."""
        if not seen.pending:
            return None
        return max(_score(text) for event in seen.pending for text in ("", *_texts(event.args)))


def _texts(args: dict[str, tuple[str, ...]]) -> list[str]:
    return [text for texts in args.values() for text in texts]


def _score(text: str) -> float:
    if _PRIVATE_KEY.search(text):
        return 1.0
    if any(_looks_random(found[found.lastgroup or 0]) for found in _TOKEN.finditer(text)):
        return 0.9
    return 0.75 if any(_looks_random(found["url"], 2.5) for found in _PASSWORD.finditer(text)) else 0.0


def _looks_random(text: str, bits: float = _BITS) -> bool:
    if _EXAMPLE.search(text):
        return False
    counts = Counter(text).values()
    return -sum(count / len(text) * log2(count / len(text)) for count in counts) >= bits
