"""What clients say, read from JSON: strict where it matters, patient where it does not."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from vigil_lsp.converter import converter, readable_part

CONVERTER = converter()


@pytest.mark.parametrize("line", ["1", 1.5, True, None, -1, 2**40, [], {}])
def test_a_position_is_two_whole_numbers(line: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        CONVERTER.structure({"line": line, "character": 0}, types.Position)


def test_a_position_may_be_far_out() -> None:
    assert CONVERTER.structure({"line": 3, "character": 2**31 - 1}, types.Position) == types.Position(3, 2**31 - 1)


@pytest.mark.parametrize(
    ("capabilities", "kept"),
    [
        ({"textDocument": {"documentSymbol": {"symbolKind": {"valueSet": [1, 99]}}}},
         {"textDocument": {"documentSymbol": {"symbolKind": {"valueSet": [1]}}}}),
        ({"textDocument": {"hover": {"contentFormat": ["html", "markdown"]}}},
         {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}),
        ({"workspace": {"workspaceEdit": {"failureHandling": "foo", "documentChanges": True}}},
         {"workspace": {"workspaceEdit": {"documentChanges": True}}}),
        ({"textDocument": {"semanticTokens": {"dynamicRegistration": True}, "rename": {"prepareSupport": True}}},
         {"textDocument": {"rename": {"prepareSupport": True}}}),
        ({"textDocument": 3, "window": {"workDoneProgress": True}}, {"window": {"workDoneProgress": True}}),
    ],
)  # fmt: skip
def test_abilities_nobody_has_heard_of_are_passed_over(capabilities: Any, kept: Any) -> None:
    params = {"processId": 1, "rootUri": "file:///x", "capabilities": capabilities, "trace": "compact"}
    found = readable_part(params, CONVERTER)
    assert found == {"processId": 1, "rootUri": "file:///x", "capabilities": kept}
    CONVERTER.structure(found, types.InitializeParams)


def test_what_has_to_be_said_and_is_not_is_added() -> None:
    found = readable_part({"capabilities": {}}, CONVERTER)
    assert found == {"processId": None, "rootUri": None, "capabilities": {}}
    assert readable_part([1], CONVERTER) == [1]
