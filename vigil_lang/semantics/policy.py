"""A policy ready to be judged: its statements lowered to the core, with what people said about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.collector import collector_paused
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.files import read_source
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

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Policy:
    """The statements of one file that resolve, in order, and everything found on the way.

    `name` is the file's `policy` line, or the stem of its path; `params` the values it was given from outside.
    """

    path: str
    name: str
    statements: tuple[Statement, ...]
    module: Module = field(repr=False)
    diagnostics: tuple[Diagnostic, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep some statement from having a meaning."""
        return tuple(d for d in self.diagnostics if d.severity == "error")


def read_policy(
    source: Source,
    params: Mapping[str, object] | None = None,
    *,
    root: Path | None = None,
    access: Access = FROM_DISK,
) -> Policy:
    """Parse, resolve and lower a policy; whatever is wrong is in its `diagnostics`.

    `params` are values from outside for `param` declarations, by name; `root` the folder that `use .name` may
    not leave (the file's own by default), and `access` where modules come from.
    """
    found: dict[tuple[object, ...], Diagnostic] = {}

    def report(finding: Diagnostic) -> None:
        # A pattern is lowered once for every use; what is wrong inside it is said once.
        if finding.code == "VGL213" and any(d.code == "VGL213" for d in found.values()):
            return  # what is built on it is too large as well
        found.setdefault((finding.code, finding.source.path, finding.span, finding.message), finding)

    loader = Loader(report, access)
    stored = Path(source.path) if source.path != "<stdin>" else None
    if stored is not None:
        loader.enter(stored.resolve())
        root = (root or stored.parent).resolve()
    with collector_paused():
        module = loader.load(source, root)
        statements = Lowering(module, Values(params or {}), report).statements()
    name = module.file.name.text if module.file.name else Path(source.path).stem
    ordered = sorted(found.values(), key=lambda d: (d.source.path != source.path, d.source.path, d.span.start))
    return Policy(source.path, name, tuple(statements), module, tuple(ordered), params or {})


def load_policy(path: str | Path, params: Mapping[str, object] | None = None) -> Policy:
    """A policy from a file, from standard input (`-`), or a standard module by its name (`std.secrets`).

    Raises:
        InputError: it cannot be read, does not parse, or does not resolve; VGL610 for a file of tests.
    """
    source = policy_source(str(path))
    if is_test_file(source.path):
        message = "a file of tests is no policy to judge runs by"
        help_text = f"`vigil test {path}` runs its tests"
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
