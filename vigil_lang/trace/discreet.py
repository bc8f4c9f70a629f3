"""Which values of recordings may be shown to others: in an editor, or to a model that drafts."""

from __future__ import annotations

import re

from vigil_lang.diagnostics.secrets import find

LONGEST = 120
"""Characters of the longest value that is offered."""

# Names of arguments whose values are nobody's business, and values that look like keys, whatever they stand under.
_PRIVATE = re.compile(
    r"(?:^|[._-])(?:pass(?:word|wd|phrase)?|secrets?|tokens?|credentials?|authorization|cookies?|auth|pwd)(?:$|[._-])"
    r"|(?:api|private|access|secret|session|signing|encryption)[._-]?(?:key|token|id)s?$"
    r"|password|passwd|passphrase|credential|(?:^|[._-])(?:pw|pin|otp|totp|mfa|sig|signature|cvv|ssn|dsn|webhook)(?:$|[._-])",
    re.IGNORECASE,
)
_OF_A_KEY = re.compile(r"(?:^|[._-])keys?$", re.IGNORECASE)
_KEY = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghu|ghs|github_pat|glpat|xox[abprs]|npm|pypi|hf|AKIA|ASIA|AIza|ya29)[-_A-Z0-9][\w.-]{8,}"
    r"|\beyJ[\w-]{8,}|-----BEGIN|://(?!git@)[^/\s@]+@|://hooks\.|/webhooks?/"
    r"|[?&](?:sig|signature|key|token|code|auth|secret|password)=|\b\d(?:[ -]?\d){11,}\b|\b\d{3}-\d{2}-\d{4}\b"
    r"|\b(?:password|passphrase|secret|token|pin) (?:is|was) \S"
    r"|(?:pass(?:word|wd)?|secret|token|api[_-]?key|authorization|bearer|basic)\"?\s*[=: ]\s*\S{3,}",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"[A-Za-z0-9+=_-]{20,}")


def may_show(argument: str, value: str) -> bool:
    """Whether a value that was seen may be offered: short, of visible characters, and nothing that looks secret."""
    if not value or len(value) > LONGEST or not value.isprintable() or _PRIVATE.search(argument):
        return False
    if _OF_A_KEY.search(argument) and sum(c.isdigit() for c in value) >= 3 and len(value) >= 12 and value.isalnum():
        return False
    return _KEY.search(value) is None and not find(value) and not any(map(_looks_random, _RANDOM.findall(value)))


def _looks_random(run: str) -> bool:
    """Letters of both cases and digits, or many hexadecimal digits: a word is neither."""
    digits = sum(c.isdigit() for c in run)
    if len(run) >= 32 and digits >= 4 and all(c in "0123456789abcdefABCDEF-" for c in run):
        return True
    return digits >= 3 and any(c.isupper() for c in run) and any(c.islower() for c in run)
