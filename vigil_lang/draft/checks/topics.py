"""What actions are about, in words: so that it can be told whether a sentence asks for them, and what it says beside.

A kind is known by its name and by what the vocabulary says of it (`package.install`: software is installed), an
action by its name and its kinds, a program by those of the catalogue.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from vigil_lang.abstraction.catalogue.load import program
from vigil_lang.documents.words import listed
from vigil_lang.lint.source.reach import parts_of
from vigil_lang.lint.source.stems import related
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

_EMPTY: Final = listed(
    """
    a about again all also always an and another any are as at be been before after being but by can cannot do does
    each ensure every for from given has have if in into is it its just keep made make may more most must need needs
    never new no not nothing of off on once one only or other out over per please shall should so some such
    sure than that the their them then there these they thing this those to under until up was were
    what when where which while whole will with within without yet you your
    """
)
"""Words that say nothing of what a sentence is about."""
_SYNONYMS: Final = {
    "user.ask": "approve approval authorise authorize authorization confirm confirmation consent permission escalate "
    "sign-off agree check ask explicit choose select plan validate team",
    "file.write": "modify change edit write overwrite update save generate configuration hardcode",
    "file.delete": "delete remove erase wipe clean bulk",
    "file.copy": "back up backup copy",
    "package.install": "install dependency upgrade pip npm",
    "release.publish": "deploy release ship publish rollout",
    "package.publish": "publish release upload",
    "test.run": "test suite verify pass",
    "code.check": "lint check validate type format strict",
    "message.send": "email mail send message notify post",
    "net.request": "network internet online host api fetch external contact ask talk call download url",
    "net.upload": "upload send share exfiltrate post transmit",
    "net.connect": "ssh remote login session",
    "net.listen": "port listen expose serve",
    "secret.read": "secret token password credential key",
    "git.push": "push force remote",
    "git.rewrite": "rewrite history rebase reset discard destructive force amend squash",
    "git.branch": "branch tag",
    "review.read": "pull request issue status review submission pr",
    "review.write": "pull request issue comment submission pr submit",
    "infra.delete": "destroy delete destructive terminate reverse drop",
    "infra.read": "state inspect plan look existing",
    "privilege.raise": "sudo root admin privilege",
    "text.print": "echo cat print show display",
    "security.scan": "scan audit vulnerability",
    "file.permit": "permission chmod chown owner",
    "job.submit": "job submit slurm resubmit queue",
    "archive.list": "validate verify test archive",
    "archive.extract": "validate verify test unpack unzip extract archive",
    "archive.create": "pack zip compress archive tar",
}
"""Further words in which documents speak of kinds."""


@lru_cache(maxsize=4096)
def about(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    return frozenset(parts_of(text)) - _EMPTY


@lru_cache(maxsize=512)
def _of_kind(name: str) -> frozenset[str]:
    kind = vocabulary().kinds.get(name)
    named = frozenset(parts_of(name)) - {"run"}
    if kind is None:
        return named
    return named | (about(kind.summary) - {"agent", "user", "part", "run"}) | about(_SYNONYMS.get(name, ""))


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
    named = about(action) if action not in CARRIERS else frozenset()
    return named.union(*map(_of_kind, kinds_of(action, signature)))


def all_words_of(actions: Iterable[str], signature: Signature | None) -> frozenset[str]:
    """The words for some actions."""
    return frozenset[str]().union(*(words_of(action, signature) for action in actions))


def left_of(words: Iterable[str], taken: frozenset[str]) -> frozenset[str]:
    """Words of a sentence that are none of some others, such as those for its actions: what it says beside them."""
    return frozenset(word for word in words if word not in _EMPTY and not among(word, taken))


def among(word: str, words: Collection[str]) -> bool:
    """Whether a word is related to one of some others."""
    if len(word) <= 2:
        return word in words
    return any(related(word, other) for other in words if other[:3] == word[:3])


def speaks_of(words: Collection[str], action: str, signature: Signature | None) -> bool:
    """Whether some words are about an action."""
    return any(among(word, words) for word in words_of(action, signature))
