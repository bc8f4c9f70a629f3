"""What is asked for where a half-written item ends: from the parts that the parser has read of it so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.syntax import tree
from vigil_lsp.completing.clause_slots import clause_slot
from vigil_lsp.completing.constraints import allowed, tested, written
from vigil_lsp.completing.slot import Role, Slot
from vigil_lsp.completing.unfinished_item import first, innermost, is_list, names_of, nodes_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.base.node import Node
    from vigil_lang.semantics.modules import Module
    from vigil_lang.syntax.following import Part
    from vigil_lsp.completing.constraints import Names

_HEADS = frozenset({"POLICY", "USE", "LET", "PARAM", "PATTERN", "STATEMENT", "RULE", "TEST"})
_OTHER_EVENT = frozenset({"EARLIER", "LATER", "ALWAYS", "AFTER", "SINCE", "UNTIL"})
_CALLED = frozenset({"NAME", "STRING"})
_ORDER = frozenset({"LT", "LE", "GT", "GE"})


def slot_of(parts: Sequence[Part], accepted: frozenset[str], module: Module) -> Slot:
    """The slot behind some parts. `module` tells which names are patterns and sets."""
    head = next((at for at, part in enumerate(parts) if part.symbol in _HEADS), None)
    if head is None:
        return _annotation(parts)
    rest = parts[head + 1 :]
    last = rest[-1].symbol if rest else ""
    match parts[head].symbol:
        case "USE":
            if not rest:
                return Slot("module")
            names = frozenset(name for part in rest[2:] for name in names_of(part.value))
            return Slot("imported", text_of(rest[0]), used=names) if last in ("COLON", "COMMA") else Slot("none")
        case "TEST":
            return clause_slot(rest)
        case "PARAM" if last == "COLON":
            return Slot("type")
        case "LET" if first(rest, "EQ") is not None:
            return _value(rest, "")
        case "PARAM" if first(rest, "EQ") is not None:
            return _value(rest, text_of(rest[2]))
        case "PATTERN" if (equals := first(rest, "EQ")) is not None:
            return _Conditions(rest[equals + 1 :], module, accepted).slot()
        case "STATEMENT" if len(rest) > 1:
            found = Slot("form") if len(rest) == 2 else _Conditions(rest[2:], module, accepted).slot()
            return replace(found, within="statement")
        case "RULE" if len(rest) > 1:
            return _rule(rest[2:], module, accepted)
    return Slot("declared" if not rest else "none")


def _annotation(parts: Sequence[Part]) -> Slot:
    """Before an item: in one of its annotations, or where the item begins."""
    at = next((at for at in range(len(parts) - 1, -1, -1) if parts[at].symbol == "AT"), None)
    rest = parts[at + 1 :] if at is not None else ()
    match [part.symbol for part in rest]:
        case []:
            return Slot("item") if at is None else Slot("annotation")
        case ["NAME", "LPAR", *inner] if "RPAR" not in inner:
            if inner and inner[-1] != "COMMA":
                return Slot("none")
            terms = [part for part in rest[2:] if part.symbol != "COMMA"]
            said = [term for part in terms for term in nodes_of(part.value)]
            written = next((term.raw for term in said if isinstance(term, tree.String)), "")
            return Slot("annotation value", text_of(rest[0]), used=frozenset({written}), index=len(said))
    return Slot("item")


def _rule(rest: Sequence[Part], module: Module, accepted: frozenset[str]) -> Slot:
    """Behind the colon of a rule: in its condition, or in a clause after that."""
    then = first(rest, "THEN")
    if then is None:
        found = _Conditions(rest[1:], module, accepted).slot() if rest else Slot("none")
        return replace(found, within="rule")
    at = next(at for at in range(len(rest) - 1, -1, -1) if rest[at].symbol in ("THEN", "RECORD", "RELAXES"))
    listed = frozenset(name for part in rest[at + 1 :] for name in _named(part.value))
    condition = next((node for part in rest[1:then] for node in nodes_of(part.value)), None)
    actions = None if condition is None else allowed(condition, module)
    if rest[at].symbol == "THEN" or not {"NAME", "STRING"} & accepted:
        return Slot("none", within="rule")
    return Slot("recorded" if rest[at].symbol == "RECORD" else "relaxed", "", actions, listed, within="rule")


def _named(value: object) -> Iterator[str]:
    """The names and texts in it."""
    yield from names_of(value)
    yield from (written(node) for node in nodes_of(value))


def _value(rest: Sequence[Part], wanted: str) -> Slot:
    """After `let A =` or `param p: set =`, the type that is wanted being known for the latter."""
    last = rest[-1].symbol
    if last == "EQ":
        return Slot("value", wanted)
    if last == "VBAR":
        return Slot("set")
    opening = innermost(rest)
    if opening is None or last not in ("LBRACE", "COMMA"):
        return Slot("none")
    listed = frozenset(written(node) for part in rest[opening:] for node in nodes_of(part.value))
    return Slot("member", text_of(rest[0]), used=listed)


class _Conditions:
    """The place behind the parts of a condition, a form or a temporal body."""

    def __init__(self, parts: Sequence[Part], module: Module, accepted: frozenset[str]) -> None:
        self.parts = parts
        self.module = module
        self.accepted = accepted
        self.temporal = any(part.symbol == "ALWAYS" for part in parts)

    def slot(self) -> Slot:
        """What is asked for."""
        parts = self.parts
        symbols = [part.symbol for part in parts]
        opening = innermost(parts)
        if opening is not None and symbols[opening] == "LBRACE":
            if symbols[-1] not in ("LBRACE", "COMMA"):
                return Slot("none")
            listed = frozenset(written(node) for part in parts[opening:] for node in nodes_of(part.value))
            return replace(self._about(self._tested_by_set(opening), "element"), used=listed)
        match symbols:
            case [*_, "VBAR"]:
                return self._about(self._tested_by_set(len(parts)), "set")
            case [*_, "COLON"]:
                return Slot("view")
            case [*_, "INSIDE"]:
                return Slot("window")
            case [*_, "BUDGET", "LSQB"]:
                return Slot("limit")
            case [*_, "LSQB"]:
                return Slot("bound", temporal=self.temporal)
            case [*_, "ACTION", "IN"]:
                return Slot("set", about_action=True)
            case [*_, "ACTION", "EQ"]:
                return Slot("action")
            case [*_, "ACTION", "MATCH"]:
                return Slot("action glob")
            case [*_, "VIOLATES"] if "NAME" in self.accepted:
                return Slot("violated")
            case [*_, "STATUS", "EQ"]:
                return Slot("status")
            case [*_, "HAS"]:
                return Slot("variable") if "WHERE" in symbols else self._said("field", opening)
            case [*_, "field", "IN" | "NOT_IN"] | [*_, "field", "NOT", "IN"]:
                return self._about(self._tested_by_set(len(parts)), "set")
            case [*_, "field", "EQ" | "NE"]:
                return self._about(parts[-2], "operand", symbols[-1])
            case [*_, "field", "MATCH" | "NOT_MATCH"]:
                return self._about(parts[-2], "glob", symbols[-1])
            case [*_, "field", operator] if operator in _ORDER:
                return self._about(parts[-2], "number", operator)
            case [*_, "field", "CONTAINS"]:
                return self._about(parts[-2], "contained")
        if "HAS" not in self.accepted:
            if opening is not None and {"NAME", "OUTPUT"} <= self.accepted:
                return Slot("field", actions=self._counted(opening))
            return Slot("operator", temporal=self.temporal, without_events=self._without_events())
        if "WHERE" in symbols:
            return Slot("variable")
        called = None if opening is None else self._called(opening)
        begins = symbols[-1:] in (["LPAR"], ["COMMA"])
        if opening is not None and called is not None and begins and self._is_pattern(called):
            said = [term for part in parts[opening + 1 :] for term in nodes_of(part.value)]
            return Slot("term", written(called), index=len(said), temporal=self.temporal)
        return self._said("condition", opening)

    def _without_events(self) -> bool:
        """Whether the place is in `where` or among the tests of an entry."""
        opening = innermost(self.parts)
        while opening is not None and (opening == 0 or self.parts[opening - 1].symbol != "WITH"):
            opening = innermost(self.parts[:opening])
        return opening is not None or any(part.symbol == "WHERE" for part in self.parts)

    def _said(self, role: Role, opening: int | None) -> Slot:
        """A place for a condition, or the field of one."""
        called = None if opening is None else self._called(opening)
        inside = () if opening is None or called is None else self.parts[opening + 1 :]
        used = frozenset(name for part in inside for node in nodes_of(part.value) for name in tested(node))
        return Slot(role, written(called), self._actions(len(self.parts)), used, temporal=self.temporal)

    def _about(self, subject: Part | None, role: Role, operator: str = "") -> Slot:
        """A place for what a field is compared with."""
        if subject is None:
            return Slot("none")
        if subject.symbol == "ACTION":
            return Slot(role, about_action=True)
        field = subject.value
        if not isinstance(field, tree.Field):
            return Slot("none")
        # The values of a view, and of a variable, are no values that were seen of an argument.
        plain = field.kind == "argument" and not field.views and all(p.symbol != "WHERE" for p in self.parts)
        name = field.name if plain else ""
        actions = self._actions(self.parts.index(subject))
        return Slot(role, name, actions, used=frozenset({operator}), temporal=self.temporal)

    def _tested_by_set(self, end: int) -> Part | None:
        """What stands before `in` and the parts of a set."""
        at = end - 1
        while at >= 0 and (self.parts[at].symbol in ("VBAR", "set", "set_part") or is_list(self.parts[at])):
            at -= 1
        if at < 0 or self.parts[at].symbol not in ("IN", "NOT_IN"):
            return None
        at -= 1
        if at >= 0 and self.parts[at].symbol == "NOT":
            at -= 1
        return self.parts[at] if at >= 0 else None

    def _counted(self, opening: int) -> Names:
        """The names of events that a count or a budget is about."""
        nodes = [node for part in self.parts[opening + 1 :] for node in nodes_of(part.value)]
        return allowed(nodes[0], self.module) if nodes else None

    def _called(self, opening: int) -> tree.Name | tree.String | None:
        """The name before a parenthesis, where that is not a form's or one around a condition."""
        if opening == 0 or self.parts[opening - 1].symbol not in _CALLED or self.parts[opening].symbol != "LPAR":
            return None
        token = self.parts[opening - 1].value
        return tree.Name(token.text) if token.type == "NAME" else tree.String(token.text[1:-1])

    def _is_pattern(self, called: tree.Name | tree.String) -> bool:
        found = self.module.find(called.text) if isinstance(called, tree.Name) else None
        return found is not None and isinstance(found[1], tree.Pattern)

    def _actions(self, end: int) -> Names:
        """The names an event can have by what is joined to the place with `and`, or called around it."""
        while True:
            opening = innermost(self.parts[:end])
            called = None if opening is None else self._called(opening)
            beside = self._beside(opening, end, in_call=called is not None)
            known = [found for node in beside if (found := allowed(node, self.module)) is not None]
            if called is not None:
                return allowed(tree.Apply(called, ()), self.module)
            if known:
                return min(known, key=len)
            if opening is None or opening == 0 or self.parts[opening - 1].symbol in _FORMS:
                return None
            end = opening

    def _beside(self, opening: int | None, end: int, *, in_call: bool) -> Iterator[Node]:
        """The conditions on the same level that hold of the same event."""
        passing = False
        for part in reversed(self.parts[0 if opening is None else opening + 1 : end]):
            if part.symbol == "COMMA":
                if not in_call:
                    return
                passing = False
            elif part.symbol in _OTHER_EVENT:
                return
            elif part.symbol in ("OR", "IMPLIES"):  # the side before `implies` holds of it
                passing = part.symbol == "OR"
            elif not passing:
                yield from nodes_of(part.value)


_FORMS = frozenset({"FORM1", "FORM2", "UNTIL", "BRESP", "ATMOST", "ATLEAST", "BUDGET", "REPEATED", "bound", "RSQB"})
