"""A policy as it is now: its text, its tree and tokens, what its names refer to, and what its statements mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from vigil_lang.base.collector import collector_paused
from vigil_lang.semantics.memory import Memory
from vigil_lang.semantics.policy import load_module, lowered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Loaded, Policy
    from vigil_lang.syntax import tree
    from vigil_lang.syntax.scan import TokenList
    from vigil_lsp.files import Files
    from vigil_lsp.text import Text


_ELSEWHERE = frozenset({"VGL001", "VGL207", "VGL208"})
"""What another file can mend by being there."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One text of one policy, read. `tokens` hold comments, too."""

    uri: str
    text: Text
    loaded: Loaded
    tokens: TokenList = field(repr=False)
    params: Mapping[str, object] = field(default_factory=dict, repr=False)
    memory: Memory = field(default_factory=Memory, repr=False)
    """What the policy's last text meant."""

    @cached_property
    def policy(self) -> Policy:
        """What it means: worked out when somebody asks, since most that is asked while typing is about names."""
        return lowered(self.loaded, self.params, self.memory)

    @property
    def source(self) -> Source:
        """The text as findings name it."""
        return self.loaded.module.source

    @property
    def module(self) -> Module:
        """What its names refer to."""
        return self.loaded.module

    @property
    def file(self) -> tree.File:
        """The tree."""
        return self.loaded.module.file

    @property
    def has_missing_module(self) -> bool:
        """Whether a module that it uses is not to be found, or cannot be read."""
        return any(finding.code in _ELSEWHERE for finding in self.loaded.findings)

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
        self._known: dict[str, Reading] = {}

    def of(self, source: Source, params: Mapping[str, object]) -> Reading:
        """A policy, with values from outside for its params."""
        known = self._known.get(source.path)
        if known is not None and known.source is source and known.params == params and self._holds(known):
            return known
        with collector_paused():
            lexed = self._files.lexed(source)
            loaded = load_module(source, access=self._files.access_of(source))
        memory = Memory() if known is None else known.memory
        reading = Reading(self._files.uri(source.path), self._files.text(source), loaded, lexed.tokens, params, memory)
        self._known[source.path] = reading
        return reading

    def last(self, path: str) -> Reading | None:
        """A policy as it was when it was read last."""
        return self._known.get(path)

    def forget(self, path: str) -> None:
        """A policy is no longer needed."""
        self._known.pop(path, None)

    def _holds(self, reading: Reading) -> bool:
        """Whether the modules that a policy uses are what they were; where one was not found it may be there now."""
        return not reading.has_missing_module and all(
            self._is_current(module.source) for module in reading.modules()[1:]
        )

    def _is_current(self, source: Source) -> bool:
        from vigil_lang.diagnostics import InputError
        from vigil_lang.semantics.modules import is_shipped

        if is_shipped(source.path):
            return True
        try:
            return self._files.source(source.path) is source
        except InputError:
            return False
