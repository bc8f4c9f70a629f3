"""Whatever policy is being written, wherever it ends: what is offered there is what the parser takes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from lsp_completing import complete

from tests.strategies import trees
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import tree
from vigil_lang.syntax.following import following
from vigil_lang.syntax.parse import parse_with_tokens
from vigil_lang.syntax.print import to_text
from vigil_lang.syntax.scan import ITEM_WORDS, TEST, tokens
from vigil_lsp.completing.candidate import written
from vigil_lsp.completing.keywords import WORDS

# What the grammar takes and another check refuses, or an editor writes otherwise: literals as arguments, temporal
# operators outside `always`, conditions as terms of a pattern, `not` of `not in`, tests of an event in `where`,
# outcomes in the rules of a gate, and `violates` in statements.
_KEPT_BACK = {
    "variable": set(WORDS) - {"NOT"},
    "condition": {"TRUE", "FALSE"},
    "operator": {"NOT"},
    "field": {"VIOLATES"},
}
_TEMPORAL = {"EARLIER", "LATER", "IMPLIES", "REPEATED", "SINCE", "UNTIL", "WEAK"}
_DECLARED = "\nlet a = {b.c}\n\npattern ok(text) = number(text = text)\n"


@settings(deadline=None, max_examples=300)
@given(trees.items, st.data())
def test_what_is_offered_can_stand_there(item: tree.Item, data: st.DataObject) -> None:
    body = parse_with_tokens(Source("x.vgl", to_text(tree.File(Source("x.vgl", ""), items=(item,))))).bodies[0]
    at = data.draw(st.integers(1, len(body.tokens)))
    before = body.tokens[:at]
    text = " ".join(token.text for token in before) + " "
    found = complete(f"{_DECLARED if data.draw(st.booleans()) else ''}{text}«»")
    place, terminals = found.place, body.terminals
    assert [token.text for token in place.before] == [token.text for token in before]
    assert not place.beginning.mended
    terminal = terminals[at] if at < len(terminals) else "$END"
    assert terminal in place.accepted
    offered = {candidate.text for candidate in found.candidates}
    kept_back = _KEPT_BACK.get(found.slot.role, set()) | ({"AFTER"} if found.slot.temporal else _TEMPORAL)
    kept_back |= {"WITH"} if found.slot.without_events else set()
    kept_back |= {"rule": {"STATUS", "OUTPUT"}, "statement": {"VIOLATES"}, "": set()}[found.slot.within]
    if (
        terminal in WORDS
        and terminal not in kept_back
        and found.slot.role not in (*("declared", "term", "item", "annotation value", "value", "violated"),)
    ):
        assert offered >= {word for word, _, _ in WORDS[terminal]}
    for candidate in found.candidates:
        new = tokens(written(candidate, place))
        if place.fresh and new[0].text in (*ITEM_WORDS, TEST, "@"):
            continue  # they begin another item
        start = "header" if candidate.about[:2] == ("keyword", "POLICY") else "item"
        assert not following([*place.before, *new], start).mended, candidate
