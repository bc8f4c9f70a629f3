"""What a statement asks for: an event of which the sentence speaks, and not one that comes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.draft.checks.cases import is_telling, looked_for, meets_most
from vigil_lang.draft.checks.narrower_than_sentence import shown
from vigil_lang.draft.checks.topics import CARRIERS, EVERYDAY, all_words_of, left_of, speaks_of
from vigil_lang.draft.checks.weakness import Weakness, listed
from vigil_lang.english.phrases import OUTCOME
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.sentence_content import Said
    from vigil_lang.semantics.forms import Form
    from vigil_lang.trace import Signature


def widened(
    role: str,
    ways: Sequence[Sequence[Asked]],
    form: Form,
    said: Said,
    spoken: frozenset[str],
    signature: Signature | None,
) -> Iterator[Weakness]:
    """In what it is easier to come by what is asked for than the clause says; `spoken` are the trigger's actions."""
    telling = [[test for test, wanted in way if _tells(test, wanted)] for way in ways]
    if any(not tests for tests in telling) or any(meets_most(way, signature) for way in ways):
        yield Weakness(f"{role}: nearly any event meets it; name the action that is asked for")
        return
    for way, tests in zip(ways, telling, strict=True):
        looked = [text for test in tests for text in looked_for(test, True)]
        if not any(map(_says_what, tests)) and not any(said.names(text, signature) for text in looked):
            yield Weakness(f"{role}: nearly any event meets it; name the action that is asked for")
        for test, wanted in way:
            fails = isinstance(test, core.StatusIs) and (test.status == "error") == wanted
            if fails and not OUTCOME["error"].search(said.text):
                if wanted or not form.settles:
                    yield Weakness(f"{role}: what is asked for has to fail, and the clause says nothing of that")
            elif not wanted and (looked_for(test, True) or isinstance(test, core.ActionIn)):
                yield Weakness(f"{role}: what meets `{shown(test)}` will not do", certain=False)
    left = left_of(said.context, all_words_of(spoken, signature))
    alternatives = dict.fromkeys(name for tests in telling for name in _alternatives(tests))
    named = [name for name in alternatives if speaks_of(left, name, signature) or said.names(name, signature, left)]
    beside = [name for name in alternatives if name not in named]
    same = [name for name in beside if name in spoken] if not form.settles else []
    if same and named:
        yield Weakness(f"{role}: beside {listed(named)}, {listed(same)} will do, of which it is asked")
    elif named and beside:
        told = f"{role}: beside {listed(named)}, which the clause names, {listed(beside)} will do"
        yield Weakness(told, certain=False)
    elif beside and all(_is_bare(way) for way in ways) and EVERYDAY.issuperset(beside):
        yield Weakness(f"{role}: nothing in the sentence asks for {listed(beside)}, which hardly a run is without")


def _is_bare(way: Sequence[Asked]) -> bool:
    """Whether a case looks at the action alone, and maybe at how it ends."""
    return all(isinstance(test, core.ActionIn | core.StatusIs) for test, _ in way)


def _says_what(test: core.Test) -> bool:
    """Whether a test says what is done: the action, or which program or function is run."""
    return isinstance(test, core.ActionIn | core.ActionMatches) or (
        isinstance(test, core.In) and test.field.name in ("program", "function")
    )


def _tells(test: core.Test, wanted: bool) -> bool:
    """Whether a test tells an event from most others: which program is run does, that one is run does not."""
    return is_telling(test, wanted) and not (isinstance(test, core.ActionIn) and bool(test.names & CARRIERS))


def _alternatives(tests: Sequence[core.Test]) -> list[str]:
    """The actions that a case may be; where it names none, what its tests look for."""
    actions = [test for test in tests if isinstance(test, core.ActionIn)]
    if actions:
        return [name for test in actions for name in sorted(test.names)]
    return [text for test in tests for text in looked_for(test, True)]
