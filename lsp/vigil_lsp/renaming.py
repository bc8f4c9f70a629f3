"""Giving something another name wherever it is named, and nothing another meaning."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from msgspec.structs import replace
from msgspec.structs import replace as with_fields

from vigil_lang.base.files import real_path
from vigil_lang.base.node import Plain
from vigil_lang.diagnostics import Diagnostic, Edit, Source, Span
from vigil_lang.diagnostics.diagnostic import apply_edits
from vigil_lang.semantics import core
from vigil_lang.semantics.context_fields import VIOLATES
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.metadata import PLACEHOLDER
from vigil_lang.semantics.modules import MAX_BYTES, is_shipped
from vigil_lang.semantics.policy import load_module
from vigil_lang.syntax import tree
from vigil_lang.syntax.scan import TokenList
from vigil_lsp.cursor import path_at, token_at
from vigil_lsp.names import Names
from vigil_lsp.reading import Reading
from vigil_lsp.symbols import Mention, Symbol, path_of
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Access, Module
    from vigil_lang.semantics.policy import Policy

_Part = TypeVar("_Part")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
RESERVED = frozenset({
    *FORMS, "policy", "use", "let", "param", "pattern", "statement", "rule", "test", "after", "always", "earlier",
    "later", "not", "and", "or", "implies", "in", "has", "contains", "action", "status", "output", "true", "false",
    "where", "since", "repeated",
})  # fmt: skip
"""Words that nothing should be called, whether or not the grammar could tell them apart everywhere."""


class Refused(Exception):
    """Something cannot be called that, or is not the user's to name; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be renamed: where its name stands at the cursor, and every place that has to change, by path."""

    symbol: Symbol
    span: Span
    name: str
    places: tuple[tuple[Source, Span], ...]


def target(names: Names, reading: Reading, offset: int) -> Target:
    """What would be renamed at an offset.

    Raises:
        Refused: nothing, or nothing that can be.
    """
    found = names.at(reading.source.path, offset)
    if not found:
        raise Refused(_nothing(reading, offset))
    mention = found[0]
    symbol, same = mention.symbol, names.same(mention.symbol)
    if any(other.symbol not in same for other in found if other.span == mention.span):
        raise Refused(f"`{symbol.name}` names several things here: rename one where it is declared")
    if any(is_shipped(one.path) for one in same):
        raise Refused(f"`{symbol.name}` belongs to the standard library")
    if symbol.kind == "module" and (mention.role == "import" or not _names_itself(names, symbol)):
        raise Refused("a module is called like its file: rename the file")
    if symbol.kind == "param" and symbol.name in reading.policy.params:
        raise Refused(f"the configuration gives `{symbol.name}` its value by this name")
    places = []
    name = reading.source.text[mention.span.start : mention.span.end]
    for module, other in names.everywhere():
        if other.symbol in same and not (symbol.kind == "module" and other.role == "import"):
            places.append((module.source, other.span))
            _refuse_odd(names, module, other, name, same)
    return Target(symbol, mention.span, name, tuple(dict.fromkeys(places)))


def _names_itself(names: Names, symbol: Symbol) -> bool:
    """Whether a module has a `policy` line."""
    module = names.module(symbol.path)
    return module is not None and module.file.name is not None


def _refuse_odd(names: Names, module: Module, mention: Mention, name: str, same: frozenset[Symbol]) -> None:
    """Places that name it in another way, or name something else as well."""
    if module.source.text[mention.span.start : mention.span.end] != name:
        if mention.symbol.kind == "event":
            raise Refused(f"the event has no name of its own: write one before it, as in `first: {name}(…)`")
        raise Refused(f"`{name}` is called otherwise in {_place(module.source, mention.span)}")
    others = [m for m in names.mentions(module) if m.span == mention.span and m.symbol not in same]
    if others:
        raise Refused(f"`{name}` names several things in {_place(module.source, mention.span)}")


def _nothing(reading: Reading, offset: int) -> str:
    token = token_at(reading.tokens, offset)
    if token is None or token.kind != "word":
        return "there is no name here"
    path = path_at(reading.file, offset)
    match path[-1:]:
        case [tree.Field()]:
            return f"`{token.text}` is an argument of recorded calls: it is called as they call it"
        case [tree.Name(), *_] if any(isinstance(node, tree.Apply | tree.ActionIs | tree.ActionIn) for node in path):
            return f"`{token.text}` is the name of an action, or of a kind of actions: it is called as the runs call it"
    return f"`{token.text}` is nothing that a policy names"


def rename(names: Names, reading: Reading, offset: int, new: str, access: Access) -> dict[str, list[Edit]]:
    """The edits, by the path of their source, that give what is named at an offset another name.

    Raises:
        Refused: it cannot be renamed, the name is none, or with it something would mean something else.
    """
    found = target(names, reading, offset)
    if not _NAME.fullmatch(new):
        raise Refused(
            "a name is letters, digits and `_`, with single `.` or `-` inside, and does not begin with a digit"
        )
    if new in RESERVED:
        raise Refused(f"`{new}` is a word of the language")
    if new == found.name:
        return {}
    _refuse_taken(names, found, new)
    edits: dict[str, list[Edit]] = {}
    for source, span in found.places:
        edits.setdefault(source.path, []).append(Edit(span, new))
    _Check(names, found, new, edits, access).run()
    return edits


def _refuse_taken(names: Names, found: Target, new: str) -> None:
    """Names that are declared already where the old one can be used; whatever else is wrong comes out afterwards."""
    symbol, same = found.symbol, names.same(found.symbol)
    if symbol.kind in ("pattern", "let", "param"):
        for module in names.modules:
            own = path_of(module) == symbol.path
            visible = own or any(path_of(m) == symbol.path for _, m in module.uses)
            other = module.find(new) if visible else None
            if other is not None and (own or found.name in module.imported):
                how = "declared" if new in module.own else "imported"
                raise Refused(f"`{new}` is {how} already in {Path(module.source.path).name}")
    elif symbol.kind != "module":
        judged = symbol.kind in ("statement", "rule")  # of one file, no two have the same name
        for module, mention in names.everywhere():
            named = mention.symbol
            near = named.path == symbol.path if judged else named.home in {one.home for one in same}
            alike = named.kind in ("statement", "rule") if judged else named.kind == symbol.kind
            if alike and named.name == new and near:
                raise Refused(f"there is already {_a(named.kind)} `{new}`, in {_place(module.source, mention.span)}")


class _Check:
    """Everything is read again with the edits made: it must mean what it meant."""

    def __init__(self, names: Names, found: Target, new: str, edits: dict[str, list[Edit]], access: Access) -> None:
        self.names, self.found, self.new, self.access = names, found, new, access
        self.same = names.same(found.symbol)
        self.edits = {real_path(path): some for path, some in edits.items()}
        self.texts: dict[str, Source] = {}
        for source, _ in found.places:
            self.texts[real_path(source.path)] = Source(source.path, apply_edits(source.text, edits[source.path]))

    def run(self) -> None:
        access = replace(self.access, read=self._read)
        after: list[Reading] = []
        for reading in self.names.readings:
            if self._touches(reading):
                source = self.texts.get(path_of(reading.module), reading.source)
                loaded = load_module(source, access=access)
                reading = Reading(reading.uri, Text(source.text), loaded, TokenList.of([]), reading.params)
            after.append(reading)
        renamed = Names(after)
        for module in renamed.modules:
            before = self.names.module(module.source.path)
            if before is not None:
                self._compare_mentions(before, module, renamed)
        for one, other in zip(self.names.readings, after, strict=True):
            if one is not other:
                self._compare(one.policy, other.policy)

    def _read(self, path: str, limit: int = MAX_BYTES) -> Source:
        return self.texts.get(real_path(path)) or self.access.read(path, limit)

    def _touches(self, reading: Reading) -> bool:
        return any(path_of(module) in self.texts for module in reading.modules())

    # --- what names refer to ---

    def _compare_mentions(self, before: Module, after: Module, renamed: Names) -> None:
        path = path_of(before)
        expected = {self._moved(mention, path) for mention in self.names.mentions(before)}
        actual = set(renamed.mentions(after))
        for mention in sorted(actual - expected, key=lambda m: m.span):
            place = _place(after.source, mention.span)
            raise Refused(f"`{after.source.text[slice(*mention.span)]}` in {place} would mean something else")
        if missing := sorted(expected - actual, key=lambda m: m.span):
            raise Refused(f"`{self.new}` in {_place(after.source, missing[0].span)} would no longer mean it")

    def _moved(self, mention: Mention, path: str) -> Mention:
        edits = self.edits.get(path, ())
        grown = [edit.span.end for edit in edits]
        by = len(self.new) - len(self.found.name)
        start = mention.span.start + by * sum(end <= mention.span.start for end in grown)
        end = mention.span.end + by * sum(end <= mention.span.end for end in grown)
        owner = None if mention.owner is None else self._called(mention.owner)
        return Mention(self._called(mention.symbol), Span(start, end), mention.role, owner)

    def _called(self, symbol: Symbol) -> Symbol:
        if symbol.kind != "module" and symbol in self.same:
            return symbol._replace(name=self.new)
        if symbol.home == self.found.symbol and symbol.within is not None:
            return symbol._replace(within=(symbol.within[0], self.new))
        return symbol

    # --- what statements mean ---

    def _compare(self, before: Policy, after: Policy) -> None:
        worse = _findings(after.diagnostics) - _findings(before.diagnostics)
        for finding in after.diagnostics:
            if (finding.code, real_path(finding.source.path)) in worse:
                raise Refused(f"with this name {finding.message} ({_place(finding.source, finding.span)})")
        old = [self._statement(statement, path_of(before.module)) for statement in before.statements]
        new = [_meaning(statement) for statement in after.statements]
        for one, other in zip(old, new, strict=False):
            if one != other:
                raise Refused(f"statement `{one[0]}` in {Path(before.path).name} would mean something else")
        if len(old) != len(new):
            raise Refused(f"a statement of {Path(before.path).name} would have no meaning")
        for rule, changed in zip(before.rules, after.rules, strict=False):
            if self._rule(rule, path_of(before.module)) != _asked(changed):
                raise Refused(f"rule `{rule.name}` in {Path(before.path).name} would mean something else")
        if len(before.rules) != len(after.rules):
            raise Refused(f"a rule of {Path(before.path).name} would have no meaning")

    def _statement(self, statement: Statement, path: str) -> tuple[object, ...]:
        """What a statement means, with the names that change changed."""
        symbol = self.found.symbol
        home = Symbol("statement", statement.name, path)
        if home in self.same:
            statement = replace(statement, name=self.new)
        elif symbol.kind == "param" and symbol.name in statement.params:
            statement = replace(statement, params=(statement.params - {symbol.name}) | {self.new})
        elif symbol.kind == "variable" and any(one.home == home for one in self.same):
            statement = _with_variable(statement, symbol.name, self.new)
        return _meaning(statement)

    def _rule(self, rule: GateRule, path: str) -> tuple[object, ...]:
        """What a rule means, with the names that change changed."""
        symbol = self.found.symbol
        if Symbol("rule", rule.name, path) in self.same:
            rule = replace(rule, name=self.new)
        if symbol.kind == "param" and symbol.name in rule.params:
            rule = replace(rule, params=(rule.params - {symbol.name}) | {self.new})
        if symbol.kind == "statement":
            rule = replace(rule, condition=core.mapped_tests(rule.condition, self._violated))
        return _asked(rule)

    def _violated(self, test: core.Test) -> core.Condition:
        """`violates` with the name that changes changed, its layer before it or not."""
        if not isinstance(test, core.In) or test.field.name != VIOLATES:
            return test
        old = self.found.symbol.name
        values = (f"{v.removesuffix(old)}{self.new}" if f".{v}".endswith(f".{old}") else v for v in test.values)
        return with_fields(test, values=frozenset(values))


def _asked(rule: GateRule) -> tuple[object, ...]:
    return rule.name, rule.then, rule.condition, rule.record, rule.relaxes, rule.metadata, rule.params


def _meaning(statement: Statement) -> tuple[object, ...]:
    return statement.name, statement.form, statement.requirement, statement.metadata, statement.params


def _findings(found: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, real_path(finding.source.path)) for finding in found)


def _renamed(part: _Part, old: str, new: str) -> _Part:
    """A body of the core with a variable called otherwise; the arguments of `where` are variables, too."""

    def test(given: core.Test) -> core.Condition:
        if isinstance(given, core.OF_VARIABLES) and given.variable == old:
            given = with_fields(given, variable=new)
        if isinstance(part, core.Where) and not isinstance(given, core.ActionIn | core.ActionMatches | core.StatusIs):
            field = given.field
            given = with_fields(given, field=with_fields(field, name=new)) if field.name == old else given
        return given

    match part:
        case core.Holds() | core.Where():
            return with_fields(part, condition=core.mapped_tests(part.condition, test))
        case tuple():
            return tuple([_renamed(one, old, new) for one in part])  # type: ignore[return-value]
        case Plain() if isinstance(part, get_args(core.Theta)):
            changed = {name: _renamed(getattr(part, name), old, new) for name in part.__struct_fields__}
            return with_fields(part, **changed)
        case _:
            return part


def _with_variable(statement: Statement, old: str, new: str) -> Statement:
    """A statement with a variable called otherwise."""
    requirement = statement.requirement
    theta = _renamed(requirement.theta, old, new)
    trigger = _renamed(requirement.trigger, old, new)
    message = statement.metadata.message
    if message is not None:
        message = PLACEHOLDER.sub(partial(_filled, old, new), message)
    return replace(
        statement,
        requirement=core.Requirement(theta, core.variables_of(theta), trigger),
        metadata=replace(statement.metadata, message=message),
    )


def _filled(old: str, new: str, found: re.Match[str]) -> str:
    return f"{{{new}}}" if found[1] == old else found[0]


def _place(source: Source, span: Span) -> str:
    return f"{Path(source.path).name}, line {source.position(span.start)[0]}"


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "event" else f"a {kind}"
