"""A policy as it is now: its text, its tree and tokens, what its names refer to, and what its statements mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.collector import collector_paused
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.syntax import tree
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.files import Files
    from vigil_lsp.text import Text


@dataclass(frozen=True, eq=False)
class Reading:
    """One text of one policy, read. `tokens` hold comments, too."""

    uri: str
    text: Text
    policy: Policy
    tokens: list[Token] = field(repr=False)

    @property
    def source(self) -> Source:
        """The text as findings name it."""
        return self.policy.module.source

    @property
    def module(self) -> Module:
        """What its names refer to."""
        return self.policy.module

    @property
    def file(self) -> tree.File:
        """The tree."""
        return self.policy.module.file

    def modules(self) -> list[Module]:
        """The policy's own module and those it reaches, each once."""
        found = [self.module]
        for module in found:
            found += [used for _, used in module.uses if all(used is not other for other in found)]
        return found


class Readings:
    """Policies by path, read again when their text, or that of a module they use, is another one."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[str, tuple[Reading, Mapping[str, object]]] = {}

    def of(self, source: Source, params: Mapping[str, object]) -> Reading:
        """A policy, with values from outside for its params."""
        known = self._known.get(source.path)
        if known is not None and known[0].source is source and known[1] == params and self._holds(known[0]):
            return known[0]
        with collector_paused():
            lexed = self._files.lexed(source)
            policy = read_policy(source, params, access=self._files.access)
        reading = Reading(self._files.uri(source.path), self._files.text(source), policy, lexed.tokens)
        self._known[source.path] = (reading, params)
        return reading

    def last(self, path: str) -> Reading | None:
        """A policy as it was when it was read last."""
        known = self._known.get(path)
        return known[0] if known is not None else None

    def forget(self, path: str) -> None:
        """A policy is no longer needed."""
        self._known.pop(path, None)

    def _holds(self, reading: Reading) -> bool:
        """Whether the modules that a policy uses are what they were; where one was not found it may be there now."""
        if any(found.code in ("VGL001", "VGL207", "VGL208") for found in reading.policy.diagnostics):
            return False
        return all(self._is_current(module.source) for module in reading.modules()[1:])

    def _is_current(self, source: Source) -> bool:
        from vigil_lang.diagnostics import InputError
        from vigil_lang.semantics.modules import is_shipped

        if is_shipped(source.path):
            return True
        try:
            return self._files.source(source.path) is source
        except InputError:
            return False
