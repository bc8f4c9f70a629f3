"""The Merkle tree, held against pymerkle and against RFC 6962's own definition."""

from __future__ import annotations

from hashlib import sha256

import pymerkle
import pytest

from vigil_lang.gate.log.tree import (
    Frontier,
    consistency_proof,
    consistent,
    inclusion_proof,
    leaf_hash,
    root_of,
)


def lines(count: int) -> list[bytes]:
    return [b'{"n":%d}' % number for number in range(count)]


def defined(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, 2.1, word by word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\1" + defined(leaves[:k]) + defined(leaves[k:])).digest()


def test_roots_are_those_of_the_definition_and_of_pymerkle() -> None:
    tree, frontier = pymerkle.InmemoryTree("sha256"), Frontier()
    leaves: list[bytes] = []
    assert frontier.root() == defined([]) == tree.get_root()
    for line in lines(130):
        tree.append_entry(line)
        leaves.append(leaf_hash(line))
        frontier.push(leaves[-1])
        assert frontier.root() == defined(leaves) == tree.get_root() == root_of(leaves)
        assert Frontier(frontier.size, frontier.peaks).root() == frontier.root()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 33])
def test_inclusion_proofs_are_pymerkles(size: int) -> None:
    tree = pymerkle.InmemoryTree("sha256")
    leaves = [leaf_hash(line) for line in lines(size)]
    for line in lines(size):
        tree.append_entry(line)
    for at in range(size):
        path = inclusion_proof(at, leaves)
        theirs = tree.prove_inclusion(at + 1, size)
        steps = [bytes.fromhex(step) for step in theirs.serialize()["path"]]
        assert steps in ([leaves[at], *path], path)
        pymerkle.verify_inclusion(leaves[at], tree.get_root(), theirs)
    with pytest.raises(ValueError, match="has no leaf"):
        inclusion_proof(size, leaves)


def test_consistency_proofs_hold_and_no_others() -> None:
    leaves = [leaf_hash(line) for line in lines(20)]
    roots = [root_of(leaves[:size]) for size in range(21)]
    for new in range(1, 21):
        for old in range(1, new + 1):
            path = consistency_proof(old, leaves[:new])
            assert consistent(old, new, roots[old], roots[new], path)
            assert not consistent(old, new, roots[old - 1], roots[new], path)
            assert not consistent(old, new, roots[old], roots[new - 1], path)
            assert not consistent(old, new, roots[old], roots[new], [*path, roots[1]])
            if path:
                assert not consistent(old, new, roots[old], roots[new], path[:-1])
                assert not consistent(old, new, roots[old], roots[new], [roots[0], *path[1:]])
    for old in (0, 21):
        with pytest.raises(ValueError, match="does not grow"):
            consistency_proof(old, leaves)


def test_a_frontier_has_as_many_peaks_as_its_size_has_ones() -> None:
    with pytest.raises(ValueError, match="2 complete subtrees"):
        Frontier(3, [b"\0" * 32])
