"""The policies that a file of tests is about, with the values each test sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import InputError
from vigil_lang.semantics.modules import FROM_DISK, MAX_BYTES, TESTS
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import tree
from vigil_lang.testing.fixtures import leads_out
from vigil_lang.testing.rules_under_test import under_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.diagnostics import Diagnostic, Source
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Access, Module
    from vigil_lang.semantics.policy import Policy


@dataclass
class PoliciesUnderTest:
    """The policies under test in one file, read anew for other values of their params."""

    own: Policy
    """The test file itself."""
    access: Access = FROM_DISK
    """How policies are read that it does not use by name."""
    _read: dict[str, tuple[Policy, ...]] = field(default_factory=dict)

    def sources(self) -> list[Source]:
        """The files with the statements under test: itself, the modules it uses whole, or else its namesake."""
        module = self.own.module
        judges = any(isinstance(item, tree.Statement | tree.Rule) for item in module.file.items)
        found = [module.source] if judges else []
        found += [used.source for use, used in module.uses if not use.names and used.source not in found]
        namesake = Path(module.source.path.removesuffix(TESTS) + ".vgl")
        if (
            not found
            and module.source.path.endswith(TESTS)
            and self.access.is_file(namesake)
            and not leads_out(namesake)
        ):
            found.append(self.access.read(str(namesake), MAX_BYTES))
        return found

    def policies(self, values: Mapping[str, object]) -> tuple[Policy, ...]:
        """The policies, with the statements that resolve under some values."""
        key = repr(sorted(values.items()))
        if key not in self._read:
            self._read[key] = tuple(read_policy(source, values, access=self.access) for source in self.sources())
        return self._read[key]

    def errors(self) -> list[Diagnostic]:
        """What keeps the policies that are not the file itself from being tested."""
        try:
            policies = self.policies({})
        except InputError as error:
            return list(error.diagnostics)
        own = self.own.path
        return [e for p in policies if p.path != own for e in p.errors if e.code != "VGL210"]

    def params(self) -> dict[str, list[tree.Param]]:
        """The params that a test may set, those of used modules too; policies may share a name."""
        found: dict[str, list[tree.Param]] = {}
        for policy in (self.own, *self.policies({})):
            for module in _modules(policy.module):
                for name, declared in module.own.items():
                    if isinstance(declared, tree.Param):
                        found.setdefault(name, []).append(declared)
        return found


def statements(policies: tuple[Policy, ...]) -> Iterator[tuple[str, Policy, Statement]]:
    """Every statement and rule by the names a test may call it: its own, and that with its policy's before it."""
    for policy in policies:
        for statement in under_test(policy):
            yield statement.name, policy, statement
            yield f"{policy.name}.{statement.name}", policy, statement


def _modules(module: Module) -> Iterator[Module]:
    seen: list[Module] = []
    pending = [module]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.append(current)
            pending += [used for _, used in current.uses]
    yield from seen
