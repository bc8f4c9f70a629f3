"""A policy ready to be judged: its statements and rules lowered to the core, with what people said about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from vigil_lang.base.collector import collector_paused
from vigil_lang.base.files import read_source, real_path
from vigil_lang.base.structs import Frozen, Mutable
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.diagnostics.visible import as_argument
from vigil_lang.semantics.declarations import unused
from vigil_lang.semantics.gate_rules import GateRule, GateRules
from vigil_lang.semantics.lower import Lowering, Statement
from vigil_lang.semantics.meanings import Values
from vigil_lang.semantics.modules import (
    FROM_DISK,
    MAX_BYTES,
    Access,
    Loader,
    Module,
    is_standard,
    is_test_file,
    standard_path,
)
from vigil_lang.semantics.unbound_variables import check
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.memory import Memory, Recollection


class Policy(Frozen, frozen=True):
    """The statements and the gate's rules of one file that resolve, in order, and everything found on the way.

    `name` is the file's `policy` line, or the stem of its path; `params` the values it was given from outside.
    """

    _UNSHOWN: ClassVar[frozenset[str]] = frozenset({"module", "params"})

    path: str
    name: str
    statements: tuple[Statement, ...]
    module: Module
    diagnostics: tuple[Diagnostic, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    rules: tuple[GateRule, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep some statement or rule from having a meaning."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    @property
    def declared(self) -> frozenset[str]:
        """The names of all params that can be given, its own and those of the modules that it uses."""
        seen: list[Module] = []
        pending = [self.module]
        while pending:
            current = pending.pop()
            if current not in seen:
                seen.append(current)
                pending += [used for used, _, _ in current.imported.values()]
        return frozenset(name for module in seen for name, item in module.own.items() if isinstance(item, tree.Param))


class Loaded(Frozen, frozen=True):
    """A policy's module with those it uses, before its statements have a meaning; `findings` are of reading them."""

    module: Module
    findings: tuple[Diagnostic, ...] = ()


def load_module(source: Source, *, root: Path | None = None, access: Access = FROM_DISK, stored: bool = True) -> Loaded:
    """Parse a policy and find the modules it uses.

    `root` is the folder that `use .name` may not leave (the file's own by default), and `access` where modules come
    from. A text that is not `stored` in a file has no modules beside it.
    """
    found = _Found()
    loader = Loader(found.report, access)
    if stored and source.path != "<stdin>":
        file = Path(source.path)
        loader.enter(Path(real_path(file)))
        root = Path(real_path(root or file.parent))
    with collector_paused():
        module = loader.load(source, root)
    return Loaded(module, tuple(found.once.values()))


def lowered(loaded: Loaded, params: Mapping[str, object] | None = None, memory: Memory | None = None) -> Policy:
    """Give a policy's statements their meaning. `params` are values from outside for `param` declarations, by name.

    With a `memory` of the policy's last text only what changed is looked at; the result is the same.
    """
    found, module = _Found(), loaded.module
    recalled = None if memory is None else memory.begin(module, params or {})
    for finding in loaded.findings:
        found.report(finding)
    with collector_paused():
        lowering = Lowering(module, Values(params or {}), found.report, recalled)
        resolved = lowering.statements()
        rules = GateRules(module, lowering.conditions, found.report).rules()
        for finding in unused(
            lowering.conditions,
            module,
            _doubtful(module, found, {*(one.name for one in resolved), *(one.name for one in rules)}),
        ):
            found.report(finding)
        statements = [s for s in resolved if _is_bound(s, module, lowering, recalled)]
    if memory is not None and recalled is not None:
        if lowering.conditions.is_short:  # a limit may have been passed that what is known does not show
            return lowered(loaded, params)
        memory.keep(recalled, params or {})
    path = module.source.path
    name = module.file.name.text if module.file.name else Path(path).stem
    ordered = sorted(found.once.values(), key=lambda d: (d.source.path != path, d.source.path, d.span.start))
    return Policy(path, name, tuple(statements), module, tuple(ordered), params or {}, tuple(rules))


def _doubtful(module: Module, found: _Found, resolved: Set[str]) -> list[Span]:
    """Where a name may be meant without being found: items that do not parse, and those without a meaning."""
    wrong = [f.span for f in found.once.values() if f.source is module.source and f.severity == "error"]
    items = [
        item.span
        for item in module.file.items
        if (isinstance(item, tree.Statement | tree.Rule) and item.name.text not in resolved)
        or any(item.span.start <= span.start < item.span.end for span in wrong)
    ]
    return [*module.file.broken, *items]


def _is_bound(statement: Statement, module: Module, lowering: Lowering, recalled: Recollection | None) -> bool:
    """Whether all variables of a statement are bound, which is not looked at again where it is known."""
    if recalled is None:
        return check(statement, module, lowering.conditions, lowering.report)
    if recalled.has(statement):
        return True
    bound = check(statement, module, lowering.conditions, lowering.report)
    if not bound:
        recalled.forget(statement)
    return bound


def read_policy(
    source: Source,
    params: Mapping[str, object] | None = None,
    *,
    root: Path | None = None,
    access: Access = FROM_DISK,
    stored: bool = True,
) -> Policy:
    """Parse, resolve and lower a policy, as `load_module` and `lowered`; what is wrong is in its `diagnostics`."""
    return lowered(load_module(source, root=root, access=access, stored=stored), params)


class _Found(Mutable):
    """Findings, each once: a pattern is lowered for every use, and what is wrong inside it is said once."""

    once: dict[tuple[object, ...], Diagnostic] = field(default_factory=dict)

    def report(self, finding: Diagnostic) -> None:
        if finding.code == "VGL213" and any(d.code == "VGL213" for d in self.once.values()):
            return  # what is built on it is too large as well
        self.once.setdefault((finding.code, finding.source.path, finding.span, finding.message), finding)


def load_policy(path: str | Path, params: Mapping[str, object] | None = None) -> Policy:
    """A policy from a file, from standard input (`-`), or a standard module by its name (`std.secrets`).

    Raises:
        InputError: it cannot be read, does not parse, or does not resolve; VGL610 for a file of tests.
    """
    source = policy_source(str(path))
    if is_test_file(source.path):
        message = "a test file is not a policy to judge runs by"
        help_text = f"`vigil test {as_argument(source.path)}` runs its tests"
        raise InputError([Diagnostic.of("VGL610", message, Source(source.path, ""), help=help_text)])
    policy = read_policy(source, params)
    if policy.errors:
        raise InputError(policy.errors)
    return policy


def policy_source(path: str) -> Source:
    """The text of a policy argument: a path, `-`, or a standard module's name.

    Raises:
        InputError: it cannot be read.
    """
    return read_source(str(standard_path(path)) if is_standard(path) else path, MAX_BYTES)
