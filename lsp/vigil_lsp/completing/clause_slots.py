"""What is asked for in a test that is not finished: which clause, event or expectation the place belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.syntax import tree
from vigil_lsp.completing.constraints import tested, written
from vigil_lsp.completing.slot import Slot
from vigil_lsp.completing.unfinished_item import innermost, names_of, nodes_of, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.syntax.following import Part

_MARKS = frozenset({"SET", "RUN", "CALLS", "INSIDE", "EXPECT", "MOMENT", "WITH"})


def clause_slot(rest: Sequence[Part]) -> Slot:
    """The slot behind the parts of a test that follow its word."""
    opening = innermost(rest)
    if opening is None:
        return Slot("none")
    if opening == 1:
        return _in_test(rest[2:])
    if rest[opening].symbol == "LPAR":
        return _in_call(rest, opening)
    before = rest[opening - 1].symbol
    if before == "EQ" and opening > 2 and rest[opening - 3].symbol == "SET":
        return Slot("member" if rest[-1].symbol in ("LBRACE", "COMMA") else "none", text_of(rest[opening - 2]))
    if any(part.symbol == "LPAR" for part in _enclosing(rest, opening)):
        return _in_value(rest, opening)
    return _in_run(rest[opening + 1 :])


def _in_test(rest: Sequence[Part]) -> Slot:
    """Between the braces of a test, in no others."""
    at = next((at for at in range(len(rest) - 1, -1, -1) if rest[at].symbol in _MARKS), None)
    last = rest[-1].symbol if rest else ""
    if at is None or last in ("RBRACE", "VIOLATED", "SATISFIED", "VACUOUS", "ASKS"):
        return Slot("clause")
    listing = at == len(rest) - 1 or last == "COMMA"
    match rest[at].symbol:
        case "SET":
            if last == "EQ":
                return Slot("param value", text_of(rest[at + 1]))
            return Slot("setting") if listing else Slot("none" if last == "NAME" else "clause")
        case "RUN":
            return Slot("recording" if listing else "clause")
        case "EXPECT":
            names = frozenset(name for part in rest[at + 1 :] for name in names_of(part.value))
            return Slot("expected", used=names) if listing else Slot("verdict")
        case "MOMENT":
            said = frozenset(name for part in rest[at + 1 :] for name in names_of(part.value))
            return Slot("offender", used=said) if listing else Slot("clause")
        case "WITH":
            if last == "EQ":
                return Slot("binding value", text_of(rest[-2]))
            bound = frozenset(
                node.name.text for part in rest[at:] for node in nodes_of(part.value) if isinstance(node, tree.Binding)
            )
            return Slot("binding", used=bound) if listing else Slot("none" if last == "NAME" else "clause")
    return Slot("none")


def statements_of(rest: Sequence[Part]) -> frozenset[str]:
    """The statements that the expectation speaks of which a place belongs to."""
    at = next((at for at in range(len(rest) - 1, -1, -1) if rest[at].symbol == "EXPECT"), None)
    if at is None:
        return frozenset()
    named: list[str] = []
    for part in rest[at + 1 :]:
        if part.symbol not in ("NAME", "COMMA") and not part.symbol.startswith("__"):
            break
        named += names_of(part.value)
    return frozenset(named) - {","}


def _in_run(inner: Sequence[Part]) -> Slot:
    """Among the events of a run, `inner` being those parts behind the brace."""
    symbols = [part.symbol for part in inner]
    match symbols:
        case [*_, "RPAR", "COLON"] | [*_, "COMMA"]:
            return Slot("kind")
        case [*_, "ARROW"]:
            return Slot("verdict")
        case [*_, "MOMENT"]:
            return Slot("moment")
        case [*_, "RPAR", "COLON", "NAME" | "STRING"]:
            return Slot("event")
        case [*_, "NAME"]:
            return Slot("none")
    return Slot("event")


def _in_call(rest: Sequence[Part], opening: int) -> Slot:
    """Between the parentheses of an event."""
    named = rest[opening - 1].value
    action = written(tree.String(named.text[1:-1]) if named.type == "STRING" else tree.Name(named.text))
    inner = rest[opening + 1 :]
    if rest[-1].symbol == "EQ":
        return Slot("event value", _name(inner[-2]), frozenset({action}))
    if rest[-1].symbol in ("LPAR", "COMMA"):
        used = frozenset(name for part in inner for node in nodes_of(part.value) for name in tested(node))
        return Slot("event argument", action, frozenset({action}), used)
    return Slot("none")


def _in_value(rest: Sequence[Part], opening: int) -> Slot:
    """Between the braces of a list or an object."""
    if rest[-1].symbol not in ("LBRACE", "COMMA", "EQ"):
        return Slot("none")
    enclosing = _enclosing(rest, opening)
    call = next(part for part in enclosing if part.symbol == "LPAR")
    names = [_name(rest[at - 1]) for at in range(rest.index(call) + 1, len(rest)) if rest[at].symbol == "EQ"]
    named = rest[rest.index(call) - 1]
    return Slot("event value", ".".join(names), frozenset({text_of(named).strip('"')}))


def _enclosing(rest: Sequence[Part], opening: int) -> list[Part]:
    """The brackets around one, the innermost first."""
    found: list[Part] = []
    at: int | None = opening
    while at is not None:
        found.append(rest[at])
        at = innermost(rest[:at])
    return found


def _name(part: Part) -> str:
    value = part.value
    if isinstance(value, tree.Name | tree.String):
        return written(value)
    return text_of(part)
