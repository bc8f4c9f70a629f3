"""A policy and its tests, as two files beside each other, read as `vigil test` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.testing.read import Suite, read_tests

if TYPE_CHECKING:
    from pathlib import Path


def under_test(folder: Path, policy: str, tests: str, **others: str) -> Suite:
    """The tests of `p_test.vgl`, which are for `p.vgl`; `others` are modules beside them."""
    for name, text in others.items():
        (folder / f"{name}.vgl").write_text(text, encoding="utf-8")
    (folder / "p.vgl").write_text(policy, encoding="utf-8")
    (folder / "p_test.vgl").write_text(tests, encoding="utf-8")
    found = read_tests(str(folder / "p_test.vgl"))
    assert not found.findings, found.findings
    return found
