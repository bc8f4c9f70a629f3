"""Stored drafts: the answers of a model, keyed by what it was asked, in files that people can read.

A stored draft is never a policy. It holds answers in the intermediate form, and whoever uses it has them checked anew;
so a file can do no more harm than a model. A file that is damaged, or whose key does not fit its name, is ignored.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from vigil_lang.base import cache
from vigil_lang.draft.clause_result import Answer, Cause, Entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from vigil_lang.draft.clause_result import Clause, Draft

_FOLDER = "drafts"
_SHORT = 16


class MadeOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the answers of a model depend on: digests of the clauses, the vocabulary and the prompt, and the model."""

    clauses: str
    vocabulary: str
    prompt: str
    model: str
    effort: str | None = None

    @property
    def key(self) -> str:
        """A digest of it all, in 64 hexadecimal digits; files are named by the first of them."""
        return _digest(msgspec.json.encode(self))

    def differences(self, other: MadeOf) -> list[str]:
        """How another one differs, in words."""
        found = [name for name in ("clauses", "vocabulary", "prompt") if getattr(self, name) != getattr(other, name)]
        if self.model != other.model:
            found.append(f"model ({other.model})")
        if self.effort != other.effort:
            found.append(f"effort ({other.effort or 'none'})")
        return found


class Left(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A clause without an acceptable answer, and why."""

    clause: str
    cause: Cause
    reason: str = ""
    problems: tuple[str, ...] = ()
    rounds: int = 0


class Spent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests and tokens that the answers took, and their cost in USD."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A draft as it is kept.

    `made` is a time in UTC; `documents` are digests of their texts by their names; `rounds` how often each clause was
    asked about; `max_tokens` how long a reply could be.
    """

    schema: Literal["vigil.stored-draft/1"]
    key: str
    made: str
    made_of: MadeOf
    documents: dict[str, str]
    spent: Spent
    answers: tuple[Answer, ...]
    left: tuple[Left, ...] = ()
    rounds: dict[str, int] = {}
    max_tokens: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A stored draft and the file it is in."""

    path: Path
    stored: Stored


def made_of(clauses: Sequence[Clause], vocabulary: str, prompt: str, model: str, effort: str | None) -> MadeOf:
    """What a draft would depend on. `prompt` is the version of its text; the paths of documents make no difference."""
    return MadeOf(_of_clauses(clauses), _digest(vocabulary.encode()), prompt, model, effort)


def may_hold(clauses: Sequence[Clause] | None, model: str, effort: str | None) -> bool:
    """Whether a model's answers for some clauses are stored, in whatever vocabulary; None stands for any clauses."""
    asked = None if clauses is None else _of_clauses(clauses)
    stored = (found.stored.made_of for found in every())
    return any((of.model, of.effort) == (model, effort) and asked in (None, of.clauses) for of in stored)


def load(of: MadeOf) -> Found | None:
    """The stored draft with the same inputs; None where there is none."""
    folder = cache.folder(_FOLDER)
    return _read(folder, of.key[:_SHORT], of.key) if folder is not None else None


def save(of: MadeOf, draft: Draft, documents: Mapping[str, bytes], max_tokens: int = 0) -> Path | None:
    """Keep a draft, unless the budget ran out; the file, or None where it cannot be kept.

    `documents` are the contents of the documents by their names, `max_tokens` is how long a reply could be.
    """
    folder = cache.folder(_FOLDER)
    if folder is None or any(entry.cause == "budget" for entry in draft.entries):
        return None
    used = draft.usage
    stored = Stored(
        "vigil.stored-draft/1",
        of.key,
        datetime.now(UTC).isoformat(timespec="seconds"),
        of,
        {name: _digest(text) for name, text in documents.items()},
        Spent(
            used.requests,
            used.input_tokens + used.cache_read_tokens + used.cache_write_tokens,
            used.output_tokens,
            used.cost,
        ),
        draft.answers.answers,
        tuple(_left(entry) for entry in draft.entries if entry.cause not in (None, "model")),
        {entry.clause.id: entry.rounds for entry in draft.entries},
        max_tokens,
    )
    try:
        whole = msgspec.structs.replace(stored, digest=_own_digest(stored))
        text = msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
    except UnicodeEncodeError:  # a document whose name is no text
        return None
    return _keep(folder, f"{of.key[:_SHORT]}.json", text)


def keep_policy(of: MadeOf, text: str) -> Path | None:
    """Keep the policy that a stored draft became, beside it; the file, or None where it cannot be kept."""
    folder = cache.folder(_FOLDER)
    return _keep(folder, f"{of.key[:_SHORT]}.vgl", text) if folder is not None else None


def every() -> list[Found]:
    """All stored drafts that can be read, the newest first."""
    folder = cache.folder(_FOLDER)
    if folder is None:
        return []
    try:
        stems = sorted(path.stem for path in folder.glob("*.json"))
    except OSError:
        return []
    found = [one for stem in stems if (one := _read(folder, stem)) is not None]
    return sorted(found, key=lambda one: (one.stored.made, one.stored.key), reverse=True)


def nearest(of: MadeOf) -> Found | None:
    """The stored draft with the fewest differences, one of the same clauses first; of equals the newest."""

    def distance(one: Found) -> tuple[bool, int]:
        return one.stored.made_of.clauses != of.clauses, len(of.differences(one.stored.made_of))

    return min(every(), key=distance, default=None)


def restored(draft: Draft, stored: Stored) -> Draft:
    """A draft made from stored answers, with the stored reasons of the clauses that had none."""
    left = {item.clause: item for item in stored.left}
    entries = tuple(
        replace(entry, cause=item.cause, reason=item.reason, problems=item.problems, rounds=item.rounds)
        if entry.cause == "missing" and (item := left.get(entry.clause.id)) is not None
        else replace(entry, rounds=stored.rounds.get(entry.clause.id, 0))
        for entry in draft.entries
    )
    return replace(draft, entries=entries, model=stored.made_of.model)


def still_good(draft: Draft, stored: Stored) -> bool:
    """Whether everything that was acceptable when stored is acceptable again."""
    left = {item.clause for item in stored.left}
    return all(entry.cause in (None, "model") or entry.clause.id in left for entry in draft.entries)


def tried(stored: Stored, rounds: int, max_tokens: int = 0) -> bool:
    """Whether every clause without an acceptable answer was asked about as often, with as long replies, as now."""
    if max_tokens > stored.max_tokens and any(item.cause == "cut" for item in stored.left):
        return False
    return all(item.rounds > rounds for item in stored.left if item.cause in ("rejected", "missing"))


def _of_clauses(clauses: Sequence[Clause]) -> str:
    asked = [(c.id, c.text, c.headings, c.lead, c.parts, c.hostile is not None) for c in clauses]
    return _digest(msgspec.json.encode(asked))


def _left(entry: Entry) -> Left:
    assert entry.cause is not None
    return Left(entry.clause.id, entry.cause, entry.reason, entry.problems, entry.rounds)


def _keep(folder: Path, name: str, text: str) -> Path | None:
    """Write a file and check that it is there, since the cache does not report failures."""
    cache.write_plain(f"{_FOLDER}/{name}", text)
    return folder / name if cache.read_bytes(f"{_FOLDER}/{name}") == text.encode() else None


def _read(folder: Path, stem: str, key: str | None = None) -> Found | None:
    """The stored draft in a file that is named for its key; where a whole `key` is given, only that one."""
    name = f"{stem}.json"
    data = cache.read_bytes(f"{_FOLDER}/{name}")
    if data is None:
        return None
    try:
        stored = msgspec.json.decode(data, type=Stored)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    named = stored.key == stored.made_of.key and stem == stored.key[:_SHORT] and key in (None, stored.key)
    return Found(folder / name, stored) if named and stored.digest == _own_digest(stored) else None


def _own_digest(stored: Stored) -> str:
    return _digest(msgspec.json.encode(msgspec.structs.replace(stored, digest="")))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
