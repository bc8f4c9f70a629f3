"""The tables that ship are kept in a form that is read quickly, and say the same in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from vigil_lang.base import tables
from vigil_lang.base.resources import resource

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_kept_is_what_the_texts_say() -> None:
    kept = resource("stdlib", "tables.json")
    if os.environ.get("VIGIL_UPDATE"):
        kept.write_bytes(tables.kept_form())
    assert kept.read_bytes() == tables.kept_form(), "VIGIL_UPDATE=1 pytest tests/test_tables.py remakes it"
    for name in tables.KEPT:
        assert tables.table(name) == tables.parsed(resource("stdlib", *name.split("/")).read_bytes())


@pytest.mark.parametrize(
    "kept", [None, b"", b"[]", b"{}", b'{"t.toml": 1}', b'{"t.toml": {"sha256": "", "table": {}}}']
)
def test_a_text_that_was_changed_is_read_itself(
    kept: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.toml").write_text("a = 1")
    if kept is not None:
        (tmp_path / "tables.json").write_bytes(kept)
    monkeypatch.setattr(tables, "resource", lambda _, *parts: tmp_path.joinpath(*parts))
    assert tables.table("t.toml") == {"a": 1}
