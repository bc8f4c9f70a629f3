"""What actions are about, in words: so that it can be told whether a sentence asks for them, and what it says beside.

A kind is known by its name and by what the vocabulary says of it (`package.install`: software is installed), an
action by its name and its kinds, a program by those of the catalogue.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from vigil_lang.abstraction.catalogue.load import program
from vigil_lang.english.stems import related
from vigil_lang.english.words import FUNCTION_WORDS, content_words, parts_of, word_lists
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from vigil_lang.trace import Signature

CARRIERS: Final = frozenset({"process.run", "shell.run", "shell.control", "code.run", "code.call", "tool.search"})
"""Kinds that tell how something is done, and not what."""

EVERYDAY: Final = CARRIERS | {
    "file.read", "file.stat", "file.search", "dir.list", "dir.change", "agent.message", "user.message", "text.print",
    "system.read", "env.read", "data.process", "task.plan", "skill.load", "git.read", "net.request",
}  # fmt: skip
"""Kinds that hardly a run is without, whatever it does."""

_SYNONYMS: Final = word_lists("kinds")
"""Further words in which documents speak of kinds."""


@lru_cache(maxsize=512)
def _of_kind(name: str) -> frozenset[str]:
    kind = vocabulary().kinds.get(name)
    named = frozenset(parts_of(name)) - {"run"}
    if kind is None:
        return named
    described = content_words(kind.summary) - {"agent", "part", "run", "up", "user"}
    return named | described | _SYNONYMS.get(name, frozenset())


def kinds_of(action: str, signature: Signature | None) -> frozenset[str]:
    """The kinds of an action, or of a program by its name; a kind is one of its own. Carriers are none."""
    found = {action} if action in vocabulary().kinds else set()
    if signature is not None and action in signature.actions:
        found |= set(signature.actions[action].kinds)
    if not found and (known := program(action)) is not None:
        found |= set(known.kinds or ())
    return frozenset(found) - CARRIERS


def words_of(action: str, signature: Signature | None) -> frozenset[str]:
    """The words for an action."""
    named = content_words(action) if action not in CARRIERS else frozenset()
    return named.union(*map(_of_kind, kinds_of(action, signature)))


def all_words_of(actions: Iterable[str], signature: Signature | None) -> frozenset[str]:
    """The words for some actions."""
    return frozenset[str]().union(*(words_of(action, signature) for action in actions))


def left_of(words: Iterable[str], taken: frozenset[str]) -> frozenset[str]:
    """Words of a sentence that are none of some others, such as those for its actions: what it says beside them."""
    return frozenset(word for word in words if word not in FUNCTION_WORDS and not among(word, taken))


def among(word: str, words: Collection[str]) -> bool:
    """Whether a word is related to one of some others."""
    if len(word) <= 2:
        return word in words
    return any(related(word, other) for other in words if other[:3] == word[:3])


def speaks_of(words: Collection[str], action: str, signature: Signature | None) -> bool:
    """Whether some words are about an action."""
    return any(among(word, words) for word in words_of(action, signature))
