"""The Merkle tree of the log (RFC 6962, section 2.1): its root, and proofs of what it contains and of how it grew.

A tree is told by the hashes of its leaves, one after the other; only its right frontier is kept while it grows.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EMPTY_ROOT = sha256().digest()
"""The root of a tree without leaves."""


def leaf_hash(line: bytes) -> bytes:
    """The hash of a leaf: of an entry's line without its line feed."""
    return sha256(b"\x00" + line).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right frontier of a tree: the roots of its complete subtrees, the largest first."""

    __slots__ = ("peaks", "size")

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        """A frontier that was kept.

        Raises:
            ValueError: a tree of this size has another number of complete subtrees.
        """
        self.size = size
        self.peaks = list(peaks)
        if len(self.peaks) != size.bit_count() or any(len(peak) != 32 for peak in self.peaks):
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} complete subtrees")

    def push(self, leaf: bytes) -> None:
        """Add a leaf by its hash."""
        peaks, size = self.peaks, self.size
        while size & 1:
            leaf = sha256(b"\x01" + peaks.pop() + leaf).digest()
            size >>= 1
        peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root of the tree."""
        if not self.peaks:
            return EMPTY_ROOT
        found = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            found = node_hash(peak, found)
        return found


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root of a tree with these leaves, given by their hashes."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.push(leaf)
    return frontier.root()


def inclusion_proof(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """The path of a leaf (RFC 6962, section 2.1.1), from its sibling to a child of the root.

    Raises:
        ValueError: the tree has no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise ValueError(f"a tree of {len(leaves)} leaves has no leaf {index}")
    path: list[bytes] = []
    start, end = 0, len(leaves)
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(root_of(leaves[middle:end]))
            end = middle
        else:
            path.append(root_of(leaves[start:middle]))
            start = middle
    return path[::-1]


def consistency_proof(old: int, leaves: Sequence[bytes]) -> list[bytes]:
    """That a tree with the first `old` of the leaves grew into the one with all (RFC 6962, section 2.1.2).

    Raises:
        ValueError: the older tree is larger, or empty, from which anything grows.
    """
    if not 0 < old <= len(leaves):
        raise ValueError(f"a tree of {old} leaves does not grow into one of {len(leaves)}")
    path: list[bytes] = []
    start, end, whole = 0, len(leaves), True
    while old < end:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(root_of(leaves[middle:end]))
            end = middle
        else:
            path.append(root_of(leaves[start:middle]))
            start, whole = middle, False
    if not whole:
        path.append(root_of(leaves[start:end]))
    return path[::-1]


def consistent(old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether a proof shows that one tree grew into another (RFC 9162, section 2.1.4.2)."""
    if old == new:
        return not path and old_root == new_root
    if not 0 < old < new or not path:
        return False
    steps = [old_root, *path] if old & (old - 1) == 0 else list(path)
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    found_old = found_new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            found_old, found_new = node_hash(step, found_old), node_hash(step, found_new)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found_new = node_hash(found_new, step)
        at, last = at >> 1, last >> 1
    return last == 0 and found_old == old_root and found_new == new_root


def _split(size: int) -> int:
    """The largest power of two below a size of at least 2."""
    return 1 << ((size - 1).bit_length() - 1)
