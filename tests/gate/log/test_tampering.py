"""Whatever is done to a log is found, and called what it is. `make differential` tries ten thousand edits."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
import tampering

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tampering.Original:
    return tampering.Original(tmp_path_factory.mktemp("log"))


def test_a_log_that_nothing_was_done_to_is_in_order(original: tampering.Original) -> None:
    for given in (False, True):
        audit = original.audit(original.folder, given=given)
        assert audit.problems == ()
        assert (audit.entries, audit.signed_to) == (len(original.lines), original.sizes[-1])
        assert audit.derived["derived"] == len(original.rows)


@pytest.mark.parametrize("edit", dict.fromkeys(tampering.EDITS), ids=lambda edit: edit.__name__)
def test_each_kind_of_edit_is_found(original: tampering.Original, edit: object, tmp_path: Path) -> None:
    for seed in range(6):
        folder, rng = tmp_path / str(seed), Random(seed)
        done = tampering.apply(original, folder, rng, only=edit)
        assert tampering.check(original, done, original.audit(folder, given=done.given)) is None


@pytest.mark.slow
def test_random_edits_are_found_and_nothing_is_written(tmp_path: Path) -> None:
    assert tampering.run(200, 20261123, tmp_path) == []
