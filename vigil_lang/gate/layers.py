"""The policies of the layers, compiled once: what the kernel decides by, and the statements that runs are judged by."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from vigil_lang.base.files import read_source
from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.gate.decide import Broken, Layer, Rule, Table
from vigil_lang.gate.state import StateError
from vigil_lang.semantics.core import Requirement
from vigil_lang.semantics.modules import Access, is_shipped
from vigil_lang.semantics.policy import Policy, load_policy, read_policy
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vigil_lang import enforce
    from vigil_lang.diagnostics import Span
    from vigil_lang.gate.settings import Layers
    from vigil_lang.semantics.gate_rules import GateRule

DEFAULT = ("gate", "default.vgl")
"""Where the layer that ships with Vigil stands in the standard library."""

_ENCODER = msgspec.json.Encoder(order="deterministic")


_Params: TypeAlias = dict[str, str | int | float | bool | list[str]]


class _Text(msgspec.Struct, frozen=True):
    """A policy as it was read, with the texts of the modules that it uses, by path, and the params it was given."""

    layer: Layer
    path: str
    text: str
    params: _Params
    modules: dict[str, str]


class _Demand(msgspec.Struct, frozen=True):
    """A statement: its meaning, and what it asks for where it is violated."""

    layer: Layer
    name: str
    asks: str
    at: str
    requirement: Requirement


class Bundle(msgspec.Struct, frozen=True):
    """All that decisions rest on beside their inputs, as plain data: what is kept beside the log under its digest."""

    vigil: str
    rules: tuple[Rule, ...]
    statements: tuple[_Demand, ...]
    implied: dict[str, tuple[str, ...]]
    texts: tuple[_Text, ...]

    def table(self) -> Table:
        """The rules, compiled for the kernel."""
        return Table(self.rules, {name: frozenset(kinds) for name, kinds in self.implied.items()})


def table_of(bundle: bytes) -> Table:
    """The rules of a stored bundle.

    Raises:
        ValueError: it is none.
    """
    return msgspec.json.decode(bundle, type=Bundle).table()


def policies_of(bundle: bytes) -> LayeredPolicies:
    """The policies of a stored bundle, read again from their texts.

    Raises:
        ValueError: it is none, or its texts mean something else to this version than to the one that wrote them.
    """
    found = msgspec.json.decode(bundle, type=Bundle)
    try:
        again = layered([(each.layer, _from_text(each)) for each in found.texts])
    except StateError as error:
        raise ValueError(str(error)) from error
    if msgspec.structs.replace(found, vigil=__version__) != msgspec.json.decode(again.bundle, type=Bundle):
        raise ValueError(f"Vigil {found.vigil} wrote it, and Vigil {__version__} reads something else in its texts")
    return again


@dataclass(frozen=True, slots=True)
class LayeredPolicies:
    """The rules and statements in force. `bundle` is their stored form, `digest` its SHA-256 in hexadecimal."""

    table: Table
    monitor: PolicyMonitor
    bundle: bytes
    digest: str
    policies: tuple[tuple[Layer, Policy], ...]
    _layer_of: dict[str, Layer]
    """By the path of a policy."""

    def broken(self, found: enforce.run.Broken, events: frozenset[str]) -> Broken:
        """A statement that is violated as the kernel takes it; `events` are the ids of the action's own events."""
        statement, offence = found.statement, found.offence
        at = place(statement.source, statement.span)
        event = offence.event if offence.event in events else None
        layer = self._layer_of[found.policy]
        delegable = statement.metadata.delegable
        return Broken(statement.name, layer, found.reaction, offence.message, at, event, delegable)


WORKSPACE = "workspace"
"""The param of the default layer that says where files may be changed unasked."""


def load_layers(layers: Layers, params: Mapping[str, object], workspace: str | None = None) -> LayeredPolicies:
    """The policies that the settings name. The default layer is told the `workspace`, unless `params` say another.

    Raises:
        StateError: one cannot be read or has findings that keep something in it from having a meaning; two statements
            or rules of a layer have one name; a param is given that no policy declares.
    """
    named: list[tuple[Layer, str]] = [("organisation", path) for path in layers.organisation]
    if layers.default:
        named.append(("default", str(resource("stdlib", *DEFAULT))))
    named += [("personal", path) for path in layers.personal]
    policies: list[tuple[Layer, Policy]] = []
    own: dict[str, object] = {} if workspace is None else {WORKSPACE: _below(workspace)}
    for layer, path in named:
        policies.append((layer, _loaded(path, {**own, **params} if layer == "default" else params)))
    declared = frozenset(name for _, policy in policies for name in policy.declared)
    if unknown := sorted(set(params) - declared):
        raise StateError(f"no policy declares the param `{unknown[0]}`")
    return layered(policies)


def layered(policies: list[tuple[Layer, Policy]]) -> LayeredPolicies:
    """Policies by layer, compiled.

    Raises:
        StateError: two statements or rules of a layer have one name.
    """
    seen: set[tuple[Layer, str]] = set()
    rules: list[Rule] = []
    demands: list[_Demand] = []
    layer_of: dict[str, Layer] = {}
    for layer, policy in policies:
        if layer_of.setdefault(policy.path, layer) != layer:
            raise StateError(f"{policy.path} is in two layers")
        for name in [*(rule.name for rule in policy.rules), *(one.name for one in policy.statements)]:
            if (layer, name) in seen:
                raise StateError(f"two statements or rules of the layer {layer} are named `{name}`")
            seen.add((layer, name))
        rules += [_rule(layer, each) for each in policy.rules]
        for one in policy.statements:
            at = place(one.source, one.span)
            demands.append(_Demand(layer, one.name, one.metadata.on_violation, at, one.requirement))
    implied = {name: kind.implies for name, kind in sorted(vocabulary().kinds.items()) if kind.implies}
    texts = tuple(_text(layer, policy) for layer, policy in policies)
    bundle = Bundle(__version__, tuple(rules), tuple(demands), implied, texts)
    stored = _ENCODER.encode(bundle)
    monitor = PolicyMonitor([policy for _, policy in policies])
    digest = hashlib.sha256(stored).hexdigest()
    return LayeredPolicies(bundle.table(), monitor, stored, digest, tuple(policies), layer_of)


def _below(folder: str) -> list[str]:
    """A folder and all that is in it, as globs."""
    written = re.sub(r"([*?\\])", r"\\\1", folder.rstrip("/"))
    return [written, f"{written}/*"]


def place(source: Source, span: Span) -> str:
    """`FILE:LINE:COLUMN` of a span."""
    line, column = source.position(span.start)
    return f"{source.path}:{line}:{column}"


def _text(layer: Layer, policy: Policy) -> _Text:
    modules: dict[str, str] = {}
    waiting = [policy.module]
    while waiting:
        for _, used in waiting.pop().uses:
            path = used.source.path
            if path not in modules and not is_shipped(path):
                modules[path] = used.source.text
                waiting.append(used)
    given: _Params = {name: policy.params[name] for name in sorted(policy.params)}  # type: ignore[misc]
    return _Text(layer, policy.path, policy.module.source.text, given, modules)


def _from_text(found: _Text) -> Policy:
    """A policy from its text, with nothing read from disk but what ships with Vigil."""

    def read(path: str, _: int) -> Source:
        return Source(path, found.modules[path]) if path in found.modules else read_source(path)

    def exists(path: Path) -> bool:
        return str(path) in found.modules or (is_shipped(str(path)) and path.is_file())

    source = Source(found.path, found.text)
    return read_policy(source, found.params, access=Access(read=read, is_file=exists))


def _loaded(path: str, params: Mapping[str, object]) -> Policy:
    try:
        policy = load_policy(path)
        return load_policy(path, own) if (own := {n: v for n, v in params.items() if n in policy.declared}) else policy
    except InputError as error:
        first = error.diagnostics[0]
        raise StateError(f"the policy {place(first.source, first.span)} has no meaning: {first.message}") from error


def _rule(layer: Layer, rule: GateRule) -> Rule:
    said = rule.metadata.message or (rule.metadata.doc or "").strip().split("\n\n")[0].replace("\n", " ")
    message = said or f"the rule `{rule.name}` asks for it"
    at = place(rule.source, rule.span)
    return Rule(rule.name, layer, rule.then, rule.condition, message, at, rule.record, rule.relaxes, rule.delegable)
