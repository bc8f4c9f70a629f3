"""A secret's text in an argument of a pending call: keys and tokens in their known forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import find

if TYPE_CHECKING:
    from vigil_lang.gate.tier.source import Seen


class SecretText:
    """How sure the table of what looks like a secret is: 1 for a private key, .9 for a token of a known form that looks
    random, .75 for a password in an address.
    """

    name = "secret_text"

    def score(self, seen: Seen) -> float | None:
        """The greatest that an argument of the pending call gives, 0 without a sign; None where no call is pending."""
        if not seen.pending:
            return None
        return max(_score(text) for event in seen.pending for text in ("", *_texts(event.args)))


def _texts(args: dict[str, tuple[str, ...]]) -> list[str]:
    return [text for texts in args.values() for text in texts]


def _score(text: str) -> float:
    return max([found.shape.certainty for found in find(text)], default=0.0)
