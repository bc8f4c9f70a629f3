"""What a statement takes out of what its clause speaks of: only what the sentence itself excepts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vigil_lang.documents.lexicon import NEGATION
from vigil_lang.draft.checks.cases import branches, field_of, says_nothing, taken_out
from vigil_lang.draft.checks.mentions import mentions
from vigil_lang.draft.checks.weakness import Weakness, listed
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.sentence_content import Said, Wording
    from vigil_lang.semantics.forms import Form

_EXCEPTING: Final = re.compile(
    r"\b(?:unless|except\w*|other than|apart from|aside|outside|beyond|besides|save|barring|only|one|limited|others?|"
    r"without|lack\w*|missing|instead of|rather than|exclud\w*|differ(?:s|ent)?|but|elsewhere|leav(?:e|ing)|skip\w*|"
    r"omit\w*|forget\w*|bypass\w*|not (?:in|under|on|from|part|listed|within|below|inside|named|called)|"
    r"(?:that|which|who|whose(?: \w+)?) (?:is|are|do|does|has|have|was|were)(?:n['’]t| not)|stay within|non-?\w+|"
    r"(?:(?:do|does|is|are)(?:n['’]t| not)|not) (?:start|begin|end|match|contain|have|belong|includ)\w*|"
    r"un\w{2,}(?:ed|en|wn|fe|able))\b",
    re.IGNORECASE,
)
_DEMANDING: Final = re.compile(
    r"\b(?:always|(?:must|should|shall|may only|can only|needs? to)(?! (?:not|never)\b)|use(?! no\b)|require[sd]?)\b",
    re.IGNORECASE,
)
_DEMANDED_AFTER: Final = re.compile(
    r"[;:,.]\s*(?:(?:always|just|please|instead|but) )?(?:use|run|pass|add|do|set|give|call|write|keep|include)\b",
    re.IGNORECASE,
)
_UNTIL: Final = re.compile(r"\b(?:until|till|before|first|after|once|when\w*|while|if|always)\b", re.IGNORECASE)
_SHORT_FLAG: Final = re.compile(r"-?\w")
_ASIDE: Final = re.compile(r"aside|others?|one|but|limited", re.IGNORECASE)
_LACKING: Final = re.compile(r"without|lack\w*|missing|un\w+|omit\w*|forget\w*|skip\w*|non-?\w+", re.IGNORECASE)
_FLAG_VALUES: Final = frozenset({"true", "false"})


def exceptions(role: str, ways: Sequence[Sequence[Asked]], form: Form, said: Said) -> Iterator[Weakness]:
    """What is wrong with tests that take events out for what they are."""
    out = {asked: taken for asked in _excepted(ways) if (taken := taken_out(*asked))}
    own, excepting = said.own, None
    if prohibits := _prohibits(said.sentence):
        excepting = _EXCEPTING.search(said.sentence) or _DEMANDED_AFTER.search(said.sentence)
        # What is excepted, or to be done instead, comes after the word; mostly, that is (`the vault aside`).
        own = own if excepting is None or _ASIDE.fullmatch(excepting[0]) else said.after(excepting.start())
    for (test, _), taken in out.items():
        if isinstance(test, core.Matches | core.ActionMatches) and says_nothing(test.matcher):
            yield Weakness(f"{role}: it takes out {listed(taken)}, which is nearly any value")
        elif isinstance(test, core.Matches):
            more = mentions(said.own_text, frozenset()).exceeded(test.matcher)
            if more is not None:
                yield Weakness(
                    f"{role}: {listed(taken)} takes out more than the sentence names: `{more}`", certain=False
                )
    unsaid = {asked: [text for text in taken if not _is_said(asked[0], text, own)] for asked, taken in out.items()}
    named = any(len(unsaid[asked]) < len(taken) for asked, taken in out.items())
    for (test, wanted), taken in out.items():
        unnamed = unsaid[test, wanted]
        if _FLAG_VALUES.issuperset(taken) and own.has(field_of(test)):
            unnamed = []  # `verified = true`: the argument's name says what is taken out
        if named:  # `-S` beside `--sign`, `t` beside `time`
            unnamed = [text for text in unnamed if not _SHORT_FLAG.fullmatch(text)]
        if unnamed:
            # What must always be there is asked for by forbidding the rest, and may go by other words.
            demands = not prohibits or (excepting is not None and _LACKING.fullmatch(excepting[0]) is not None)
            options = all(_is_option(one) for one, _ in out)
            demanded = form.forbids_each and role != "scope" and demands and (options if prohibits else len(out) == 1)
            lacks = "except" if excepting else "name"
            told = f"{role}: it takes out {listed(unnamed)}, which the sentence does not {lacks}"
            yield Weakness(told if demanded else f"{told}; an exception must be in it", certain=not demanded)
        elif prohibits and excepting is None and role != "scope" and not _names_option(test, wanted, said):
            told = f"{role}: it takes out {listed(taken)}, and the sentence has no `unless`, `only` or the like"
            yield Weakness(told)


def _is_said(test: core.Test, text: str, own: Wording) -> bool:
    """Whether a clause itself speaks of what a test takes out by a name, a value or each alternative of a pattern."""
    if isinstance(test, core.ActionIn | core.Has):
        return own.has(text)
    if isinstance(test, core.Matches | core.ActionMatches):
        found = branches(test.matcher)
        return found is not None and all(map(own.has_value, found)) and own.has_value(text)
    return own.has_value(text)


def _is_option(test: core.Test) -> bool:
    """Whether a test is of an option or flag of a call, or of an argument's being there."""
    return isinstance(test, core.Has) or (isinstance(test, core.In) and test.field.name in ("flag", "argument"))


def _names_option(test: core.Test, wanted: bool, said: Said) -> bool:
    """Whether what is missing is an option that stands in the clause in code: its row, or its lead, demands it."""
    name = field_of(test)
    texts = [name] if isinstance(test, core.Has) or (isinstance(test, core.In) and test.values <= _FLAG_VALUES) else []
    texts += [value for value in taken_out(test, wanted) if value.startswith("-")]
    return any(
        re.search(rf"`[^`]*--?{re.escape(text.lstrip('-'))}(?![\w-])[^`]*`", said.text) for text in texts if text
    )


def forbids_outright(sentence: str) -> bool:
    """Whether a sentence forbids something without a word for when it may be done after all."""
    conditional = _EXCEPTING.search(sentence) or _DEMANDED_AFTER.search(sentence) or _UNTIL.search(sentence)
    return _prohibits(sentence) and conditional is None


def _prohibits(sentence: str) -> bool:
    """Whether a sentence forbids something, rather than to demand it and to say then what it is good for."""
    negation, demand = NEGATION.search(sentence), _DEMANDING.search(sentence)
    return negation is not None and (demand is None or negation.start() < demand.start())


def _excepted(ways: Sequence[Sequence[Asked]]) -> list[Asked]:
    """The tests that take something out: one for what must be there takes out nothing beside a case with it."""
    return list(
        dict.fromkeys(
            (test, wanted)
            for way in ways
            for test, wanted in way
            if not (isinstance(test, core.Has) and not wanted and _is_case_without(test, way, ways))
        )
    )


def _is_case_without(test: core.Has, way: Sequence[Asked], ways: Sequence[Sequence[Asked]]) -> bool:
    """Whether there is the same case, but that it looks at the argument which is not there in this one."""
    rest = {asked for asked in way if asked[0] != test}
    return any(
        other is not way and rest <= set(other) and all(field_of(t) == test.field.name for t, _ in set(other) - rest)
        for other in ways
    )
