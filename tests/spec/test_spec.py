"""Every fenced block of spec.md is what it claims to be."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from spec_blocks import Block, blocks
from spec_runner import KINDS, run

SPEC = Path(__file__).parents[2] / "spec.md"
BLOCKS = blocks(SPEC)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_block(block: Block, tmp_path: Path) -> None:
    assert block.kind in KINDS, f"spec.md:{block.line}: no block is called `{block.kind}`"
    run(block, tmp_path)
