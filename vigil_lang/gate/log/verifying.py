"""Checking a log: that it is what was signed, cosigned and kept, and that its decisions follow from their inputs.

One pass over the lines. A checkpoint whose root fits vouches for all before it; from the first that does not fit, what
was done to the log is guessed by comparing with the index of the folder, where there is one.
"""

from __future__ import annotations

import base64
import json
import sqlite3
import sys
from collections import Counter
from contextlib import ExitStack
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import msgspec

from vigil_lang.gate.confirmation import check_approval, check_denial
from vigil_lang.gate.log.derivation import CannotDerive, difference, misstated
from vigil_lang.gate.log.key_chain import Rotation, Term, terms
from vigil_lang.gate.log.kinds import LOG_KEY
from vigil_lang.gate.log.notes import NoteError
from vigil_lang.gate.log.reading import CannotRead, LogCopy, Signed, reason, signed
from vigil_lang.gate.log.tree import EMPTY_ROOT, Frontier
from vigil_lang.gate.passkeys import is_passkey
from vigil_lang.gate.people import Registry, wrong_with_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vigil_lang.gate.log.derivation import Derivation
    from vigil_lang.gate.log.notes import VerifierKey
    from vigil_lang.gate.log.side_store import PlainValue

ProblemKind: TypeAlias = Literal[
    "changed", "removed", "inserted", "reordered", "cut", "checkpoint", "decision", "unreadable", "side"
]

MAX_TOLD = 1000
"""Problems of entries that are told one by one."""

INPUTS = "/inputs"
"""Where in a decision the digest of its inputs stands."""

_DECODE = msgspec.json.Decoder(dict[str, Any]).decode
_ENCODE = msgspec.json.Encoder().encode
_HEX = frozenset("0123456789abcdef")
_LEAF = 32


class Problem(NamedTuple):
    """Something that is wrong with a log. `seq` is the first entry that nothing vouches for, or the one that it is
    about, else 0; `entry` is the place where the log departs from its index, where there is one."""

    seq: int
    kind: ProblemKind
    message: str
    entry: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As it is published."""
        found = {"seq": self.seq, "kind": self.kind, "message": self.message}
        return found if self.entry is None else {**found, "entry": self.entry}


class Audit(NamedTuple):
    """What was found out about a log.

    `signed_to` and `witnessed_to` are the sizes up to which its key and a given witness vouch for it, `derived` says of
    how many decisions what became when they were derived again. `torn` are the bytes of a last line without an end.
    """

    entries: int
    root: bytes
    problems: tuple[Problem, ...]
    signed_to: int
    witnessed_to: int
    key_given: bool
    derived: Mapping[str, int]
    torn: int
    index_state: Literal["read", "absent", "unreadable"]
    keys: tuple[Term, ...]

    @property
    def cannot_judge(self) -> bool:
        """Whether all that was found is that something cannot be read."""
        return bool(self.problems) and all(each.kind == "unreadable" for each in self.problems)

    def to_json(self) -> dict[str, Any]:
        """As it is published: `vigil.audit/1`."""
        return {
            "schema": "vigil.audit/1",
            "entries": self.entries,
            "root": base64.b64encode(self.root).decode(),
            "problems": [each.to_json() for each in self.problems],
            "signed_to": self.signed_to,
            "witnessed_to": self.witnessed_to,
            "key": "given" if self.key_given else "state",
            "keys": [{"key": str(each.key), "start": each.start, "end": each.end} for each in self.keys],
            "decisions": dict(self.derived),
            "torn": self.torn,
            "index": self.index_state,
        }


def verify(
    log: LogCopy,
    *,
    key: VerifierKey | None = None,
    witnesses: Sequence[VerifierKey] = (),
    since: Sequence[bytes] = (),
    derivation: Derivation | None = None,
) -> Audit:
    """Check a log. What cannot be read is a problem of its own; nothing is raised.

    `key` is the log's key as the auditor knows it, `since` has checkpoints that she kept. Without `derivation` no
    decision is derived again.
    """
    return _Verification(log, key, witnesses, since, derivation).audit()


class _Anchor(NamedTuple):
    """A root that the log has to have at a size, and what it rests on. `kept` ones were not in the folder, or a witness
    vouches for them: where they do not fit, the log is wrong, whatever else is signed."""

    size: int
    root: bytes
    name: str
    by_log: bool
    by_witness: bool
    kept: bool


class _Given(NamedTuple):
    """A checkpoint as it was found; `kept` says that it was not in the folder."""

    found: Signed
    name: str
    kept: bool


class _Verification:
    def __init__(
        self,
        log: LogCopy,
        key: VerifierKey | None,
        witnesses: Sequence[VerifierKey],
        since: Sequence[bytes],
        derivation: Derivation | None,
    ) -> None:
        self._log = log
        self._given = key
        self._key = key
        self._named: VerifierKey | None = None
        """The key that the folder says is the log's."""
        self._witnesses = witnesses
        self._since = since
        self._derivation = derivation
        self._problems: list[Problem] = []
        self._of_entries: list[Problem] = []
        """Problems of single entries, which count only before the first that nothing vouches for."""
        self._untold = Counter[ProblemKind]()
        self._notes: list[_Given] = []
        self._rotations: list[Rotation] = []
        self._terms: list[Term] = []
        self._anchors: list[_Anchor] = []
        self._sizes: set[int] = set()
        self._roots: dict[int, bytes] = {}
        self._frontier = Frontier()
        self._leaves = bytearray()
        self._opened: dict[str, dict[str, Any]] = {}
        """The decisions that opened holds, by the holds' ids."""
        self._people = Registry()
        self._ended_runs: list[int] = []
        self._last_at = ""
        self._derived = Counter[str]()
        self._torn = 0
        self._whole = False
        """Whether the log was read to its end: else nothing is said of what is missing."""

    def audit(self) -> Audit:
        try:
            with self._log.still():
                self._read_checkpoints()
            self._read_kept()
        except CannotRead as error:
            self._problems.append(Problem(0, "unreadable", str(error)))
        index, state = self._read_index()  # before the lines: where the log is in use, it is never ahead of them
        try:
            self._read_lines()
        except CannotRead as error:
            self._problems.append(Problem(self._frontier.size, "unreadable", str(error)))
        self._judge_notes()
        fits = self._judge_tree(index)
        return Audit(
            self._frontier.size,
            self._frontier.root(),
            tuple(self._problems),
            max((each.size for each in fits if each.by_log), default=0),
            max((each.size for each in fits if each.by_witness), default=0),
            self._given is not None,
            {name: self._derived[name] for name in ("derived", "deleted", "not_derived")},
            self._torn,
            state,
            tuple(self._terms),
        )

    # --- checkpoints ----------------------------------------------------------------------------------------------

    def _read_checkpoints(self) -> None:
        self._read_key()
        sizes, others = self._log.sizes()
        self._sizes = set(sizes)
        for name in others:
            self._problems.append(Problem(0, "checkpoint", f"checkpoints/{name!r} is no checkpoint"))
        newest = b""
        for size in sizes:
            name = f"checkpoints/{size}"
            try:
                newest = self._log.note(size) or b""
                found = signed(newest)
            except (OSError, NoteError) as error:
                self._problems.append(Problem(size, "checkpoint", f"{name} cannot be read: {reason(error)}"))
                continue
            if found.checkpoint.size != size:
                told = f"{name} is of {found.checkpoint.size:,} entries"
                self._problems.append(Problem(size, "checkpoint", told))
            self._notes.append(_Given(found, name, kept=False))
        self._compare_copy(sizes[-1] if sizes else None, newest)

    def _read_key(self) -> None:
        try:
            self._named = self._log.key()
        except CannotRead as error:
            if self._given is None:
                raise
            self._problems.append(Problem(0, "checkpoint", str(error)))
        self._key = self._given or self._named

    def _compare_copy(self, size: int | None, newest: bytes) -> None:
        """`checkpoint` is a copy of the newest, unless a crash came between the two."""
        try:
            copy = self._log.note()
        except OSError as error:
            self._problems.append(Problem(size or 0, "checkpoint", f"`checkpoint` cannot be read: {reason(error)}"))
            return
        if size is None and copy is not None:
            self._problems.append(Problem(0, "checkpoint", "`checkpoint` is there, and no checkpoints/SIZE is"))
        elif size is not None and copy != newest and self._log.begun() != newest:
            told = "is missing" if copy is None else "is not a copy of the newest"
            self._problems.append(Problem(size, "checkpoint", f"`checkpoint` {told}, checkpoints/{size}"))

    def _read_kept(self) -> None:
        for at, data in enumerate(self._since, 1):
            name = "the checkpoint that was kept" if len(self._since) == 1 else f"kept checkpoint {at}"
            try:
                self._notes.append(_Given(signed(data), name, kept=True))
            except NoteError as error:
                self._problems.append(Problem(0, "checkpoint", f"{name} is none: {error}"))

    def _judge_notes(self) -> None:
        """Find whose word the checkpoints are, when the roots of the log and the rotations of its key are known."""
        before, self._problems = self._problems, []
        fitting = [
            (each.found.checkpoint.size, each.found.note)
            for each in self._notes
            if self._roots.get(each.found.checkpoint.size) == each.found.checkpoint.root
        ]
        if self._key is not None:
            self._terms = terms(self._key, self._rotations, fitting)
        believed = [each.key for each in self._terms]
        if self._given is not None and self._named is not None and self._named not in believed:
            self._problems.append(Problem(0, "checkpoint", "log.vkey is not the key that was given"))
        for each in self._rotations:
            vouched = each.before in believed and each.key in believed
            if not vouched and any(size > each.seq for size, _ in fitting):  # else it is under way
                told = f"entry {each.seq} names another key, for which the one that is trusted does not vouch"
                self._problems.append(Problem(each.seq, "checkpoint", told))
        for found, name, kept in self._notes:
            self._take(found, name, kept=kept)
        self._problems = [*before, *self._problems]

    def _take(self, found: Signed, name: str, *, kept: bool) -> None:
        """Take a checkpoint for true, where the log or a witness signed it; else that it is not is a problem."""
        size = found.checkpoint.size
        by_log = by_witness = False
        keys = [each.key for each in self._terms if each.covers(size)]
        try:
            by_log = sum(found.note.signed_by(key) for key in keys) > 0  # all are looked at
        except NoteError as error:
            self._problems.append(Problem(size, "checkpoint", f"{name}: {error}"))
        else:
            if not by_log:
                self._problems.append(Problem(size, "checkpoint", f"{name} is not signed by the log's key"))
        if self._key is not None and found.checkpoint.origin != self._key.name:
            self._problems.append(Problem(size, "checkpoint", f"{name} is of another log"))
            return
        for witness in self._witnesses:
            try:
                by_witness = found.note.cosigned_by(witness) is not None or by_witness
            except NoteError as error:
                self._problems.append(Problem(size, "checkpoint", f"{name}: {error}"))
        if by_log or by_witness:
            trusted = kept or by_witness
            self._anchors.append(_Anchor(size, found.checkpoint.root, name, by_log, by_witness, trusted))

    # --- lines ----------------------------------------------------------------------------------------------------

    def _read_lines(self) -> None:
        anchored = {each.found.checkpoint.size for each in self._notes}
        if 0 in anchored:
            self._roots[0] = EMPTY_ROOT
        with ExitStack() as stack:
            rows = _Rows(self._side_rows(stack))
            before: bytes | None = None
            for line in self._log.lines():
                if before is not None:
                    self._read_line(before, rows)
                    if self._frontier.size in anchored:
                        self._roots[self._frontier.size] = self._frontier.root()
                before = line
            self._torn = len(before or b"")
            rows.all_before(sys.maxsize)
            self._whole = True
        if rows.broken:
            self._problems.append(Problem(0, "side", f"the side store cannot be read: {rows.broken}"))

    def _side_rows(self, stack: ExitStack) -> Iterator[PlainValue]:
        try:
            yield from stack.enter_context(self._log.plain())
        except OSError as error:
            raise sqlite3.OperationalError(reason(error)) from error

    def _read_line(self, line: bytes, rows: _Rows) -> None:
        seq = self._frontier.size
        leaf = sha256(b"\x00" + line).digest()
        self._frontier.push(leaf)
        self._leaves += leaf
        try:
            entry = _DECODE(line)
            if _ENCODE(entry) != line:  # written by another hand, or changed
                _check(line)
        except (ValueError, RecursionError) as error:
            self._tell(seq, "unreadable", f"entry {seq} cannot be read: {error}")
            return
        if entry.get("v") != 1 or not isinstance(entry.get("kind"), str):
            self._tell(seq, "unreadable", f"entry {seq} is none of version 1")
        at = entry.get("at")
        if not isinstance(at, str) or len(at) != 27:
            self._tell(seq, "unreadable", f"entry {seq} has no time")
        else:
            if at < self._last_at:
                self._tell(seq, "reordered", f"entry {seq} is older than the one before it")
            self._last_at = at
        kind = entry.get("kind")
        if kind == "run_end":
            self._ended_runs.append(seq + 1)
        inputs = None
        while (row := rows.next_of(seq)) is not None:
            told = entry.get("inputs") if row.path == INPUTS else _at(entry, row.path)
            if not isinstance(told, str) or len(told) != 64 or not _HEX.issuperset(told):
                continue  # left by a crash before its entry was written: the log says nothing of it
            if not row.fits(told):
                self._tell(seq, "side", f"the plain value of {row.path} in entry {seq} is not the one that was logged")
            elif row.path == INPUTS:
                inputs = row
        if kind == "decision":
            self._derive(seq, entry, inputs)
            if isinstance(hold := entry.get("hold"), dict) and isinstance(hold.get("id"), str):
                self._opened[hold["id"]] = entry
        elif kind in ("approval", "denial"):
            self._check_confirmation(seq, kind, entry)
        elif kind == LOG_KEY:
            try:
                self._rotations.append(Rotation.of(seq, entry))
            except NoteError as error:
                self._tell(seq, "unreadable", f"entry {seq} names no key: {error}")
        elif kind == "person":
            try:
                self._people.apply(entry)
            except (KeyError, TypeError, ValueError) as error:
                self._tell(seq, "decision", f"the person of entry {seq} cannot be so: {error}")

    def _derive(self, seq: int, entry: dict[str, Any], inputs: PlainValue | None) -> None:
        if inputs is None:
            self._derived["deleted"] += 1
            return
        if self._derivation is None:
            self._derived["not_derived"] += 1
            return
        try:
            recorded = msgspec.json.decode(inputs.value)
            derived = self._derivation.derived(entry.get("policy_digest"), recorded)
            differs = difference(entry, derived) or misstated(entry, recorded)
        except (CannotDerive, ValueError, RecursionError) as error:
            self._derived["not_derived"] += 1
            self._tell(seq, "unreadable", f"decision {seq} cannot be derived again: {error}")
            return
        self._derived["derived"] += 1
        if differs is not None:
            self._tell(seq, "decision", f"decision {seq} is not what was decided: {differs}")

    def _check_confirmation(self, seq: int, kind: str, entry: dict[str, Any]) -> None:
        """An approval or a denial bears its approver's signature over what the hold's entry says."""
        hold = entry.get("hold")
        opened = self._opened.get(hold) if isinstance(hold, str) else None
        if opened is None:
            why: str | None = "nobody opened the hold"
        else:
            why = check_approval(entry, opened) if kind == "approval" else check_denial(entry, opened)
            if why is None and is_passkey(entry["by"]):
                why = wrong_with_word(self._people.owner(entry["by"]), entry)
        if why is not None:
            self._tell(seq, "decision", f"the {kind} {seq} does not count: {why}")

    def _tell(self, seq: int, kind: ProblemKind, message: str) -> None:
        if len(self._of_entries) < MAX_TOLD:
            self._of_entries.append(Problem(seq, kind, message))
        else:
            self._untold[kind] += 1

    # --- what it comes to -----------------------------------------------------------------------------------------

    def _read_index(self) -> tuple[bytes | None, Literal["read", "absent", "unreadable"]]:
        try:
            found = self._log.index()
        except (OSError, sqlite3.Error, CannotRead):
            return None, "unreadable"
        return found, "absent" if found is None else "read"

    def _judge_tree(self, index: bytes | None) -> list[_Anchor]:
        """Tell what is wrong with the tree, and give the anchors that vouch for a part of it."""
        size = self._frontier.size
        fits = [each for each in self._anchors if self._roots.get(each.size) == each.root]
        wrong = [each for each in self._anchors if each.size in self._roots and each not in fits]
        beyond = [each for each in self._anchors if each.size > size and self._whole]
        vouched = max((each.size for each in fits), default=0)
        departs = None if index is None or not self._whole else _departure(index, bytes(self._leaves))
        tree: Problem | None = None
        for each in sorted(wrong, key=lambda one: (not one.kept, one.size)):
            if each.size < vouched and not each.kept:
                told = f"{each.name} has another root than the log, which a later checkpoint vouches for"
                self._problems.append(Problem(each.size, "checkpoint", told))
            elif tree is None:
                before = [one.size for one in fits if one.size < each.size and (one.kept or not each.kept)]
                start = max(before, default=0)
                tree = self._guess(start, each, bool(beyond), departs)
        if tree is None and beyond:
            most = max(each.size for each in beyond)
            tree = Problem(
                vouched, "cut", f"the log has {size:,} entries, {_named(beyond, most)} covers {most:,}", size
            )
            shifted = [each.seq for each in self._of_entries if each.kind == "side" and each.seq >= vouched]
            if departs is not None and departs.kind != "cut":
                tree = Problem(vouched, departs.kind, departs.message, departs.entry)
            elif departs is None and shifted:
                told = f"{tree.message}, and plain values from entry {shifted[0]} on are those of other entries"
                tree = Problem(vouched, "removed", told)
        if tree is None and departs is not None:
            tree = Problem(min(vouched, departs.entry), departs.kind, departs.message, departs.entry)
        self._tell_of_entries(tree)
        missing = [each for each in self._ended_runs if each not in self._sizes and each < size]
        if missing and tree is None:
            told = f"checkpoints/{missing[0]}, which was made at the end of a run, is missing"
            self._problems.append(Problem(missing[0], "checkpoint", told))
        return [each for each in fits if tree is None or each.size <= tree.seq]

    def _guess(self, start: int, anchor: _Anchor, shorter: bool, departs: _Departure | None) -> Problem:
        """What was done between the last checkpoint that fits and one that does not."""
        told = f"from entry {start} on, the log is not what {anchor.name} covers"
        if departs is not None:
            return Problem(start, departs.kind, f"{told}: {departs.message}", departs.entry)
        kinds = {each.kind for each in self._of_entries if start <= each.seq}
        between = bytes(self._leaves[start * _LEAF :])
        leaves = {between[at : at + _LEAF] for at in range(0, len(between), _LEAF)}
        if len(leaves) * _LEAF < len(between):
            return Problem(start, "inserted", f"{told}; an entry is there twice")
        if "reordered" in kinds:
            return Problem(start, "reordered", f"{told}; their times go down")
        if shorter:
            return Problem(start, "removed", f"{told}, and it is shorter than a checkpoint says")
        return Problem(start, "changed", told)

    def _tell_of_entries(self, tree: Problem | None) -> None:
        """What single entries are at fault in; of what follows a change nothing is told, for it follows from that."""
        told = self._of_entries
        if tree is not None:
            self._problems.append(tree)
            if tree.kind != "cut":
                told = [each for each in told if each.seq < tree.seq]
                self._untold.clear()
        self._problems += told
        self._problems += [
            Problem(0, kind, f"{count:,} more entries have such a problem") for kind, count in self._untold.items()
        ]


class _Rows:
    """The rows of the side store, taken entry by entry."""

    def __init__(self, rows: Iterator[PlainValue]) -> None:
        self._rows = rows
        self._next: PlainValue | None = None
        self.broken: str | None = None
        self._step()

    def next_of(self, seq: int) -> PlainValue | None:
        """The next row of an entry; those of earlier ones are passed over."""
        found = self._next
        while found is not None and found.seq < seq:
            self._step()
            found = self._next
        if found is None or found.seq > seq:
            return None
        self._step()
        return found

    def all_before(self, seq: int) -> None:
        """Read on, so that a store that is damaged further on is found to be so."""
        self.next_of(seq)

    def _step(self) -> None:
        try:
            self._next = next(self._rows, None)
        except sqlite3.Error as error:
            self._next, self.broken = None, str(error)


class _Departure(NamedTuple):
    kind: ProblemKind
    message: str
    entry: int


def _departure(index: bytes, log: bytes) -> _Departure | None:
    """How a log departs from its index; None where the index has nothing else, though perhaps less."""
    known, there = len(index) // _LEAF, len(log) // _LEAF
    if log.startswith(index):
        return None
    if index.startswith(log):
        return _Departure("cut", f"the index has {known:,} entries, the log {there:,}", there)
    first = _common(index, log, min(known, there))
    was = [index[at * _LEAF : (at + 1) * _LEAF] for at in range(first, known)]
    now = [log[at * _LEAF : (at + 1) * _LEAF] for at in range(first, there)]
    while was and now and was[-1] == now[-1]:
        was.pop()
        now.pop()
    before, after = Counter(was), Counter(now)
    if before == after:
        return _Departure("reordered", f"{len(was)} entries from {first} on stand in another order", first)
    if before <= after:
        return _Departure("inserted", f"{len(now) - len(was)} entries were inserted at {first}", first)
    if after <= before:
        return _Departure("removed", f"{len(was) - len(now)} entries were removed at {first}", first)
    return _Departure("changed", f"entry {first} is not what the index has", first)


def _common(one: bytes, other: bytes, most: int) -> int:
    """How many leaves two sequences begin with in common."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low * _LEAF : middle * _LEAF] == other[low * _LEAF : middle * _LEAF]:
            low = middle
        else:
            high = middle - 1
    return low


def _named(anchors: Sequence[_Anchor], size: int) -> str:
    return next(each.name for each in anchors if each.size == size)


def _at(entry: Any, path: str) -> object:
    """The value at a place of an entry, None where there is none."""
    if not path.startswith("/"):
        return None
    for name in path[1:].split("/"):
        if not isinstance(entry, dict):
            return None
        entry = entry.get(name.replace("~1", "/").replace("~0", "~"))
    return entry


def _check(line: bytes) -> None:
    """That a line is an entry which Vigil did not write in this way, and yet every reader reads as the same.

    Raises:
        ValueError: it has spaces around it, or a name twice.
    """
    if line != line.strip() or b"\r" in line or line.startswith(b"\xef\xbb\xbf"):
        raise ValueError("it has more than an object on its line")
    json.loads(line, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member is there twice")
    return found
