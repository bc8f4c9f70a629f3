"""Phrases that tell what a sentence says of order, number, exceptions and failure, as far as a statement shows it."""

from __future__ import annotations

import re
from typing import Final, Literal

from vigil_lang.english.patterns import NEGATION


def _phrase(*alternatives: str) -> re.Pattern[str]:
    """One of the phrases, as whole words."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


# --- order -----------------------------------------------------------------------------------------------------------

AFTERWARDS: Final = _phrase(
    r"after\w*|once|when\w*|if|while|during|following|since|as soon as|upon|already|previous\w*|then|until|from",
    r"subsequent\w*|having|has been|have been",
)
UNTIL: Final = _phrase(r"until|till|before|first|after|once|when\w*|while|if|always")
IMMEDIATELY: Final = _phrase(r"immediate\w*|right away|directly|at once|next|straight")
EACH_TIME: Final = _phrase("each|every|any|whenever|immediately|right|directly")

# --- number ----------------------------------------------------------------------------------------------------------

AGAIN: Final = _phrase(r"again|repeat\w*|retr(?:y|ies|ied|ying)|attempts?|re-?\w+(?:s|ed)? (?:once|twice)")
RESTARTED: Final = _phrase(r"re-?(?:run|submit|send|try|start|do)\w*")
TWICE: Final = _phrase(r"same|duplicat\w*|another|second|several|multiple|single|more than|re-?\w{4,}")
FEWER: Final = _phrase("fewer|less|under|below")
ANEW: Final = _phrase(
    r"since|after\w*|before|until|till|between|without|unless|reset\w*|in a row|consecutive\w*|successive\w*|straight",
    "per|each|every|new|next|then",
)
"""Words that let a count start anew."""

DIFFERENT: Final = _phrase("different|distinct|unique|separate|various|individual")
COMPARED: Final = _phrase(
    r"\w+er than|more than|less than|at least|at most|exceed\w*|above|below|over|under|beyond|within|up to|no more",
    r"maximum|minimum|limit\w*|increas\w*|decreas\w*|greater|larger|smaller|higher|lower|older|newer|bigger",
)
"""Words that compare two values."""

COUNTING: Final = re.compile(
    r"(?:more|less|fewer) than|at least|at most|up to|over|exceed|above|below|within", re.IGNORECASE
)
AT_A_TIME: Final = re.compile(
    r"\b(?:at a time|at once|per (?:request|call|run)|in parallel|simultaneous)", re.IGNORECASE
)

# --- what is meant ---------------------------------------------------------------------------------------------------

SAME_THING: Final = _phrase(
    r"same|own|itself|themselves|equal\w*|identical|in place|onto|another|other|different\w*|overwrit\w*"
)
INSIDE: Final = re.compile(
    r"\b(?:under|in|inside|within|below|beneath|from|into|of)\s+(?:the\s+)?[`\"“']?$", re.IGNORECASE
)
"""What stands before the name of a folder."""

INSTEAD: Final = re.compile(r"[;—–]| - |, (?=use |but |instead )")
"""What parts a prohibition from what is to be done instead."""

_FAILED = (
    r"fail\w*|error\w*|unsuccess\w*|crash\w*|broke\w*|reject\w*|den(?:y|ied|ies)|abort\w*|non-?zero|"
    r"(?:not|n['’]t) (?:work|succeed|pass)\w*"
)
OUTCOME: Final[dict[Literal["error", "ok"], re.Pattern[str]]] = {
    "error": _phrase(_FAILED, r"exit(?:s|ed)?|exit (?:code|status)"),
    "ok": _phrase(_FAILED, r"succe\w*|pass(?:es|ed|ing)?|complet\w*|exit(?:s|ed)?|finish\w*|works|worked|running"),
}
"""What sentences say of how calls end."""

# --- exceptions ------------------------------------------------------------------------------------------------------

_EXCEPTING = _phrase(
    r"unless|except\w*|other than|apart from|aside|outside|beyond|besides|save|barring|only|one|limited|others?",
    r"without|lack\w*|missing|instead of|rather than|exclud\w*|differ(?:s|ent)?|but|elsewhere|leav(?:e|ing)|skip\w*",
    r"omit\w*|forget\w*|bypass\w*|not (?:in|under|on|from|part|listed|within|below|inside|named|called)",
    r"(?:that|which|who|whose(?: \w+)?) (?:is|are|do|does|has|have|was|were)(?:n['’]t| not)|stay within|non-?\w+",
    r"(?:(?:do|does|is|are)(?:n['’]t| not)|not) (?:start|begin|end|match|contain|have|belong|includ)\w*",
    r"un\w{2,}(?:ed|en|wn|fe|able)",
)
_DEMANDING = _phrase(
    r"always|(?:must|should|shall|may only|can only|needs? to)(?! (?:not|never)\b)|use(?! no\b)|require[sd]?"
)
_DEMANDED_AFTER = re.compile(
    r"[;:,.]\s*(?:(?:always|just|please|instead|but) )?(?:use|run|pass|add|do|set|give|call|write|keep|include)\b",
    re.IGNORECASE,
)
ASIDE: Final = re.compile(r"aside|others?|one|but|limited", re.IGNORECASE)
"""Words of exceptions that may stand behind what is excepted."""

LACKING: Final = re.compile(r"without|lack\w*|missing|un\w+|omit\w*|forget\w*|skip\w*|non-?\w+", re.IGNORECASE)
"""Words of exceptions that name what must not be missing."""


def excepting(sentence: str) -> re.Match[str] | None:
    """The word of a sentence that begins an exception, or what is to be done instead."""
    return _EXCEPTING.search(sentence) or _DEMANDED_AFTER.search(sentence)


def prohibits(sentence: str) -> bool:
    """Whether a sentence forbids something, and does not first demand something and then say what it is good for."""
    negation, demand = NEGATION.search(sentence), _DEMANDING.search(sentence)
    return negation is not None and (demand is None or negation.start() < demand.start())


def forbids_outright(sentence: str) -> bool:
    """Whether a sentence forbids something without a word for when it may be done after all."""
    return prohibits(sentence) and not (excepting(sentence) or UNTIL.search(sentence))
