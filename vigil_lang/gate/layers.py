"""The policies of the layers, compiled once: what the kernel decides by, and the statements that runs are judged by."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from vigil_lang.base.files import read_source
from vigil_lang.base.resources import resource
from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.gate.decide import Broken, Layer, Rule, Table
from vigil_lang.gate.guarding import Guarded
from vigil_lang.gate.state import StateError
from vigil_lang.semantics.core import Requirement
from vigil_lang.semantics.modules import Access, is_shipped
from vigil_lang.semantics.policy import Policy, load_policy, read_policy
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from vigil_lang import enforce
    from vigil_lang.diagnostics import Span
    from vigil_lang.gate.settings import Layers
    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.semantics.lower import Statement

DEFAULT = ("gate", "default.vgl")
"""Where the layer that ships with Vigil stands in the standard library."""

_ENCODER = msgspec.json.Encoder(order="deterministic")
_Named = TypeVar("_Named", "GateRule", "Statement")


_Params: TypeAlias = dict[str, str | int | float | bool | list[str]]

Origin: TypeAlias = Literal["settings", "registration", "workspace", "skill", "brought"]
"""Who brings a policy: the settings, for every run; or for one run its registration, its workspace, a skill that it
loaded, or its enforcement point on another machine, as a text. The last three may add rules, and lower none."""


class Member(NamedTuple):
    """A policy as it was read, in the layer that it counts for."""

    layer: Layer
    policy: Policy
    origin: Origin = "settings"


class Text(msgspec.Struct, frozen=True, omit_defaults=True):
    """A policy as it was read, with the texts of the modules that it uses, by path, and the params it was given."""

    layer: Layer
    path: str
    text: str
    params: _Params
    modules: dict[str, str]
    origin: Origin = "settings"


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
    texts: tuple[Text, ...]

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
    again = read_again(bundle)
    if msgspec.structs.replace(found, vigil=__version__) != msgspec.json.decode(again.bundle, type=Bundle):
        raise ValueError(f"Vigil {found.vigil} wrote it, and Vigil {__version__} reads something else in its texts")
    return again


def read_again(bundle: bytes) -> LayeredPolicies:
    """The policies of a stored bundle, as this version understands their texts.

    Raises:
        ValueError: it is none, or its texts have no meaning to this version.
    """
    try:
        found = msgspec.json.decode(bundle, type=Bundle)
        return layered([Member(each.layer, policy_of(each), each.origin) for each in found.texts])
    except (StateError, InputError) as error:
        raise ValueError(str(error)) from error


class LayeredPolicies(Frozen, frozen=True):
    """The rules and statements in force. `bundle` is their stored form, `digest` its SHA-256 in hexadecimal.

    `members` are the policies as they were read; `policies` are without what `remarks` tell of.
    """

    table: Table
    monitor: PolicyMonitor
    bundle: bytes
    digest: str
    policies: tuple[tuple[Layer, Policy], ...]
    members: tuple[Member, ...]
    texts: tuple[Text, ...]
    remarks: tuple[str, ...]
    guarded: Guarded | None
    """What is protected by the registration's policy, where it is in force."""
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
    members: list[Member] = []
    own: dict[str, object] = {} if workspace is None else {WORKSPACE: _below(workspace)}
    for layer, path in named:
        members.append(Member(layer, loaded(path, {**own, **params} if layer == "default" else params)))
    declared = frozenset(name for each in members for name in each.policy.declared)
    if unknown := sorted(set(params) - declared):
        raise StateError(f"no policy declares the param `{unknown[0]}`")
    return layered(members)


def layered(members: Sequence[Member]) -> LayeredPolicies:
    """Policies by layer, compiled.

    A rule of a workspace or a skill that passes or relaxes something is left out, and a remark tells of it. Where a
    policy of one run has a name that its layer has already, its own name is put before that.

    Raises:
        StateError: two statements or rules of a layer have one name; a policy is in two layers.
    """
    admission = _Admission()
    policies = tuple((each.layer, admission.admitted(each)) for each in members)
    rules = [_rule(layer, each) for layer, policy in policies for each in policy.rules]
    demands = [
        _Demand(layer, one.name, one.metadata.on_violation, place(one.source, one.span), one.requirement)
        for layer, policy in policies
        for one in policy.statements
    ]
    implied = {name: kind.implies for name, kind in sorted(vocabulary().kinds.items()) if kind.implies}
    texts = tuple(map(_text, members))
    bundle = Bundle(__version__, tuple(rules), tuple(demands), implied, texts)
    stored = _ENCODER.encode(bundle)
    return LayeredPolicies(
        bundle.table(),
        PolicyMonitor([policy for _, policy in policies]),
        stored,
        hashlib.sha256(stored).hexdigest(),
        policies,
        tuple(members),
        texts,
        tuple(admission.remarks),
        next(
            (_guarded(each) for each in members if each.origin == "registration" and each.layer == "organisation"), None
        ),
        admission.layer_of,
    )


def _guarded(registration: Member) -> Guarded:
    given: Mapping[str, Any] = registration.policy.params
    if not all(isinstance(given.get(name), list) for name in ("protected", "private")):
        raise StateError(f"the policy {registration.policy.path} was not told which paths it protects")
    return Guarded(given["protected"], given["private"])


class _Admission:
    """What counts of each policy beside those before it."""

    def __init__(self) -> None:
        self.layer_of: dict[str, Layer] = {}
        self.remarks: list[str] = []
        self._taken: set[tuple[Layer, str]] = set()

    def admitted(self, member: Member) -> Policy:
        """A policy without the rules that it may not have, under names that are its own."""
        layer, policy, origin = member
        if self.layer_of.setdefault(policy.path, layer) != layer:
            raise StateError(f"{policy.path} is in two layers")
        kept = policy.rules
        if origin in ("workspace", "skill", "brought"):
            kept = tuple(rule for rule in policy.rules if rule.then != "pass" and not rule.relaxes)
            self.remarks += [
                f"`{rule.name}` ({place(rule.source, rule.span)}) is left out: policies of a workspace lower no rule"
                for rule in policy.rules
                if rule not in kept
            ]
        rules = tuple(self._named(rule, member) for rule in kept)
        statements = tuple(self._named(one, member) for one in policy.statements)
        if rules == policy.rules and statements == policy.statements:
            return policy
        return replace(policy, rules=rules, statements=statements)

    def _named(self, one: _Named, member: Member) -> _Named:
        name = one.name
        if (member.layer, name) in self._taken and member.origin != "settings":
            name = f"{member.policy.name}.{name}"
        if (member.layer, name) in self._taken:
            raise StateError(f"two statements or rules of the layer {member.layer} are named `{name}`")
        self._taken.add((member.layer, name))
        return one if name == one.name else replace(one, name=name)


def _below(folder: str) -> list[str]:
    """A folder and all that is in it, as globs."""
    written = re.sub(r"([*?\\])", r"\\\1", folder.rstrip("/"))
    return [written, f"{written}/*"]


def place(source: Source, span: Span) -> str:
    """`FILE:LINE:COLUMN` of a span."""
    line, column = source.position(span.start)
    return f"{source.path}:{line}:{column}"


def _text(member: Member) -> Text:
    policy = member.policy
    given: _Params = {name: policy.params[name] for name in sorted(policy.params)}  # type: ignore[misc]
    return Text(member.layer, policy.path, policy.module.source.text, given, modules_of(policy), member.origin)


def modules_of(policy: Policy) -> dict[str, str]:
    """The texts of the modules that a policy uses, itself or through others, by path; none that ships with Vigil."""
    modules: dict[str, str] = {}
    waiting = [policy.module]
    while waiting:
        for _, used in waiting.pop().uses:
            path = used.source.path
            if path not in modules and not is_shipped(path):
                modules[path] = used.source.text
                waiting.append(used)
    return modules


def policy_of(found: Text) -> Policy:
    """A policy from its text, with nothing read from disk but what ships with Vigil.

    Raises:
        InputError: it cannot be read.
        ValueError: something in it has no meaning.
    """

    def read(path: str, _: int) -> Source:
        if path in found.modules:
            return Source(path, found.modules[path])
        if not is_shipped(path):
            raise ValueError(f"{found.path} uses {path}, which is not there")
        return read_source(path)

    def exists(path: Path) -> bool:
        return str(path) in found.modules or (is_shipped(str(path)) and path.is_file())

    source = Source(found.path, found.text)
    policy = read_policy(source, found.params, access=Access(read=read, is_file=exists))
    if policy.errors:
        first = policy.errors[0]
        raise ValueError(f"{place(first.source, first.span)} has no meaning: {first.message}")
    return policy


def loaded(path: str, params: Mapping[str, object]) -> Policy:
    """A policy, given those of some params that it declares.

    Raises:
        StateError: it cannot be read, or something in it has no meaning.
    """
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
