"""Characters that nobody sees in what a tool returned: text that a model reads and a person does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.gate.tier.source import Seen

# A flag of a part of a country is a black flag, tags, and the tag that ends them: no smuggled text.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_SIGNS = (
    # The tags block repeats ASCII, unseen.
    (1.0, re.compile("[\U000e0000-\U000e007f]")),
    # Bytes can be written as variation selectors, one after the other; in plain text each stands alone.
    (0.95, re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")),
    # Bits can be written as characters without width; words are joined or parted by one.
    (0.95, re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{4}")),
    # What is read is not in the order of what is seen.
    (0.8, re.compile("[\u202d\u202e]")),
    (0.5, re.compile("[\u202a\u202b]|[\u2060-\u2064\u206a-\u206f\u180e]")),
    # A zero width space in the middle of a Latin word splits it for a filter, not for a reader.
    (0.5, re.compile("[A-Za-z][\u200b-\u200d\ufeff][A-Za-z]")),
)


class HiddenCharacters:
    """1 for the tags block, .95 for runs of variation selectors or of characters without width, .8 for overrides of the
    direction, .5 for embeddings, invisible operators and Latin words with a character without width inside."""

    name = "hidden_characters"

    def score(self, seen: Seen) -> float | None:
        """The greatest that a sign in the output gives, 0 without one; None where there is no output."""
        if seen.output is None:
            return None
        if seen.output.isascii():
            return 0.0
        text = _FLAG.sub("", seen.output)
        return next((score for score, sign in _SIGNS if sign.search(text)), 0.0)
