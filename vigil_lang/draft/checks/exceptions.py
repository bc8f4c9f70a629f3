"""What a statement takes out of what its clause speaks of: only what the sentence itself excepts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vigil_lang.draft.checks.cases import branches, field_of, says_nothing, taken_out
from vigil_lang.draft.checks.mentions import mentions
from vigil_lang.draft.checks.weakness import Weakness, listed
from vigil_lang.english.phrases import ASIDE, LACKING, excepting, prohibits
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.sentence_content import Said, Wording
    from vigil_lang.semantics.forms import Form

_SHORT_FLAG: Final = re.compile(r"-?\w")
_FLAG_VALUES: Final = frozenset({"true", "false"})


def exceptions(role: str, ways: Sequence[Sequence[Asked]], form: Form, said: Said) -> Iterator[Weakness]:
    """What is wrong with tests that take events out for what they are."""
    out = {asked: taken for asked in _excepted(ways) if (taken := taken_out(*asked))}
    own, prohibited = said.own, prohibits(said.sentence)
    excepts = excepting(said.sentence) if prohibited else None
    # What is excepted, or to be done instead, comes after the word; mostly, that is (`the vault aside`).
    if excepts is not None and not ASIDE.fullmatch(excepts[0]):
        own = said.after(excepts.start())
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
            demands = not prohibited or (excepts is not None and LACKING.fullmatch(excepts[0]) is not None)
            options = all(_is_option(one) for one, _ in out)
            demanded = (
                form.forbids_outright and role != "scope" and demands and (options if prohibited else len(out) == 1)
            )
            lacks = "except" if excepts else "name"
            told = f"{role}: it takes out {listed(unnamed)}, which the sentence does not {lacks}"
            yield Weakness(told if demanded else f"{told}; an exception must be in it", certain=not demanded)
        elif prohibited and excepts is None and role != "scope" and not _names_option(test, wanted, said):
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
