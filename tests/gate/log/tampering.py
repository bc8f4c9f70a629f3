"""Random edits of a log, each with what an audit has to say of it: `python -m tests.gate.log.tampering`."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from log_support import derivation, filled

from vigil_lang.gate.log.notes import Checkpoint, Signer, note_of
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.tree import leaf_hash, root_of
from vigil_lang.gate.log.verifying import Audit, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENTRIES, TAIL, EVERY = 30, 3, 6
TREE = {"changed", "removed", "inserted", "reordered", "cut"}


class Edit(NamedTuple):
    """What was done: the kinds of problems of which one has to be told, the first entry that is at fault (None where
    that cannot be known), and whether it shows only by the index, or only by a key or note that the auditor kept."""

    name: str
    kinds: set[str]
    first: int | None = None
    exact: bool = True
    given: bool = False


class Original:
    """A log that nothing is wrong with, and what an auditor kept of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "state"
        filled(self.folder, entries=ENTRIES, tail=TAIL, every=EVERY)
        self.lines = (self.folder / "log.jsonl").read_bytes().split(b"\n")[:-1]
        self.sizes = sorted(int(path.name) for path in (self.folder / "checkpoints").iterdir())
        self.key = LogCopy(self.folder).key()
        self.note = (self.folder / "checkpoints" / str(self.sizes[-2])).read_bytes()
        with closing(sqlite3.connect(self.folder / "args.sqlite")) as found:
            self.rows = found.execute("SELECT seq, path FROM plain ORDER BY seq").fetchall()

    def audit(self, folder: Path, *, given: bool = False) -> Audit:
        """What an audit says; with what the auditor kept where it is `given`."""
        key, since = (self.key, [self.note]) if given else (None, [])
        return verify(LogCopy(folder), key=key, since=since, derivation=derivation(folder))


def apply(original: Original, folder: Path, rng: random.Random, *, only: Any = None) -> Edit:
    """Edit a copy of a log in one way."""
    shutil.copytree(original.folder, folder, symlinks=True)
    edit: Edit = (only or rng.choice(EDITS))(original, folder, rng)
    return edit


def _write(folder: Path, lines: Sequence[bytes]) -> None:
    (folder / "log.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


def a_byte(original: Original, folder: Path, rng: random.Random) -> Edit:  # noqa: ARG001
    data = bytearray((folder / "log.jsonl").read_bytes())
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)
    (folder / "log.jsonl").write_bytes(data)
    return Edit(f"byte {at}", TREE, bytes(data[:at]).count(b"\n"))


def a_member(original: Original, folder: Path, rng: random.Random) -> Edit:
    lines = list(original.lines)
    at = rng.randrange(len(lines))
    entry = json.loads(lines[at])
    entry[rng.choice(["run", "agent", "mode", "policy_digest"])] = "other"
    lines[at] = json.dumps(entry, separators=(",", ":")).encode()
    _write(folder, lines)
    return Edit(f"member of {at}", {"changed"}, at)


def cut_line(original: Original, folder: Path, rng: random.Random) -> Edit:
    lines = list(original.lines)
    at = rng.randrange(len(lines) - 1)
    del lines[at]
    _write(folder, lines)
    return Edit(f"line {at} cut", {"removed"}, at)


def swapped(original: Original, folder: Path, rng: random.Random) -> Edit:
    lines = list(original.lines)
    one, other = sorted(rng.sample(range(len(lines)), 2))
    lines[one], lines[other] = lines[other], lines[one]
    _write(folder, lines)
    return Edit(f"{one} and {other} swapped", {"reordered"}, one)


def inserted(original: Original, folder: Path, rng: random.Random) -> Edit:
    lines = list(original.lines)
    at = rng.randrange(len(lines))
    entry = {**json.loads(lines[at]), "kind": "outcome", "decision": at, "status": "ok"}
    lines.insert(at, json.dumps(entry, separators=(",", ":")).encode())
    _write(folder, lines)
    return Edit(f"line inserted at {at}", {"inserted"}, at)


def duplicated(original: Original, folder: Path, rng: random.Random) -> Edit:
    lines = list(original.lines)
    at = rng.randrange(len(lines) - 1)
    lines.insert(at, lines[at])
    _write(folder, lines)
    return Edit(f"line {at} twice", {"inserted"}, at + 1)


def tail_cut(original: Original, folder: Path, rng: random.Random) -> Edit:
    kept = rng.randrange(len(original.lines))
    _write(folder, original.lines[:kept])
    return Edit(f"{kept} lines left", {"cut"}, kept)


def tail_torn(original: Original, folder: Path, rng: random.Random) -> Edit:  # noqa: ARG001
    data = (folder / "log.jsonl").read_bytes()
    left = rng.randrange(len(data))
    (folder / "log.jsonl").write_bytes(data[:left])
    return Edit(f"{left} bytes left", {"cut"}, data[:left].count(b"\n"))


def tail_cut_and_older_checkpoint(original: Original, folder: Path, rng: random.Random) -> Edit:
    size = rng.choice(original.sizes[:-1])
    kept = rng.randrange(size, original.sizes[original.sizes.index(size) + 1])
    _write(folder, original.lines[:kept])
    for other in original.sizes:
        if other > size:
            (folder / "checkpoints" / str(other)).unlink()
    shutil.copyfile(folder / "checkpoints" / str(size), folder / "checkpoint")
    given = rng.random() < 0.5 and kept < original.sizes[-2]
    if given:
        (folder / "index.sqlite").unlink()
    return Edit(f"all forgotten after {kept}", {"cut"}, kept, exact=not given, given=given)


def plain_value(original: Original, folder: Path, rng: random.Random) -> Edit:
    seq, path = rng.choice(original.rows)
    with closing(sqlite3.connect(folder / "args.sqlite")) as found, found:
        what = rng.choice(["value", "salt", "path", "seq"])
        if what == "value":
            query = "UPDATE plain SET value = json_set(value, '$.tier.level', 3) WHERE seq = ? AND path = ?"
            found.execute(query, (seq, path))
        elif what == "salt":
            found.execute("UPDATE plain SET salt = ? WHERE seq = ? AND path = ?", (os.urandom(16), seq, path))
        else:
            other = rng.choice([row for row in original.rows if row != (seq, path)])
            query = "UPDATE plain SET (salt, value) = (SELECT salt, value FROM plain WHERE seq = ? AND path = ?) "
            found.execute(f"{query} WHERE seq = ? AND path = ?", (*other, seq, path))
    return Edit(f"{what} of {path} in {seq}", {"side"}, seq, exact=False)


def side_store_broken(original: Original, folder: Path, rng: random.Random) -> Edit:  # noqa: ARG001
    data = bytearray((folder / "args.sqlite").read_bytes())
    data[:100] = os.urandom(100)
    (folder / "args.sqlite").write_bytes(data)
    return Edit("side store broken", {"side"}, None)


def checkpoint_byte(original: Original, folder: Path, rng: random.Random) -> Edit:
    size = rng.choice(original.sizes)
    path = folder / "checkpoints" / str(size)
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    return Edit(f"byte of checkpoints/{size}", {"checkpoint"})


def checkpoint_of_another_size(original: Original, folder: Path, rng: random.Random) -> Edit:
    one, other = rng.sample(original.sizes, 2)
    shutil.copyfile(folder / "checkpoints" / str(other), folder / "checkpoints" / str(one))
    return Edit(f"checkpoints/{other} as {one}", {"checkpoint"})


def older_copy(original: Original, folder: Path, rng: random.Random) -> Edit:
    size = rng.choice(original.sizes[:-1])
    shutil.copyfile(folder / "checkpoints" / str(size), folder / "checkpoint")
    return Edit(f"`checkpoint` is {size}", {"checkpoint"})


def newest_removed(original: Original, folder: Path, rng: random.Random) -> Edit:  # noqa: ARG001
    (folder / "checkpoints" / str(original.sizes[-1])).unlink()
    return Edit("newest checkpoint removed", {"checkpoint"})


def forged_checkpoint(original: Original, folder: Path, rng: random.Random) -> Edit:
    """Signed with the log's own key, and yet not what the log is."""
    size = rng.choice(original.sizes[:-1])
    signer = _signer(folder, original.key.name)
    note = note_of(Checkpoint(original.key.name, size, os.urandom(32)), [signer])
    (folder / "checkpoints" / str(size)).write_text(str(note))
    return Edit(f"checkpoints/{size} forged", {"checkpoint"}, size, exact=False)


def key_replaced(original: Original, folder: Path, rng: random.Random) -> Edit:
    """By whoever writes to the folder, and everything is signed anew: only who knows the key sees it."""
    lines = list(original.lines)
    if rng.random() < 0.5:
        del lines[rng.randrange(len(lines))]
    signer = Signer(rng.choice([original.key.name, "vigil.local/other"]), Ed25519PrivateKey.generate())
    (folder / "log.vkey").write_text(f"{signer.key}\n")
    (folder / "index.sqlite").unlink()
    _rewrite(original, folder, lines, signer)
    return Edit("key replaced", {"checkpoint"}, given=True)


def rewritten(original: Original, folder: Path, rng: random.Random) -> Edit:
    """With the log's own key, and no index is left: only who kept a checkpoint sees it."""
    lines = list(original.lines)
    at = rng.randrange(original.sizes[-2])
    entry = json.loads(lines[at])
    lines[at] = json.dumps({**entry, "kind": "signal"}, separators=(",", ":")).encode()
    (folder / "index.sqlite").unlink()
    _rewrite(original, folder, lines, _signer(folder, original.key.name))
    return Edit(f"{at} rewritten", {"changed"}, at, exact=False, given=True)


def rewritten_beside_its_index(original: Original, folder: Path, rng: random.Random) -> Edit:
    lines = list(original.lines)
    at = rng.randrange(len(lines))
    entry = json.loads(lines[at])
    lines[at] = json.dumps({**entry, "agent": "other"}, separators=(",", ":")).encode()
    _rewrite(original, folder, lines, _signer(folder, original.key.name))
    return Edit(f"{at} rewritten beside its index", {"changed"}, at)


def forged_decision(original: Original, folder: Path, rng: random.Random) -> Edit:
    """Everything is signed anew and the index too: the decision does not follow from its inputs."""
    lines = list(original.lines)
    at = rng.choice([at for at, line in enumerate(lines) if b'"kind":"decision"' in line])
    entry = json.loads(lines[at])
    match rng.randrange(4):
        case 0:
            entry["mode"] = {"pass": "hold", "hold": "pass", "block": "pass"}[entry["mode"]]
        case 1:
            entry["reasons"].append({**entry["reasons"][0], "name": "made_up"})
        case 2:
            entry["approvals"] = [*entry["approvals"], "h9"]
        case _:
            entry["record"] = {"amount": ["1"]}
    lines[at] = json.dumps(entry, separators=(",", ":")).encode()
    _rewrite(original, folder, lines, _signer(folder, original.key.name))
    with closing(sqlite3.connect(folder / "index.sqlite")) as found, found:
        found.execute("UPDATE entries SET leaf = ? WHERE seq = ?", (leaf_hash(lines[at]), at))
    return Edit(f"decision {at} forged", {"decision"}, at, exact=False)


EDITS: tuple[Callable[[Original, Path, random.Random], Edit], ...] = (
    a_byte, a_byte, a_member, cut_line, swapped, inserted, duplicated, tail_cut, tail_torn,
    tail_cut_and_older_checkpoint, plain_value, side_store_broken, checkpoint_byte, checkpoint_of_another_size,
    older_copy, newest_removed, forged_checkpoint, key_replaced, rewritten, rewritten_beside_its_index, forged_decision,
)  # fmt: skip


def _signer(folder: Path, name: str) -> Signer:
    private = load_pem_private_key((folder / "keys" / "log.pem").read_bytes(), None)
    assert isinstance(private, Ed25519PrivateKey)
    return Signer(name, private)


def _rewrite(original: Original, folder: Path, lines: list[bytes], signer: Signer) -> None:
    _write(folder, lines)
    leaves = [leaf_hash(line) for line in lines]
    for size in original.sizes:
        note = note_of(Checkpoint(signer.key.name, size, root_of(leaves[:size])), [signer])
        (folder / "checkpoints" / str(size)).write_text(str(note))
    shutil.copyfile(folder / "checkpoints" / str(original.sizes[-1]), folder / "checkpoint")


def check(original: Original, edit: Edit, audit: Audit) -> str | None:
    """What an audit failed to say of an edit."""
    told = [each for each in audit.problems if each.kind in edit.kinds]
    if not told:
        return f"{edit.name}: {sorted(edit.kinds)} not among {audit.problems}"
    if edit.first is None:
        return None
    first = told[0]
    if first.kind in TREE:
        vouched = max((size for size in original.sizes if size <= edit.first), default=0)
        if first.seq > edit.first or (edit.exact and first.entry is not None and first.entry < vouched):
            return f"{edit.name}: {first} is not from {vouched} on"
        if (
            edit.exact
            and not edit.given
            and (first.seq, first.entry) not in ((vouched, edit.first), (edit.first, edit.first))
        ):
            return f"{edit.name}: {first} is not ({vouched}, {edit.first})"
    elif first.seq != edit.first:
        return f"{edit.name}: {first} is not {edit.first}"
    return None


def hashed(folder: Path) -> dict[str, str]:
    """Every file of a folder with the hash of what it holds."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def run(count: int, seed: int, place: Path) -> list[str]:
    """Apply so many edits, each to a copy; what was not found as it has to be."""
    rng = random.Random(seed)
    original = Original(place)
    missed: list[str] = []
    for number in range(count):
        folder = place / f"edit{number}"
        edit = apply(original, folder, rng)
        before = hashed(folder)
        failed = check(original, edit, original.audit(folder, given=edit.given))
        if failed is not None:
            missed.append(failed)
        if hashed(folder) != before:
            missed.append(f"{edit.name}: the audit wrote to the folder")
        shutil.rmtree(folder)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        missed = run(given.count, given.seed, Path(place))
    print(f"{given.count:,} edits (--seed {given.seed}): {len(missed)} not found as they have to be")
    for each in missed[:20]:
        print(f"  {each}")
    return bool(missed)


if __name__ == "__main__":
    raise SystemExit(main())
